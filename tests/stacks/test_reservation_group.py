"""Nodes in reservations that the stack adds to a group: up, scaled up by one, and removed."""

from __future__ import annotations

from pathlib import Path

import pytest
from kubernetes import client

from tests.support.sandbox import Sandbox, copied_stack_file

pytestmark = pytest.mark.sandbox

STACK = "eks-g4dn-vpc"
GROUP = "architecture.node_groups.g4dn-vpc"
RESERVATION = "cr-00d00000000000002"
"""Two p5.48xlarge; `sandbox/account/fixture.yaml`."""
CHANGES = {
    "reservations.pool": {"kind": "odcr-group", "members": [RESERVATION]},
    f"{GROUP}.instance_type": "p5.48xlarge",
    f"{GROUP}.purchase_option": "pool",
    f"{GROUP}.availability_zone": None,
    f"{GROUP}.subnet_id": None,
    f"{GROUP}.maximum": 2,
}


def gpu_nodes(sandbox: Sandbox) -> list[str]:
    """Return the names of the Ready nodes that offer eight GPUs."""
    with sandbox.kubernetes(STACK) as api:
        nodes = client.CoreV1Api(api).list_node().items
    return [
        node.metadata.name
        for node in nodes
        if node.status.allocatable.get("nvidia.com/gpu") == "8"
        and any(c.type == "Ready" and c.status == "True" for c in node.status.conditions)
    ]


def reserved_instances(inventory: list[str]) -> int:
    """Return the number of instances in the reservation."""
    return sum(
        line.startswith("ec2:instance ") and f"reservation={RESERVATION}" in line
        for line in inventory
    )


def test_nodes_run_in_the_reservations_of_a_group_that_the_stack_makes(
    own_sandbox: Sandbox, tmp_path: Path
) -> None:
    """PR-05, PR-06, PR-07."""
    at_once, before = own_sandbox.without_preview(), own_sandbox.inventory()
    one = copied_stack_file(tmp_path / "one.yaml", {**CHANGES, f"{GROUP}.desired": 1}, STACK)
    at_once.must("up", STACK, "--sandbox", "--yes", "--stack-file", one)
    after_up = own_sandbox.inventory()
    made = set(after_up) - set(before)
    (group,) = [line for line in made if line.startswith("resource-groups:group ")]
    assert group.endswith(f"capacity-reservation/{RESERVATION}")
    assert reserved_instances(after_up) == len(gpu_nodes(own_sandbox)) == 1

    two = copied_stack_file(tmp_path / "two.yaml", {**CHANGES, f"{GROUP}.desired": 2}, STACK)
    at_once.must("up", STACK, "--sandbox", "--yes", "--stack-file", two)
    assert reserved_instances(own_sandbox.inventory()) == len(gpu_nodes(own_sandbox)) == 2

    for command in ("up", "refresh"):
        at_once.must(command, STACK, "--sandbox", "--yes", "--stack-file", two)
        assert set(own_sandbox.resource_changes(STACK)) == {"same"}, command

    at_once.must("destroy", STACK, "--sandbox", "--yes", "--stack-file", two)
    assert own_sandbox.inventory() == before
