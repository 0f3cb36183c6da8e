"""Stacks that differ from p5-cb where it matters: a VPC of their own, and an ODCR.

The commands run once a stack; every test asserts one claim about what they left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from kubernetes import client

from tests.support.sandbox import Done, Sandbox

pytestmark = pytest.mark.sandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """A stack and what its nodes must be."""

    stack: str
    instance_type: str
    nodes: int
    devices: Mapping[str, str]
    """What Kubernetes can allocate on each node."""
    kinds: frozenset[str]
    """Kinds of objects that the account holds because of this stack."""


LIVES = (
    Life(
        stack="eks-g4dn",
        instance_type="g4dn.8xlarge",
        nodes=2,
        devices={"nvidia.com/gpu": "1", "vpc.amazonaws.com/efa": "1"},
        kinds=frozenset({"ec2:vpc", "ec2:nat-gateway", "ec2:vpc-endpoint", "ec2:placement-group"}),
    ),
    Life(
        stack="eks-p4de-odcr-vpc",
        instance_type="p4de.24xlarge",
        nodes=2,
        devices={"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "4"},
        kinds=frozenset({"eks:node-group", "ec2:launch-template", "ec2:instance"}),
    ),
)


@dataclass(slots=True, kw_only=True)
class Lived:
    """What was seen of one life."""

    life: Life
    done: dict[str, Done] = field(default_factory=dict[str, Done])
    changes: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    inventory: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    nodes: list[client.V1Node] = field(default_factory=list)


@pytest.fixture(scope="module", params=LIVES, ids=lambda life: life.stack)
def lived(request: pytest.FixtureRequest, sandbox: Sandbox) -> Lived:
    """Bring a stack up, up again and down, and look at it in between."""
    seen = Lived(life=request.param)
    stack = seen.life.stack
    seen.inventory["before"] = sandbox.inventory()
    try:
        for moment in ("up", "again"):
            seen.done[moment] = sandbox.must("up", stack, "--sandbox", "--yes")
            seen.changes[moment] = sandbox.resource_changes(stack)
        with sandbox.kubernetes(stack) as api:
            seen.nodes = client.CoreV1Api(api).list_node().items
        seen.inventory["up"] = sandbox.inventory()
    finally:
        # Whatever went wrong, other tests find the account as it was.
        seen.done["destroy"] = sandbox.run("destroy", stack, "--sandbox", "--yes")
    seen.inventory["after"] = sandbox.inventory()
    return seen


def _workers(seen: Lived) -> list[client.V1Node]:
    label = "node.kubernetes.io/instance-type"
    return [n for n in seen.nodes if n.metadata.labels.get(label) == seen.life.instance_type]


def _ready(node: client.V1Node) -> bool:
    return any(c.type == "Ready" and c.status == "True" for c in node.status.conditions)


def test_the_stack_comes_up_from_nothing_under_the_policy_pack(lived: Lived) -> None:
    assert set(lived.changes["up"]) == {"create"}
    assert " trainyard@" in lived.done["up"].said
    assert "[mandatory]" not in lived.done["up"].said


def test_every_node_is_ready_with_every_device(lived: Lived) -> None:
    """EKS-08, EKS-10, EKS-11, EKX-08."""
    workers = _workers(lived)
    assert [_ready(node) for node in workers] == [True] * lived.life.nodes
    for node in workers:
        allocatable = node.status.allocatable
        assert {key: allocatable.get(key) for key in lived.life.devices} == lived.life.devices


def test_nodes_stand_in_the_zone_of_their_capacity(lived: Lived) -> None:
    """EKS-13."""
    zones = {node.metadata.labels["topology.kubernetes.io/zone"] for node in _workers(lived)}
    assert zones == {"us-west-2b"}


def test_a_system_node_is_ready(lived: Lived) -> None:
    """EKS-06."""
    system = [node for node in lived.nodes if node not in _workers(lived)]
    assert [_ready(node) for node in system] == [True]


def test_the_account_holds_what_the_stack_made(lived: Lived) -> None:
    made = set(lived.inventory["up"]) - set(lived.inventory["before"])
    assert lived.life.kinds <= {line.split()[0] for line in made}


def test_the_same_command_changes_nothing(lived: Lived) -> None:
    assert set(lived.changes["again"]) == {"same"}
    assert "Resources: 0 changed, " in lived.done["again"].stdout


def test_destroy_leaves_the_account_as_it_was(lived: Lived) -> None:
    assert lived.done["destroy"].exit_code == 0, lived.done["destroy"].said
    assert lived.inventory["after"] == lived.inventory["before"]
