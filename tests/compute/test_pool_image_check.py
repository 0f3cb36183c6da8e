"""A region without the AMI of a node pool is found before anything is created."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.support.account_fixtures import account, reader, server
from tests.support.sandbox_aws import ACCOUNT, Account  # before boto3 makes a client

from trainyard.components.account.reader import AccountReader  # isort: skip
from trainyard.components.account.reader import read_side_by_side  # isort: skip
from trainyard.components.architectures.lookup import account_facts, account_readings  # isort: skip
from trainyard.components.architectures.prepare import Examined, examine  # isort: skip
from trainyard.components.compute.lookup import GET_PARAMETER  # isort: skip
from trainyard.components.architectures.preflight import run_preflight  # isort: skip
from moto.ec2 import ec2_backends  # isort: skip
from moto.ssm.models import ssm_backends  # isort: skip
from tests.support.eks import cluster_facts  # isort: skip
from trainyard.stack_files.stack_config import config_of  # isort: skip
from trainyard.stack_files.completion import completed, sandbox_completion
from trainyard.stack_files.stack_files import StackFile, find_stack_file

__all__ = ["account", "reader", "server"]

REGION = "us-west-2"
ASKED = "the region has the AMI of the nodes"
pytestmark = pytest.mark.usefixtures("account")


def stack(name: str) -> StackFile:
    found = find_stack_file(name)
    return completed(found, sandbox_completion(found))


def examined(file: StackFile, reader: AccountReader, **changes: object) -> Examined:
    config = config_of(file)
    read = read_side_by_side(account_readings(reader, config))
    facts = replace(account_facts(read, reader, config), **changes)  # pyright: ignore[reportArgumentType]
    now = datetime.now(UTC)
    return examine(config, facts, stack_file=file.name, region=REGION, now=now)


@pytest.fixture
def no_images(monkeypatch: pytest.MonkeyPatch, account: Account) -> None:
    """The region has neither AMIs of Amazon nor parameters that lead to them."""
    del account
    monkeypatch.setattr(ssm_backends[ACCOUNT][REGION], "get_parameter", lambda _name: None)
    images = ec2_backends[ACCOUNT][REGION].amis
    ours = {name: image for name, image in images.items() if image.owner_id == ACCOUNT}
    monkeypatch.setattr(ec2_backends[ACCOUNT][REGION], "amis", ours)


@pytest.mark.usefixtures("no_images")
@pytest.mark.parametrize(
    ("name", "key", "found", "fix"),
    [
        (
            "p5-cb",
            "architecture.node_groups.p5",
            "/aws/service/eks/optimized-ami/",
            "architecture.kubernetes_version",
        ),
        (
            "batch-p4d",
            "architecture.compute_environments.p4d",
            "/aws/service/ecs/optimized-ami/",
            "`custom_ami_id`",
        ),
        ("pc-trn1", "architecture.queues.compute1", "aws-parallelcluster-", "`custom_ami_id`"),
    ],
)
def test_a_missing_ami_is_refused_with_where_it_was_looked_up(reader, name, key, found, fix):
    problems = examined(stack(name), reader).problems
    (problem,) = [each for each in problems if each.path.startswith(f"trainyard:cluster.{key}")]
    assert str(problem.found).startswith(found)
    assert REGION in problem.problem
    assert fix in problem.remedy


@pytest.mark.usefixtures("no_images")
def test_check_live_refuses_it_too_and_launches_nothing():
    file = stack("p5-cb")
    now = datetime.now(UTC)
    found = run_preflight(config_of(file), stack_file=file.name, region=REGION, now=now)
    refused = {row.subject for row in found.rows if row.verdict == "refused"}
    assert refused == {"architecture.system_node_group", "architecture.node_groups.p5"}


@pytest.mark.usefixtures("no_images")
def test_a_cluster_that_runs_stays_operable(reader):
    found = examined(stack("p5-cb"), reader, cluster=cluster_facts())
    assert not [each for each in found.problems if "optimized-ami" in str(each.found)]
    assert any("optimized-ami" in warning for warning in found.warnings)


@pytest.mark.usefixtures("no_images")
def test_what_the_caller_may_not_read_is_not_judged(reader):
    denied = (f"{GET_PARAMETER}: AccessDeniedException",)
    assert examined(stack("p5-cb"), reader, unreadable=denied).problems == ()


def test_every_kind_of_node_has_its_ami_in_the_account(reader):
    for name in ("p5-cb", "batch-p4d", "pc-trn1"):
        checks = examined(stack(name), reader).checks
        subjects = [each for check in checks for each in check.subjects if each.asked == ASKED]
        assert subjects
        assert all(each.found.startswith("ami-") for each in subjects)
