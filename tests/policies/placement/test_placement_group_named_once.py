"""A placement group by name and by id, or by name although it is disabled (B1, B2)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs_eks import plain, queue
from trainyard.policies.resources.types import INSTANCE
from trainyard.policies.rules.placement.placement_group_named_once import POLICY


def grouped(**group):
    return queue(networking={"PlacementGroup": group})


VIOLATING = (
    (plain(placement={"groupName": "mine", "groupId": "pg-0123456789abcdef0"}),),
    (grouped(Name="mine", Id="pg-0123456789abcdef0"),),
    (grouped(Enabled=False, Name="mine"),),
)
CLEAN = (
    (plain(placement={"groupName": "mine"}),),
    (grouped(Enabled=True, Name="mine"),),
    (grouped(Enabled=False),),
)


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        (
            VIOLATING[0],
            "names a placement group by name and by id, which EC2 rejects; remove one of them",
        ),
        (VIOLATING[1], "PlacementGroup has a Name and an Id, which is invalid; remove one"),
        (VIOLATING[2], "PlacementGroup has a Name and is not enabled; remove Name, or Enabled"),
    ],
    ids=["template", "slurm", "slurm-disabled"],
)
def test_fails(program, fault):
    (message,) = check(POLICY, *program).messages
    assert fault in message


def test_fails_for_an_instance_and_for_what_is_not_known_yet():
    props = {"placementGroup": UNKNOWN, "placementGroupId": "pg-0123456789abcdef0"}
    assert check(POLICY, Declared(INSTANCE, "node", props)).messages


@pytest.mark.parametrize(
    "program", [*CLEAN, (grouped(Name="mine"),), (plain(placement={"tenancy": "default"}),)]
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])
