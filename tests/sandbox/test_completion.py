"""What the sandbox's account fills in where a stack file leaves out an id."""

from __future__ import annotations

import pytest

from sandbox.account.stacks import completion, values_of

A, B, D = "0a", "0b", "0d"


def cluster(pool, reservation=None, **sections):
    """Return an EKS stack in a VPC of its own whose node group uses the reservation, if any."""
    reservations = {} if reservation is None else {"training": reservation}
    return {
        "reservations": reservations,
        "architecture": {"kind": "eks", "node_groups": {"gpu": pool}},
        **sections,
    }


def pool(instance_type, desired, option="training"):
    return {"instance_type": instance_type, "desired": desired, "purchase_option": option}


@pytest.mark.parametrize(
    ("instance_type", "desired", "entry", "reservation"),
    [
        pytest.param("p5.48xlarge", 2, {"kind": "odcr"}, "cr-00d00000000000002", id="odcr"),
        pytest.param(
            "p5.48xlarge",
            2,
            {"kind": "odcr", "provenance": "aws-assisted"},
            "cr-0a550000000000001",
            id="shared-by-aws",
        ),
        pytest.param(
            "p5.48xlarge", 2, {"kind": "capacity-block"}, "cr-0123456789abcdef0", id="block"
        ),
        pytest.param("p4de.24xlarge", 3, {"kind": "odcr"}, "cr-00d00000000000004", id="number"),
    ],
)
def test_a_reservation_has_room_for_the_nodes_that_use_it(
    instance_type, desired, entry, reservation
):
    found = values_of(cluster(pool(instance_type, desired), entry))
    assert found == {"reservations": {"training": {"reservation_id": reservation}}}


def test_the_placement_group_of_a_reservation_comes_with_it():
    found = values_of(cluster(pool("p4de.24xlarge", 2), {"kind": "odcr"}))["reservations"]
    assert found["training"]["placement_group"] == "p4de-reserved"


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(pool("g5.12xlarge", 1), id="no-such-type"),
        pytest.param(pool("p5.48xlarge", 9), id="too-many-nodes"),
        pytest.param(pool("p5.48xlarge", 1, "on-demand"), id="not-used"),
    ],
)
def test_a_reservation_that_the_account_does_not_have_stays_open(found):
    assert values_of(cluster(found, {"kind": "odcr"})) == {}


@pytest.mark.parametrize(
    ("raw", "zones"),
    [
        pytest.param(cluster(pool("g5.12xlarge", 1, "on-demand")), (A, B), id="on-demand"),
        pytest.param(cluster(pool("p5.48xlarge", 1), {"kind": "odcr"}), (A, B), id="zone-b"),
        pytest.param(cluster(pool("trn1.32xlarge", 1), {"kind": "odcr"}), (B, D), id="zone-d"),
    ],
)
def test_an_existing_network_has_subnets_in_the_zone_of_the_reservation(raw, zones):
    network = values_of(raw | {"network": {"kind": "existing-vpc"}})["network"]
    assert network["public_subnet_ids"] == [f"subnet-{zone}000000000000001" for zone in zones]
    assert network["private_subnet_ids"] == [f"subnet-{zone}000000000000002" for zone in zones]


@pytest.mark.parametrize("kind", ["new-vpc", "stack-reference"])
def test_other_networks_are_left_alone(kind):
    assert values_of({"network": {"kind": kind}}) == {}


@pytest.mark.parametrize(
    ("instance_type", "system", "image"),
    [
        ("p4de.24xlarge", "alinux2023", "ami-0c00000000000a231"),
        ("trn1.32xlarge", "ubuntu2204", "ami-0c000000000022042"),
    ],
)
def test_a_custom_image_of_parallelcluster_has_the_drivers_and_the_system(
    instance_type, system, image
):
    resources = {"nodes": {"instance_type": instance_type}}
    architecture = {
        "kind": "parallelcluster",
        "image": "custom",
        "operating_system": system,
        "queues": {"compute": {"compute_resources": resources}},
    }
    found = values_of({"architecture": architecture})
    assert found == {"architecture": {"custom_ami_id": image}}


def test_a_custom_image_of_batch_has_the_drivers_of_its_nodes():
    nodes = {"instance_type": "trn1.32xlarge", "image": "custom"}
    environments = {"trn1": nodes, "g5": {"instance_type": "g5.12xlarge", "image": "auto"}}
    found = values_of({"architecture": {"kind": "batch", "compute_environments": environments}})
    image = {"custom_ami_id": "ami-0ec50000000020233"}
    assert found == {"architecture": {"compute_environments": {"trn1": image}}}


@pytest.mark.parametrize(
    "raw", [None, 5, {"network": []}, {"architecture": {"compute_environments": {"a": "b"}}}]
)
def test_a_malformed_stack_file_is_left_to_the_check(raw):
    assert values_of(raw) == {}


def test_an_unknown_stack_has_no_values():
    assert completion("a-stack-without-a-file") == {}
