"""What a picture shows of a stack."""

import xml.etree.ElementTree as ET

import pytest

from tests.support.stacks import STACKS
from tests.trainyard.topology.support.topologies import topology_of
from trainyard.topology.box import Box
from trainyard.topology.drawing import description, draw


def found(root: Box, kind: str, title: str = "") -> list[Box]:
    return [each for each in root.all() if each.kind == kind and title in each.title]


def path_to(root: Box, box: Box) -> list[str]:
    """Return the kinds of the boxes around a box, outer ones first."""
    for child in root.children:
        if child is box:
            return [root.kind]
        if inner := path_to(child, box):
            return [root.kind, *inner]
    return []


def test_without_the_account_a_node_group_with_efa_is_in_one_of_the_subnets():
    root = topology_of("p5-cb")
    (p5,) = found(root, "nodes", "p5")
    assert path_to(root, p5) == ["region", "vpc", "private-subnet", "reservation"]
    (around,) = [
        each for each in root.all() if p5 in [b for c in each.children for b in c.children]
    ]
    assert around.title == "One of 2 private subnets"
    assert not found(root, "zone")


def test_with_the_account_it_is_in_the_subnet_of_its_reservation():
    root = topology_of("p5-cb", live=True)
    (p5,) = found(root, "nodes", "p5")
    assert path_to(root, p5) == ["region", "vpc", "zone", "private-subnet", "reservation"]
    (reservation,) = found(root, "reservation")
    assert reservation.outside
    assert reservation.lines[1:] == ("from 2026-11-30 12:00 UTC", "until 2026-12-07 12:00 UTC")
    assert [zone.title for zone in found(root, "zone")] == ["us-west-2a", "us-west-2b"]


def test_an_existing_network_is_outside_the_stack_and_a_new_one_is_not():
    assert found(topology_of("p5-cb"), "vpc")[0].outside
    root = topology_of("dev")
    assert not found(root, "vpc")[0].outside
    assert not any(each.outside for each in found(root, "private-subnet"))


def test_a_node_group_shows_its_instances_and_every_network_interface():
    (p5,) = found(topology_of("p5-cb"), "nodes", "p5")
    assert p5.lines == (
        "2 x p5.48xlarge",
        "8 x NVIDIA H100, 80 GiB each",
        "32 EFA interfaces per node",
    )
    assert p5.interfaces == ("interface", *["efa-only"] * 32)
    assert "network interfaces: 1 interface, 32 efa-only" in description(p5)


def test_a_slurm_cluster_shows_queues_head_node_and_storage():
    root = topology_of("pc-p4de-g5", live=True)
    assert {each.title for each in found(root, "queue")} == {"compute-gpu", "inference-gpu"}
    (head,) = found(root, "control-plane", "Head node")
    assert path_to(root, head)[-1] == "public-subnet"
    (dynamic,) = found(root, "nodes", "inference-ml")
    assert dynamic.lines[0] == "0 to 10 x g5.12xlarge"
    assert [each.caption for each in found(root, "storage")] == [
        "EBS volume of the head node",
        "FSx for Lustre",
    ]


def test_a_batch_stack_shows_job_definitions_and_queues():
    root = topology_of("batch-p5")
    (environment,) = found(root, "nodes")
    assert "job queue batch-p5-p5" in environment.lines
    assert found(root, "control-plane")[0].caption == "Batch job definition"


@pytest.mark.parametrize("stack", STACKS)
def test_every_pool_of_a_stack_is_in_its_picture_once(stack):
    for pools in (1, 30):
        root = topology_of(stack, pools=pools)
        anchors = [each.anchor for each in found(root, "nodes")]
        assert len(set(anchors)) == len(anchors)
        if not stack.startswith("vpc-"):
            assert len(anchors) >= pools


@pytest.mark.parametrize("stack", STACKS)
def test_a_picture_is_well_formed_and_asks_for_nothing_else(stack):
    text = draw(topology_of(stack), title="<a & b>", linked=True)
    root = ET.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    links = [each.attrib["href"] for each in root.iter() if "href" in each.attrib]
    assert all(each.startswith("#") for each in links)
    assert "url(" not in text
    assert "@import" not in text
    assert not [each for each in root.iter() if each.tag.endswith(("image", "script"))]


@pytest.mark.parametrize("stack", ["p5-cb", "dev", "pc-p4de-g5", "batch-trn1"])
def test_a_picture_is_its_golden(golden, stack):
    golden(f"topology/{stack}.svg", draw(topology_of(stack, live=True), title=stack))
