"""What a preview changes is marked in the picture, also what the plan no longer has."""

import pytest

from tests.support.stacks import prepared
from tests.trainyard.topology.support.topologies import topology_of
from trainyard.changes.steps import PlannedStep
from trainyard.topology.box import Box
from trainyard.topology.changes import deleted_parts, with_changes
from trainyard.topology.drawing import draw

GROUP = "trainyard:eks:SelfManagedNodeGroup"
SUBNET = "subnet-0b000000000000002"


def urn(type_: str, name: str) -> str:
    return f"urn:pulumi:p5-cb::trainyard::trainyard:architectures:EksArchitecture${type_}::{name}"


def group(operation: str, name: str = "p5", inner: str = "", **inputs: object) -> list[PlannedStep]:
    """Return the steps of a node group and of its Auto Scaling group."""
    component = urn(GROUP, f"p5-cb-{name}")
    made = urn(f"{GROUP}$aws:autoscaling/group:Group", f"p5-cb-{name}-nodes")
    policy = urn(f"{GROUP}$aws:iam/rolePolicy:RolePolicy", f"p5-cb-{name}-policy")
    return [
        PlannedStep(operation=operation, urn=component, type=GROUP),
        PlannedStep(
            operation=inner or operation,
            urn=made,
            type="aws:autoscaling/group:Group",
            parent=component,
            old=inputs,
        ),
        PlannedStep(
            operation=operation, urn=policy, type="aws:iam/rolePolicy:RolePolicy", parent=component
        ),
    ]


def box(root: Box, title: str) -> Box:
    (found,) = [each for each in root.all() if each.title == title and each.kind == "nodes"]
    return found


@pytest.mark.parametrize(
    ("operation", "inner", "change"),
    [
        ("same", "same", None),
        ("create", "create", "created"),
        ("same", "update", "changed"),
        ("same", "create", "changed"),
        ("same", "replace", "replaced"),
        ("delete", "delete", "deleted"),
    ],
)
def test_the_change_of_a_box_is_that_of_the_resources_below_it(operation, inner, change):
    root = with_changes(topology_of("p5-cb"), group(operation, inner=inner))
    assert box(root, "p5").change == change
    assert box(root, "system").change is None


def test_a_replaced_policy_changes_a_node_group_and_does_not_replace_it():
    steps = group("same")
    steps[2] = PlannedStep(
        operation="replace", urn=steps[2].urn, type=steps[2].type, parent=steps[0].urn
    )
    assert box(with_changes(topology_of("p5-cb"), steps), "p5").change == "changed"


def test_a_deleted_node_group_is_in_the_subnet_of_its_nodes():
    steps = group("delete", name="old", vpcZoneIdentifiers=[SUBNET], instanceType="g6.48xlarge")
    gone = deleted_parts(topology_of("p5-cb"), steps, prepared("p5-cb").plan)
    ((occupant,), services) = gone.occupants, gone.services
    assert (occupant.subnets, services) == ((SUBNET,), ())
    assert (occupant.box.title, occupant.box.change) == ("old", "deleted")
    assert occupant.box.lines == ("g6.48xlarge",)


def test_what_the_plan_still_has_is_not_added():
    gone = deleted_parts(topology_of("p5-cb"), group("delete"), prepared("p5-cb").plan)
    assert (gone.occupants, gone.services) == ((), ())


def test_a_change_has_a_sign_and_a_text():
    text = draw(with_changes(topology_of("p5-cb"), group("create")), title="p5-cb")
    assert ">+ created</text>" in text
    assert 'aria-label="created: p5 (self-managed node group' in text
