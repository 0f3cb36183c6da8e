"""Deleted objects that their provider cannot read: the recovery removes them from the state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.recorded_engine import AT_ONCE, RecordedEngine, creating
from tests.support.sandbox_aws import ACCOUNT, Account
from tools.workspace.recovery import gone as unreadable
from tools.workspace.recovery.account import Found, Progress
from tools.workspace.recovery.gone import forget_gone
from tools.workspace.recovery.recover import recover
from tools.workspace.recovery.ways import By, Way

PREFIX = "urn:pulumi:p5::trainyard::"
ROLE = f"{PREFIX}aws:iam/role:Role::p5-role"
RULE = f"{PREFIX}aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule::p5-ingress"
QUEUE = f"{PREFIX}aws:batch/jobQueue:JobQueue::p5-queue"
QUEUE_ARN = f"arn:aws:batch:us-west-2:{ACCOUNT}:job-queue/p5-queue"
RULE_ARN = "arn:aws:ec2:{}:{}:security-group-rule/{}"
GONE = "sgr-0123456789abcdef0"


@pytest.fixture
def engine(account: Account, tmp_path: Path) -> RecordedEngine:
    return RecordedEngine(tmp_path, account.server.endpoint)


@pytest.fixture
def recovered(engine: RecordedEngine) -> Callable[[str, str], list[str]]:
    """Recover from a pending deletion; return the report."""

    def run(urn: str, identifier: str) -> list[str]:
        resource = {**creating(urn)["resource"], "id": identifier}
        engine.write(resource, pending=({"type": "deleting", "resource": resource},))
        told: list[str] = []
        recover(
            engine.command, stack="p5", region="us-west-2", timeouts=AT_ONCE, report=told.append
        )
        return told

    return run


def rule_of(account: Account) -> str:
    """Create a rule of a security group; return its id."""
    group = account.group()
    permission = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}
    made = account.ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[permission])
    return made["SecurityGroupRules"][0]["SecurityGroupRuleId"]


@pytest.mark.parametrize(("urn", "identifier"), [(RULE, GONE), (QUEUE, QUEUE_ARN)])
def test_what_was_deleted_and_cannot_be_read_leaves_the_state(
    recovered: Callable[[str, str], list[str]], engine: RecordedEngine, urn: str, identifier: str
) -> None:
    (said,) = recovered(urn, identifier)
    assert said.endswith("is deleted: an earlier command deleted it before it was killed")
    assert engine.resources() == []


def test_what_was_being_deleted_and_exists_is_read_anew(
    recovered: Callable[[str, str], list[str]], engine: RecordedEngine, account: Account
) -> None:
    (said,) = recovered(RULE, rule_of(account))
    assert "it is read again" in said
    (kept,) = engine.resources()
    assert kept["refreshBeforeUpdate"] is True


def test_what_aws_is_deleting_is_waited_for(
    recovered: Callable[[str, str], list[str]],
    engine: RecordedEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = [[Found(QUEUE_ARN, Progress.MAKING, "DELETING")], []]
    way = Way(By.NAME, "").looked_up_by(lambda *_: answers.pop(0))
    monkeypatch.setattr(unreadable, "way_of", lambda *_, **__: way)
    recovered(QUEUE, QUEUE_ARN)
    assert (answers, engine.resources()) == ([], [])


@pytest.fixture
def forgotten(engine: RecordedEngine) -> Callable[..., list[str]]:
    """Remove deleted rules from a state; return the report."""

    def run(*resources: dict[str, Any]) -> list[str]:
        engine.write(*resources)
        told: list[str] = []
        forget_gone(
            engine.command, stack="p5", region="us-west-2", timeouts=AT_ONCE, report=told.append
        )
        return told

    return run


def rule(
    identifier: str, account: str = ACCOUNT, region: str = "us-west-2", **more: Any
) -> dict[str, Any]:
    """Return a rule of a security group in a state."""
    outputs = {"arn": RULE_ARN.format(region, account, identifier)}
    return {**creating(RULE)["resource"], "id": identifier, "outputs": outputs, **more}


def test_a_rule_that_was_deleted_outside_pulumi_is_forgotten_before_a_refresh(
    forgotten: Callable[..., list[str]], engine: RecordedEngine, account: Account
) -> None:
    made = rule_of(account)
    (said,) = forgotten(rule(made), rule(GONE))
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
    forgotten: Callable[..., list[str]], engine: RecordedEngine, resource: dict[str, Any]
) -> None:
    assert forgotten(resource) == []
    assert not engine.imports.exists()


def test_an_account_that_may_not_be_asked_is_said_and_nothing_is_forgotten(
    forgotten: Callable[..., list[str]], engine: RecordedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: Any) -> list[Found]:
        raise ClientError(
            {"Error": {"Code": "UnauthorizedOperation"}}, "DescribeSecurityGroupRules"
        )

    way = Way(By.NAME, "").looked_up_by(denied)
    monkeypatch.setattr(unreadable, "way_of", lambda *_, **__: way)
    (said,) = forgotten(rule(GONE))
    assert "UnauthorizedOperation" in said
    assert not engine.imports.exists()
