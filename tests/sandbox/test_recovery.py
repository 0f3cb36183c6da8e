"""Recovery of the state of a killed engine, with the account."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.processes import until
from tests.support.recorded_engine import AT_ONCE, RecordedEngine, creating
from tests.support.sandbox_aws import Account
from trainyard.components.tagging import RESOURCE_TAG
from trainyard.workspace.recovery.account import FoundObject, ObjectProgress
from trainyard.workspace.recovery.errors import CreatesPendingError
from trainyard.workspace.recovery.leftovers import MARK
from trainyard.workspace.recovery.lookups import By, Lookup
from trainyard.workspace.recovery.recover import recover
from trainyard.workspace.recovery.table import lookup_of
from trainyard.workspace.recovery.timeouts import Timeouts

PREFIX = "urn:pulumi:p5::trainyard::"
VPC, ROLE = f"{PREFIX}aws:ec2/vpc:Vpc::p5-vpc", f"{PREFIX}aws:iam/role:Role::p5-role"
TAG = {RESOURCE_TAG: "p5::trainyard::aws:ec2/vpc:Vpc::p5-vpc"}
NEVER = Timeouts(settle=0, poll=0, limit=-1)

Recover = Callable[..., list[str]]


@pytest.fixture
def engine(account: Account, tmp_path: Path) -> RecordedEngine:
    return RecordedEngine(tmp_path, account.server.access)


@pytest.fixture
def recovered(engine: RecordedEngine) -> Recover:
    """Recover from a state with these pending operations; return the report.

    `way` is how every object is found.
    """

    def run(
        *operations: dict[str, Any],
        timeouts: Timeouts = AT_ONCE,
        way: Lookup | None = None,
        resources: tuple[dict[str, Any], ...] = (),
        written: datetime | None = None,
    ) -> list[str]:
        engine.write(*resources, pending=operations, written=written)
        told: list[str] = []
        recover(
            engine.command,
            stack="p5",
            region="us-west-2",
            timeouts=timeouts,
            report=told.append,
            lookup_of=lookup_of if way is None else lambda *_, **__: way,
        )
        return told

    return run


def vpc(account: Account) -> str:
    """Create a VPC with the tag; return its id."""
    tags = [{"Key": key, "Value": value} for key, value in TAG.items()]
    made = account.ec2.create_vpc(
        CidrBlock="10.9.0.0/16", TagSpecifications=[{"ResourceType": "vpc", "Tags": tags}]
    )
    return made["Vpc"]["VpcId"]


def seen_as(*answers: list[FoundObject], fixed_name: bool = False) -> Lookup:
    """Return a search with these results, in order."""
    left = list(answers)
    return Lookup(By.TAG, "", lambda *_: left.pop(0) if len(left) > 1 else left[0], fixed_name)


def test_a_stack_with_nothing_pending_is_not_written(
    recovered: Recover, engine: RecordedEngine
) -> None:
    assert recovered() == []
    assert not engine.imports.exists()


def test_what_was_made_is_in_the_state(
    recovered: Recover, engine: RecordedEngine, account: Account
) -> None:
    identifier = vpc(account)
    (said,) = recovered(creating(VPC, tags=TAG))
    assert said == (
        f"added aws:ec2/vpc:Vpc p5-vpc ({identifier}) to the state, which an earlier command "
        "created before it was killed"
    )
    (made,) = engine.resources()
    assert (made["id"], made["refreshBeforeUpdate"]) == (identifier, True)


def test_a_plugin_that_the_killed_engine_left_is_ended_first(engine: RecordedEngine) -> None:
    command = engine.command.with_variables({MARK: "p5"})
    engine.write(pending=(creating(f"{PREFIX}aws:autoscaling/schedule:Schedule::end"),))
    told: list[str] = []
    plugin = subprocess.Popen(
        ["pulumi-resource-aws", "600"], executable="/bin/sleep", env=dict(command.environment)
    )
    try:
        shown = Path(f"/proc/{plugin.pid}/environ")
        until(lambda: bool(shown.read_bytes()), "the environment of the process")
        recover(command, stack="p5", region="us-west-2", timeouts=AT_ONCE, report=told.append)
        assert plugin.poll() == -signal.SIGKILL
    finally:
        plugin.kill()
        plugin.wait()
    assert told[0] == f"terminated process {plugin.pid}, which a killed command left running"


def test_what_was_not_made_is_forgotten(recovered: Recover, engine: RecordedEngine) -> None:
    (said,) = recovered(creating(VPC, tags=TAG))
    assert said.startswith("aws:ec2/vpc:Vpc p5-vpc was not created")
    assert engine.resources() == []


def test_two_that_match_are_both_named_and_nothing_is_changed(
    recovered: Recover, engine: RecordedEngine, account: Account
) -> None:
    first, second = vpc(account), vpc(account)
    with pytest.raises(CreatesPendingError) as raised:
        recovered(creating(VPC, tags=TAG))
    assert first in str(raised.value)
    assert second in str(raised.value)
    assert not engine.imports.exists()


def test_what_is_somebody_else_s_is_left_alone(
    recovered: Recover, engine: RecordedEngine, account: Account
) -> None:
    account.role("p5-role")
    (said,) = recovered(creating(ROLE, name="p5-role", tags={"trainyard:cluster": "p5"}))
    assert "does not belong to this stack, because it has no tag trainyard:cluster" in said
    assert engine.resources() == []


def test_a_create_from_before_the_tag_is_refused(recovered: Recover) -> None:
    with pytest.raises(CreatesPendingError, match="did not tag its objects"):
        recovered(creating(VPC, tags={"trainyard:cluster": "p5"}))


def test_a_type_that_is_not_looked_for_is_refused_with_the_way_out(
    recovered: Recover, engine: RecordedEngine
) -> None:
    with pytest.raises(CreatesPendingError) as raised:
        recovered(creating(f"{PREFIX}aws:s3/bucket:Bucket::b"))
    assert "pulumi refresh --stack p5 --clear-pending-creates" in str(raised.value)
    assert not engine.imports.exists()


def test_what_may_be_repeated_is_not_looked_for(recovered: Recover, engine: RecordedEngine) -> None:
    (said,) = recovered(creating(f"{PREFIX}aws:autoscaling/schedule:Schedule::end"))
    assert "is created again: `PutScheduledUpdateGroupAction`" in said
    assert engine.resources() == []


def test_what_aws_is_making_is_waited_for(recovered: Recover, engine: RecordedEngine) -> None:
    making = FoundObject("vpc-1", ObjectProgress.MAKING, "CREATING")
    way = seen_as([making], [making], [FoundObject("vpc-1")])
    waiting, _ = recovered(creating(VPC, tags=TAG), way=way)
    assert waiting == "waiting for aws:ec2/vpc:Vpc p5-vpc, which AWS is creating (CREATING)"
    assert engine.resources()[0]["id"] == "vpc-1"


def test_an_object_that_aws_does_not_show_yet_is_looked_for(
    recovered: Recover, engine: RecordedEngine
) -> None:
    """EC2 is eventually consistent: src/trainyard/workspace/recovery/timeouts.py."""
    way = seen_as([], [], [FoundObject("vpc-1")])
    told = recovered(
        creating(VPC, tags=TAG),
        timeouts=Timeouts(settle=300, poll=0, limit=60),
        way=way,
        written=datetime.now(UTC),
    )
    assert len(told) == 2
    assert told[0].startswith("looking for aws:ec2/vpc:Vpc p5-vpc for up to 300 s")
    assert engine.resources()[0]["id"] == "vpc-1"


def half(*, identifier: str = "vpc-1") -> dict[str, Any]:
    """Return a resource whose create got an id and then an error."""
    return {**creating(VPC, tags=TAG)["resource"], "id": identifier, "initErrors": ["timeout"]}


@pytest.mark.parametrize(
    ("found", "fixed_name", "said", "taint"),
    [
        (FoundObject("vpc-1"), False, "was not completed: it is read again", None),
        (FoundObject("vpc-1", ObjectProgress.FAILED, "FAILED"), False, "it is created again", True),
        (FoundObject("vpc-1", ObjectProgress.FAILED, "FAILED"), True, "blocks its name", None),
    ],
)
def test_an_incomplete_object_is_read_again_or_created_again(
    recovered: Recover,
    engine: RecordedEngine,
    found: FoundObject,
    fixed_name: bool,
    said: str,
    taint: bool | None,
) -> None:
    (told,) = recovered(resources=(half(),), way=seen_as([found], fixed_name=fixed_name))
    assert said in told
    (kept,) = engine.resources()
    assert (kept["refreshBeforeUpdate"], kept.get("taint")) == (True, taint)


def test_the_object_that_is_to_be_replaced_is_not_its_replacement(
    recovered: Recover, engine: RecordedEngine
) -> None:
    old = {**creating(VPC, tags=TAG)["resource"], "id": "vpc-old"}
    (told,) = recovered(
        creating(VPC, tags=TAG), resources=(old,), way=seen_as([FoundObject("vpc-old")])
    )
    assert "was not created" in told
    assert [each["id"] for each in engine.resources()] == ["vpc-old"]


def test_a_create_without_the_input_that_finds_it_is_refused(
    recovered: Recover, engine: RecordedEngine
) -> None:
    with pytest.raises(CreatesPendingError, match="its inputs have no name"):
        recovered(creating(ROLE))
    assert not engine.imports.exists()


def test_a_tag_of_another_stack_does_not_make_an_object_its_own(
    recovered: Recover, engine: RecordedEngine, account: Account
) -> None:
    account.role("p5-role")
    tags = [{"Key": "trainyard:cluster", "Value": "p5-cb"}]
    account.iam.tag_role(RoleName="p5-role", Tags=tags)
    (said,) = recovered(creating(ROLE, name="p5-role", tags={"trainyard:cluster": "p5"}))
    assert "does not belong to this stack" in said
    assert engine.resources() == []


def test_what_takes_too_long_ends_the_command(recovered: Recover, engine: RecordedEngine) -> None:
    way = seen_as([FoundObject("vpc-1", ObjectProgress.MAKING, "CREATING")])
    with pytest.raises(CreatesPendingError, match=r"still creating .* nothing was changed"):
        recovered(creating(VPC, tags=TAG), timeouts=NEVER, way=way)
    assert not engine.imports.exists()


@pytest.mark.parametrize(("fixed_name", "taint"), [(False, True), (True, None)])
def test_what_failed_is_replaced_unless_its_name_is_taken(
    recovered: Recover, engine: RecordedEngine, fixed_name: bool, taint: bool | None
) -> None:
    failed = FoundObject("vpc-1", ObjectProgress.FAILED, "CREATE_FAILED")
    way = seen_as([failed], fixed_name=fixed_name)
    (said,) = recovered(creating(VPC, tags=TAG), way=way)
    assert "it failed (CREATE_FAILED)" in said
    assert engine.resources()[0].get("taint") is taint


def test_an_account_that_may_not_be_read_ends_the_command(
    recovered: Recover, engine: RecordedEngine
) -> None:
    def denied(*_: Any) -> list[FoundObject]:
        raise ClientError({"Error": {"Code": "UnauthorizedOperation"}}, "DescribeVpcs")

    with pytest.raises(CreatesPendingError, match="UnauthorizedOperation"):
        recovered(creating(VPC, tags=TAG), way=Lookup(By.NAME, "", denied))
    assert not engine.imports.exists()


def test_what_was_being_changed_is_waited_for_and_read_anew(
    recovered: Recover, engine: RecordedEngine
) -> None:
    looked: list[str] = []

    def ready(_: Any, update: Any) -> list[FoundObject]:
        looked.append(update.urn)
        return [FoundObject("p5-role")]

    (said,) = recovered({**creating(ROLE), "type": "updating"}, way=Lookup(By.NAME, "", ready))
    assert said == "p5-role was being updated when an earlier command was killed: it is read again"
    assert looked == [ROLE]
