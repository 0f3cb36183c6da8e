"""Values of the sandbox's account for ids that a stack file omits."""

from __future__ import annotations

import copy
import dataclasses

import pytest

from trainyard.sandbox.account.stacks import account_ids, missing_reservations, values_of
from trainyard.stack_files.completion import sandbox_completion
from trainyard.stack_files.stack_files import find_stack_file

A, B, D = "0a", "0b", "0d"


def cluster(pool, reservation=None, **sections):
    """Return an EKS stack in a new VPC, whose node group uses the reservation, if any."""
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
        pytest.param("p5.48xlarge", 9, {"kind": "odcr"}, "cr-00d00000000000002", id="too-small"),
        pytest.param(
            "p4d.24xlarge", 1, {"kind": "capacity-block"}, "cr-0cb00000000000006", id="other-type"
        ),
        pytest.param(
            "p5.48xlarge",
            2,
            {"kind": "capacity-block", "availability_zone": "us-west-2d"},
            "cr-0cb00000000000005",
            id="zone-of-the-entry",
        ),
        pytest.param(
            "p5.48xlarge",
            2,
            {"kind": "odcr", "provenance": "auto"},
            "cr-00d00000000000002",
            id="either-owner",
        ),
    ],
)
def test_a_reservation_has_room_for_the_nodes_that_use_it(
    instance_type, desired, entry, reservation
):
    found = values_of(cluster(pool(instance_type, desired), entry))
    assert found == {"reservations": {"training": {"reservation_id": reservation}}}


def two_blocks(**second):
    return {
        "network": {"kind": "existing-vpc"},
        "reservations": {"a": {"kind": "capacity-block"}, "b": {"kind": "capacity-block"} | second},
        "architecture": {
            "kind": "eks",
            "node_groups": {
                "a": pool("p5.48xlarge", 2, "a"),
                "b": pool("p5.48xlarge", 2, "b"),
            },
        },
    }


def test_two_entries_have_two_reservations_that_last_and_the_network_both_zones():
    found = values_of(two_blocks())
    assert found["reservations"]["a"]["reservation_id"] == "cr-0123456789abcdef0"
    assert found["reservations"]["b"]["reservation_id"] == "cr-0cb00000000000005"
    zones = ("0b", "0d")
    assert found["network"]["private_subnet_ids"] == [f"subnet-{z}000000000000002" for z in zones]


def test_a_reservation_that_the_file_names_decides_the_zone():
    found = values_of(two_blocks(reservation_id="cr-0cb00000000000001"))
    assert found["reservations"]["b"]["reservation_id"] == "cr-0cb00000000000001"
    assert found["network"]["private_subnet_ids"][0] == "subnet-0a000000000000002"


def test_an_entry_that_no_node_uses_has_a_reservation_of_its_kind():
    """A node group can be removed before the entry of its reservation."""
    found = values_of(cluster(pool("p5.48xlarge", 1, "on-demand"), {"kind": "capacity-block"}))
    assert found["reservations"]["training"] == {"reservation_id": "cr-0123456789abcdef0"}


def test_a_type_that_does_not_exist_has_a_reservation_of_the_kind():
    """The misspelled type is the only problem of the file."""
    found = values_of(cluster(pool("p5.48xlrge", 1), {"kind": "capacity-block"}))
    assert found["reservations"]["training"] == {"reservation_id": "cr-0123456789abcdef0"}


@pytest.mark.parametrize(
    ("instance_type", "reservation"),
    [("p4de.24xlarge", "cr-00d00000000000004"), ("p4d.24xlarge", "cr-00d00000000000005")],
)
def test_a_copy_of_an_example_has_its_reservation_with_fewer_nodes(instance_type, reservation):
    """Scaling down must not move nodes to another reservation."""
    example = find_stack_file("pc-gpu")
    content = copy.deepcopy(dict(example.content))
    queue = content["config"]["trainyard:cluster"]["architecture"]["queues"]["compute-gpu"]
    queue["compute_resources"]["distributed-ml"].update(minimum=1, instance_type=instance_type)
    found = sandbox_completion(dataclasses.replace(example, content=content))
    assert found["reservations"] == {"training": {"reservation_id": reservation}}


