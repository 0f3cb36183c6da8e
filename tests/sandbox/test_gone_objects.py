"""Deleted objects that their provider cannot read: the recovery removes them from the state."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.recorded_engine import AT_ONCE, RecordedEngine, creating
from tests.support.sandbox_aws import ACCOUNT, Account
from trainyard.workspace.recovery.account import FoundObject, ObjectProgress
from trainyard.workspace.recovery.gone import forget_gone
from trainyard.workspace.recovery.lookups import By, Lookup
from trainyard.workspace.recovery.recover import recover
from trainyard.workspace.recovery.table import LookupOf, lookup_of
from trainyard.workspace.recovery.timeouts import Timeouts

PREFIX = "urn:pulumi:p5::trainyard::"
ROLE = f"{PREFIX}aws:iam/role:Role::p5-role"
RULE = f"{PREFIX}aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule::p5-ingress"
QUEUE = f"{PREFIX}aws:batch/jobQueue:JobQueue::p5-queue"
QUEUE_ARN = f"arn:aws:batch:us-west-2:{ACCOUNT}:job-queue/p5-queue"
RULE_ARN = "arn:aws:ec2:{}:{}:security-group-rule/{}"
GONE = "sgr-0123456789abcdef0"


def denied(*_: Any) -> list[FoundObject]:
    raise ClientError({"Error": {"Code": "UnauthorizedOperation"}}, "DescribeSecurityGroupRules")


@pytest.fixture
def engine(account: Account, tmp_path: Path) -> RecordedEngine:
    return RecordedEngine(tmp_path, account.server.access)


@pytest.fixture
def told_by(engine: RecordedEngine) -> Callable[..., list[str]]:
    """Run `recover` or `forget_gone` on a state with some resources; return the report."""

    def run(
        command: Callable[..., object],
        *resources: dict[str, Any],
        pending: tuple[dict[str, Any], ...] = (),
        lookup_of: LookupOf = lookup_of,
        timeouts: Timeouts = AT_ONCE,
        written: datetime | None = None,
    ) -> list[str]:
        engine.write(*resources, pending=pending, written=written)
        told: list[str] = []
        command(
            engine.command,
            stack="p5",
            region="us-west-2",
            timeouts=timeouts,
            report=told.append,
            lookup_of=lookup_of,
        )
        return told

    return run


@pytest.fixture
def recovered(told_by: Callable[..., list[str]]) -> Callable[..., list[str]]:
    """Recover from a pending deletion; return the report."""

    def run(urn: str, identifier: str, **options: Any) -> list[str]:
        resource = {**creating(urn)["resource"], "id": identifier}
        pending = ({"type": "deleting", "resource": resource},)
        return told_by(recover, resource, pending=pending, **options)

    return run


def rule_of(account: Account) -> str:
    """Create a rule of a security group; return its id."""
    group = account.group()
    permission = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}
    made = account.ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[permission])
    return made["SecurityGroupRules"][0]["SecurityGroupRuleId"]


@pytest.mark.parametrize(("urn", "identifier"), [(RULE, GONE), (QUEUE, QUEUE_ARN)])
def test_what_was_deleted_and_cannot_be_read_leaves_the_state(
    recovered: Callable[..., list[str]], engine: RecordedEngine, urn: str, identifier: str
) -> None:
    (said,) = recovered(urn, identifier)
    assert said.endswith("is deleted: an earlier command deleted it before it was killed")
    assert engine.resources() == []


def test_what_was_being_deleted_and_exists_is_read_anew(
    recovered: Callable[..., list[str]], engine: RecordedEngine, account: Account
) -> None:
    (said,) = recovered(RULE, rule_of(account))
    assert "it is read again" in said
    (kept,) = engine.resources()
    assert kept["refreshBeforeUpdate"] is True


def test_what_aws_is_deleting_is_waited_for(
    recovered: Callable[..., list[str]], engine: RecordedEngine
) -> None:
    answers = [[FoundObject(QUEUE_ARN, ObjectProgress.MAKING, "DELETING")], []]
    way = Lookup(By.NAME, "").looked_up_by(lambda *_: answers.pop(0))
    recovered(QUEUE, QUEUE_ARN, lookup_of=lambda *_, **__: way)
    assert (answers, engine.resources()) == ([], [])


def test_a_deletion_that_cannot_be_looked_up_is_left_to_the_engine(
    recovered: Callable[..., list[str]], engine: RecordedEngine
) -> None:
    way = Lookup(By.NAME, "").looked_up_by(denied)
    (said,) = recovered(RULE, GONE, lookup_of=lambda *_, **__: way)
    assert "it is read again" in said
    assert [each["id"] for each in engine.resources()] == [GONE]


def rule(
    identifier: str, account: str = ACCOUNT, region: str = "us-west-2", **more: Any
) -> dict[str, Any]:
    """Return a rule of a security group in a state."""
    outputs = {"arn": RULE_ARN.format(region, account, identifier)}
    return {**creating(RULE)["resource"], "id": identifier, "outputs": outputs, **more}


def test_a_rule_that_was_deleted_outside_pulumi_is_forgotten_before_a_refresh(
    told_by: Callable[..., list[str]], engine: RecordedEngine, account: Account
) -> None:
    made = rule_of(account)
    (said,) = told_by(forget_gone, rule(made), rule(GONE))
    assert f"p5-ingress ({GONE}) was deleted outside Pulumi" in said
    assert [each["id"] for each in engine.resources()] == [made]


@pytest.mark.parametrize(
    "resource",
    [
        pytest.param(rule(GONE, account="999988887777"), id="another account"),
        pytest.param(rule(GONE, region="us-east-1"), id="another region"),
        pytest.param(rule(GONE, pendingReplacement=True), id="deleted before its replacement"),
        pytest.param({**creating(ROLE)["resource"], "id": "p5-role"}, id="its provider reads it"),
    ],
)
def test_nothing_else_is_forgotten(
    told_by: Callable[..., list[str]], engine: RecordedEngine, resource: dict[str, Any]
) -> None:
    assert told_by(forget_gone, resource) == []
    assert not engine.imports.exists()


def test_a_rule_that_aws_does_not_show_yet_is_kept(
    told_by: Callable[..., list[str]], engine: RecordedEngine
) -> None:
    answers = [[], [], [FoundObject(GONE)]]
    way = Lookup(By.NAME, "").looked_up_by(lambda *_: answers.pop(0))
    limits = Timeouts(settle=300, poll=0, limit=60)
    now = datetime.now(UTC)
    options = {"lookup_of": lambda *_, **__: way, "timeouts": limits, "written": now}
    assert not told_by(forget_gone, rule(GONE), **options)
    assert not engine.imports.exists()


def test_an_account_that_may_not_be_asked_is_said_and_nothing_is_forgotten(
    told_by: Callable[..., list[str]], engine: RecordedEngine
) -> None:
    way = Lookup(By.NAME, "").looked_up_by(denied)
    (said,) = told_by(forget_gone, rule(GONE), lookup_of=lambda *_, **__: way)
    assert "UnauthorizedOperation" in said
    assert not engine.imports.exists()
