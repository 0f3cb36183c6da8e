"""Advice on names that are in use and limits that are reached."""

from __future__ import annotations

import pytest

from tests.support.faults.places import PLACES, LostAnswer
from trainyard.diagnosis.known_errors import LIMIT, TAKEN, limit, taken
from trainyard.engine.engine_events import EngineError

URN = "urn:pulumi:dev::trainyard::trainyard:eks:Cluster$aws:iam/role:Role::node"


def test_an_object_that_exists_is_told_from_somebody_elses_by_its_tag() -> None:
    lines = taken(EngineError(URN, "EntityAlreadyExists: Role"), region="us-west-2")
    assert lines[0].startswith("node: such an object already exists, but is not in the state")
    assert "trainyard:resource=" in lines[1]
    assert "dev" in lines[1]
    assert "aws resourcegroupstaggingapi get-resources --region us-west-2" in lines[2]
    assert "delete it (nothing uses it yet) and continue" in lines[3]


@pytest.mark.parametrize(
    "code", sorted({each.code for each in PLACES if each.lost_answer is LostAnswer.REFUSED})
)
def test_every_code_of_a_lost_answer_is_known(code: str) -> None:
    messages = {
        "ClientException": "ClientException: Object already exists: q",
        "BadRequestException": "BadRequestException: Cannot create group: group already exists",
    }
    assert TAKEN.search(messages.get(code, f"{code}: it is there"))


@pytest.mark.parametrize(
    "message",
    [
        "NatGatewayLimitExceeded: more",
        "LimitExceeded: Cannot exceed quota for RolesPerAccount: 1000",
        "ResourceLimitExceededException: more",
        "ServiceLimitExceeded: more",
    ],
)
def test_a_used_up_quota_is_known(message: str) -> None:
    assert LIMIT.search(message)
    assert "quota of the account is reached" in limit(EngineError(URN, message))[0]


def test_throttling_is_no_quota() -> None:
    assert not LIMIT.search("RequestLimitExceeded: Request limit exceeded.")