def test_a_group_has_the_reservation_as_its_member_unless_it_exists():
    entry = {"kind": "odcr-group"}
    found = values_of(cluster(pool("p5.48xlarge", 2), entry))["reservations"]["training"]
    assert found == {"members": ["cr-00d00000000000002"]}
    entry["group_arn"] = "arn"
    assert values_of(cluster(pool("p5.48xlarge", 2), entry))["reservations"]["training"] == {}


def test_existing_file_systems_are_those_of_the_account():
    kinds = ("existing-efs", "existing-fsx-lustre", "existing-fsx-openzfs", "fsx-lustre")
    found = values_of({"storage": {kind: {"kind": kind} for kind in kinds}})
    assert found["storage"] == {
        "existing-efs": {"file_system_id": "fs-0ef50000000000001"},
        "existing-fsx-lustre": {"file_system_id": "fs-0f5c0000000000001"},
        "existing-fsx-openzfs": {"volume_id": "fsvol-0f5c0000000000002"},
    }


def test_a_zone_of_a_node_group_is_in_the_network():
    group = pool("g5.12xlarge", 1, "on-demand") | {"availability_zone": "us-west-2c"}
    network = values_of(cluster(group, network={"kind": "existing-vpc"}))["network"]
    assert "subnet-0c000000000000002" in network["private_subnet_ids"]


@pytest.mark.parametrize(
    ("group", "entry", "said"),
    [
        pytest.param(
            pool("g5.12xlarge", 1),
            {"kind": "odcr"},
            "has no On-Demand Capacity Reservation of g5.12xlarge for the reservation `training`; "
            "it has 2 x p4de.24xlarge in us-west-2b (cr-00d00000000000001); ",
            id="type",
        ),
        pytest.param(
            pool("p4de.24xlarge", 1),
            {"kind": "capacity-block"},
            "has no Capacity Block of p4de.24xlarge for the reservation `training`; it has 2 x "
            "p5.48xlarge in us-west-2b (cr-0123456789abcdef0); ",
            id="kind",
        ),
    ],
)
def test_what_the_account_has_instead_of_a_missing_reservation_is_said(group, entry, said):
    [sentence] = missing_reservations(cluster(group, entry))
    assert said in sentence
    assert "cr-0cb00000000000003" not in sentence, "it has expired"


def test_nothing_is_missing_where_the_file_names_a_reservation():
    entry = {"kind": "odcr", "reservation_id": "cr-0aaaaaaaaaaaaaaaa"}
    assert missing_reservations(cluster(pool("g5.12xlarge", 1), entry)) == []


def test_the_placement_group_of_a_reservation_comes_with_it():
    found = values_of(cluster(pool("p4de.24xlarge", 2), {"kind": "odcr"}))["reservations"]
    assert found["training"]["placement_group"] == "p4de-reserved"


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(pool("g5.12xlarge", 1), id="no-such-type"),
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


def test_the_ids_of_the_account_are_known_and_no_others():
    assert {"vpc-0123456789abcdef0", "cr-0cb00000000000001", "subnet-0c000000000000002"} <= (
        account_ids()
    )
    assert "vpc-00000000000000000" not in account_ids()


def test_a_reservation_that_the_stack_creates_gets_no_id_of_the_account():
    entry = {"kind": "odcr", "create": True, "instance_count": 2, "availability_zone": "us-west-2b"}
    given = cluster(pool("p5.48xlarge", 2), entry)
    assert "reservations" not in values_of(given)
    assert missing_reservations(given) == []


@pytest.mark.parametrize(("provenance", "group"), [("own", "p4de-reserved"), ("auto", None)])
def test_the_placement_group_is_given_unless_the_account_is_read_for_it(provenance, group):
    """`provenance: auto` refuses a group in the stack file, whoever has written it."""
    entry = {"kind": "odcr", "provenance": provenance}
    given = values_of(cluster(pool("p4de.24xlarge", 2), entry))["reservations"]["training"]
    assert given["reservation_id"] == "cr-00d00000000000001"
    assert given.get("placement_group") == group
