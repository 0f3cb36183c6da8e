"""The whole life of an ODCR that a stack creates: nodes in it, more of it, kept, released."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.sandbox import Sandbox, copied_stack_file

pytestmark = pytest.mark.sandbox

STACK = "eks-g4dn-vpc"
GROUP = "architecture.node_groups.g4dn"
ENTRY = "reservations.training"
CHANGES = {
    ENTRY: {
        "kind": "odcr",
        "create": True,
        "instance_count": 1,
        "availability_zone": "us-west-2b",
    },
    f"{GROUP}.purchase_option": "training",
    f"{GROUP}.availability_zone": None,
    f"{GROUP}.desired": 1,
    f"{GROUP}.maximum": 1,
}


def created(sandbox: Sandbox) -> dict[str, Any]:
    """Return the reservation of the stack, as `capacity list` shows it."""
    listed = json.loads(sandbox.must("capacity", "list", "--sandbox", "--json").stdout)
    (found,) = [each for each in listed if each["created_by"] == STACK]
    return found


def test_a_reservation_is_created_used_enlarged_kept_and_released(
    own_sandbox: Sandbox, tmp_path: Path
) -> None:
    at_once, before = own_sandbox.without_preview(), own_sandbox.inventory()

    def run(command: str, path: Path) -> None:
        at_once.must(command, STACK, "--sandbox", "--yes", "--stack-file", path)

    one = copied_stack_file(tmp_path / "one.yaml", CHANGES, STACK)
    run("up", one)
    reservation = created(own_sandbox)
    assert (reservation["instances"], reservation["used"]) == (1, 1)

    more = {f"{ENTRY}.instance_count": 2, f"{GROUP}.desired": 2, f"{GROUP}.maximum": 2}
    two = copied_stack_file(tmp_path / "two.yaml", {**CHANGES, **more}, STACK)
    run("up", two)
    enlarged = created(own_sandbox)
    assert enlarged["reservation_id"] == reservation["reservation_id"]
    assert (enlarged["instances"], enlarged["used"]) == (2, 2)

    moved = {**CHANGES, **more, f"{ENTRY}.availability_zone": "us-west-2a"}
    away = copied_stack_file(tmp_path / "away.yaml", moved, STACK)
    refused = at_once.run("up", STACK, "--sandbox", "--yes", "--stack-file", away)
    assert refused.exit_code != 0
    assert reservation["reservation_id"] in refused.stderr

    run("destroy", two)
    kept = created(own_sandbox)
    assert (kept["state"], kept["used"]) == ("active", 0)

    identifier = kept["reservation_id"]
    released = own_sandbox.must(
        "capacity", "release", identifier, "--confirm", identifier, "--sandbox"
    )
    assert f"./trainyard refresh {STACK}" in released.stdout
    run("refresh", two)
    run("destroy", two)
    assert created(own_sandbox)["state"] == "cancelled"
    assert own_sandbox.inventory() == before
