"""A Slurm stack with its own VPC in the sandbox: up, up again, and completely removed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.sandbox import Sandbox, copied_stack_file

pytestmark = [pytest.mark.sandbox, pytest.mark.parallelcluster]

STACK = "pc-trn1"
QUEUE = "architecture.queues.compute1"
CHANGES: dict[str, Any] = {
    "network": {
        "kind": "new-vpc",
        # By name and by id: us-west-2b of the sandbox is usw2-az1.
        "availability_zones": ["us-west-2a", "usw2-az1"],
        "addresses": "vpc-multi-az",
        "nat_gateways": "one-per-zone",
        "gateway_endpoints": ["s3"],
        "interface_endpoints": ["ecr.dkr"],
        "flow_logs": True,
    },
    f"{QUEUE}.availability_zone": "usw2-az1",
    f"{QUEUE}.compute_resources.queue-0.minimum": 1,
}


def kinds(lines: list[str], known: set[str]) -> dict[str, int]:
    """Return the number of new objects of each kind."""
    counts: dict[str, int] = {}
    for line in set(lines) - known:
        kind = line.split(" ", 1)[0]
        counts[kind] = counts.get(kind, 0) + 1
    return counts


def subnet_of(instance: str, inventory: list[str]) -> str:
    """Return the inventory line of the subnet of an instance."""
    (subnet,) = [part for part in instance.split() if part.startswith("subnet=")]
    (line,) = [each for each in inventory if each.startswith(f"ec2:{subnet.replace('=', ' ')} ")]
    return line


def test_a_stack_in_its_own_vpc_lives_and_leaves_nothing(sandbox: Sandbox, tmp_path: Path) -> None:
    """TRN-04, VPCM-09, VPCM-10, VPCM-12: subnets of the zone, and nothing is left behind."""
    file = copied_stack_file(tmp_path / f"Pulumi.{STACK}.yaml", CHANGES, STACK)
    before = sandbox.inventory()

    # As a person types it: the preview, the changes, the question, and the update.
    shown = sandbox.typed("up", STACK, "--sandbox", "--stack-file", file, answers=["y"])
    assert "create aws:ec2:Vpc" in shown
    assert shown.index("[y/N]: y") < shown.index("created aws:ec2:Vpc ")
    during = sandbox.inventory()
    made = kinds(during, set(before))
    assert made["ec2:vpc"] == 1
    assert made["ec2:subnet"] == 4
    assert made["ec2:nat-gateway"] == made["ec2:elastic-ip"] == 2
    assert made["ec2:internet-gateway"] == made["ec2:flow-log"] == made["logs:log-group"] == 1
    # The main table, one for the public subnets, one for each private one.
    assert made["ec2:route-table"] == 4
    assert made["ec2:vpc-endpoint"] == 2
    instances = [line for line in during if line.startswith("ec2:instance ")]
    (head,) = [line for line in instances if "parallelcluster:node-type:HeadNode" in line]
    (node,) = [line for line in instances if "parallelcluster:node-type:Compute" in line]
    assert "zone=us-west-2b cidr=10.0.1.0/24" in subnet_of(head, during)
    assert "zone=us-west-2b cidr=10.1.128.0/17" in subnet_of(node, during)

    at_once = sandbox.without_preview()
    at_once.must("up", STACK, "--sandbox", "--yes", "--stack-file", file)
    assert set(sandbox.resource_changes(STACK)) == {"same"}

    tags = {"tags": {"Team": "research"}}
    tagged = copied_stack_file(tmp_path / "tagged.yaml", CHANGES | tags, STACK)
    at_once.must("up", STACK, "--sandbox", "--yes", "--stack-file", tagged)
    assert set(sandbox.resource_changes(STACK)) == {"same", "update"}
    at_once.must("refresh", STACK, "--sandbox", "--yes", "--stack-file", tagged)
    assert set(sandbox.resource_changes(STACK)) == {"same"}

    at_once.must("destroy", STACK, "--sandbox", "--yes", "--stack-file", file)
    assert sandbox.inventory() == before
