"""A compute environment that stays closed in its Capacity Block."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.support.batch import P4D, P5, efa_environment, p5_plan
from tests.support.batch_account import Batch
from tests.support.pools import BLOCK
from tests.support.sandbox_aws import default_account
from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.reader import AccountReader, read_side_by_side
from trainyard.components.batch.account import BatchAccount, closed_environment_warnings
from trainyard.components.batch.compute_environment_plan import ComputeEnvironmentPlan
from trainyard.components.capacity.plan import SchedulePlan
from trainyard.components.config.batch import BatchStackConfig
from trainyard.components.config.load import load_stack_config

ACTIVE = SchedulePlan(state="active", minimum=0, desired=0, maximum=2)
SUFFIX = "20261121103000000000000001"


def in_block(name: str, schedule: SchedulePlan = ACTIVE) -> ComputeEnvironmentPlan:
    return efa_environment(name, "p5.48xlarge", capacity=BLOCK, schedule=schedule)


def warnings(*disabled: str, schedule: SchedulePlan = ACTIVE, stack: str = "batch-p5") -> list[str]:
    environments = (in_block("p5", schedule), in_block("p5-next", schedule))
    plan = p5_plan(name=stack, compute_environments=environments)
    facts = AccountFacts(account_id="", vpc=None, disabled_environments=disabled)
    return list(closed_environment_warnings(plan, facts))


@pytest.mark.parametrize("name", ["batch-p5-p5", "batch-p5-p5-next"])
def test_one_that_is_disabled_in_its_block_is_told_with_the_command_that_enables_it(
    name: str,
) -> None:
    (warning,) = warnings(f"{name}-{SUFFIX}")
    assert f"architecture.compute_environments.{name.removeprefix('batch-p5-')}," in warning
    assert warning.endswith(
        f"aws batch update-compute-environment --region us-west-2 --compute-environment "
        f"{name}-{SUFFIX} --state ENABLED"
    )


@pytest.mark.parametrize("state", ["scheduled", "ending", "expired", "unlimited"])
def test_outside_of_an_active_block_nothing_is_told(state: Any) -> None:
    assert warnings(f"batch-p5-p5-{SUFFIX}", schedule=replace(ACTIVE, state=state)) == []


def test_those_of_other_entries_are_not_taken_for_it() -> None:
    assert warnings(f"batch-p5-p5-other-{SUFFIX}", f"batch-p5-{SUFFIX}") == []


@pytest.fixture(scope="module")
def batch() -> Iterator[Batch]:
    with default_account() as account:
        yield Batch(account)


def read(raw: dict[str, Any]) -> dict[str, Any]:
    config = load_stack_config(raw, stack_file="Pulumi.batch-p5.yaml")
    assert isinstance(config, BatchStackConfig)
    reader = AccountReader(region="us-west-2")
    return read_side_by_side(BatchAccount().readings(reader, config))


def test_the_disabled_ones_of_the_stack_are_looked_up_and_the_command_enables_them(
    batch: Batch,
) -> None:
    name = f"{P5['name']}-p5-{SUFFIX}"
    arns = [batch.environment(each) for each in (name, "enabled", "of-another-stack")]
    for arn, stack in zip(arns, (P5["name"], P5["name"], "other"), strict=True):
        batch.client.tag_resource(resourceArn=arn, tags={"trainyard:cluster": stack})
    for arn in (arns[0], arns[2]):
        batch.client.update_compute_environment(computeEnvironment=arn, state="DISABLED")
    assert read(P5)["disabled_environments"] == (name,)

    (warning,) = warnings(name, stack=P5["name"])
    words = shlex.split(warning[warning.index("aws batch update-compute-environment") :])[3:]
    given = dict(zip(words[::2], words[1::2], strict=True))
    assert given.pop("--region") == batch.client.meta.region_name
    batch.client.update_compute_environment(
        computeEnvironment=given.pop("--compute-environment"), state=given.pop("--state")
    )
    assert given == {}
    assert read(P5)["disabled_environments"] == ()


def test_a_stack_without_a_block_does_not_ask_for_them(batch: Batch) -> None:
    assert "disabled_environments" not in read(P4D)
