"""A stack that adopts a VPC: `check --live`, `up`, `refresh` and `destroy` leave it as it was."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.support.sandbox import Sandbox, copied_stack_file
from tests.support.vpcs import make_vpc

pytestmark = pytest.mark.sandbox

STACK = "vpc-multi-az"
ADOPTED = 18
"""Objects of the VPC that become resources of the stack."""


def test_an_adopted_vpc_is_the_same_through_the_life_of_a_stack(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    empty = sandbox.inventory()
    made = make_vpc(sandbox.aws("ec2"))
    before, inventory = made.seen(), sandbox.inventory()
    # What the stack adds to the VPC is deleted with it.
    changes = {
        "network": {**made.network, "flow_logs": True},
        "architecture.deletion_protection": False,
    }
    file = copied_stack_file(tmp_path / f"Pulumi.{STACK}.yaml", changes, STACK)
    options = (STACK, "--sandbox", "--stack-file", file)
    user = sandbox.without_preview()

    checked = user.must("check", "--live", *options)
    assert "ok  network.adopt" in checked.stdout
    user.must("up", "--yes", *options)
    assert sandbox.resource_changes(STACK)["import"] == ADOPTED
    assert made.seen() == before
    user.must("up", "--yes", *options)
    assert set(sandbox.resource_changes(STACK)) == {"same"}
    user.must("refresh", "--yes", *options)
    assert set(sandbox.resource_changes(STACK)) == {"same"}

    kept = user.must("destroy", "--yes", *options).stdout.splitlines()
    assert sandbox.inventory() == inventory
    # The adopted objects are in the stack until the commands of the message remove them.
    unprotect, destroy = (shlex.split(line)[1:] for line in kept[-2:])
    user.must(*unprotect)
    user.must(*destroy)
    assert made.seen() == before
    assert sandbox.inventory() == inventory
    made.remove()
    assert sandbox.inventory() == empty
