"""A ParallelCluster configuration becomes the stack file that means the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.import_sources import QUEUE, cluster
from tests.support.importing import at, outcomes, read_text

POOL = ("architecture", "queues", "gpu", "compute_resources", "p5")


def test_a_queue_of_a_reservation(tmp_path: Path):
    read = read_text(tmp_path, cluster())
    assert read.stack.region == "us-west-2"
    assert at(read, "reservations") == {
        "gpu": {"kind": "odcr", "reservation_id": "cr-0123456789abcdef0"}
    }
    assert at(read, "architecture", "queues", "gpu") == {
        "purchase_option": "gpu",
        "subnet_ids": ["subnet-0123456789abcdef1"],
        "compute_resources": {
            "p5": {
                "instance_type": "p5.48xlarge",
                "minimum": 2,
                "maximum": 2,
                "efa_enabled": True,
            }
        },
    }
    assert at(read, "network") == {
        "kind": "existing-vpc",
        "public_subnet_ids": ["subnet-0123456789abcdef0"],
        "private_subnet_ids": ["subnet-0123456789abcdef1"],
    }
    assert list(read.stack.unknown) == [("network", "vpc_id"), ("network", "private_subnet_ids")]
    assert {fate for fate, _ in outcomes(read).values()} == {"taken over", "implied"}


@pytest.mark.parametrize(
    ("queue", "reservations", "purchase_option"),
    [
        (QUEUE.replace("  CapacityReservationTarget", "  CapacityType: CAPACITY_BLOCK\n  "
                       "CapacityReservationTarget"),
         {"gpu": {"kind": "capacity-block", "reservation_id": "cr-0123456789abcdef0"}}, "gpu"),
        (QUEUE.replace("CapacityReservationTarget: {CapacityReservationId: cr-0123456789abcdef0}",
                       "CapacityType: SPOT"), None, "spot"),
        (QUEUE.replace("CapacityReservationTarget: {CapacityReservationId: cr-0123456789abcdef0}",
                       "CapacityType: CAPACITY_BLOCK"),
         {"gpu-block": {"kind": "capacity-block"}}, "gpu-block"),
        (QUEUE.replace("CapacityReservationId: cr-0123456789abcdef0",
                       "CapacityReservationResourceGroupArn: arn:group"),
         {"gpu-group": {"kind": "odcr-group", "group_arn": "arn:group"}}, "gpu-group"),
    ],
    ids=["block", "spot", "block without its id", "group"],
)  # fmt: skip
def test_capacity_by_its_kind(
    tmp_path: Path, queue: str, reservations: dict[str, Any] | None, purchase_option: str
):
    read = read_text(tmp_path, cluster(queue))
    assert read.stack.values.get("reservations") == reservations
    assert at(read, "architecture", "queues", "gpu", "purchase_option") == purchase_option


def test_a_reservation_that_two_queues_target_is_one_reservation(tmp_path: Path):
    second = QUEUE.replace("Name: gpu", "Name: other")
    read = read_text(tmp_path, cluster(QUEUE + second))
    assert list(at(read, "reservations")) == ["gpu"]
    assert at(read, "architecture", "queues", "other", "purchase_option") == "gpu"


@pytest.mark.parametrize(
    ("group", "placement"),
    [
        ("{Enabled: true}", {"group": "create"}),
        ("{Enabled: false}", {"group": "none"}),
        ("{Enabled: true, Name: mine}", {"group": "existing", "name": "mine"}),
        ("{Name: mine}", {"group": "existing", "name": "mine"}),
        ("{Id: mine}", {"group": "existing", "name": "mine"}),
        ("{}", None),
    ],
)
def test_the_placement_group_of_a_queue_is_that_of_its_compute_resources(
    tmp_path: Path, group: str, placement: dict[str, str] | None
):
    queue = QUEUE.replace("def1]}", f"def1], PlacementGroup: {group}}}")
    read = read_text(tmp_path, cluster(queue))
    assert at(read, *POOL).get("placement") == placement


def test_defaults_of_parallelcluster_that_differ_are_written(tmp_path: Path):
    storage = "SharedStorage:\n  - {Name: fsx, MountDir: fsx, StorageType: FsxLustre}\n"
    queue = QUEUE.replace("MinCount: 2, MaxCount: 2, ", "")
    read = read_text(tmp_path, cluster(queue, storage))
    assert at(read, *POOL, "maximum") == 10
    assert at(read, "storage", "fsx") == {
        "kind": "fsx-lustre",
        "mount_directory": "/fsx",
        "deployment_type": "SCRATCH_2",
    }


def test_a_root_volume_is_written_as_gp3_with_the_reason(tmp_path: Path):
    volume = "LocalStorage: {RootVolume: {Size: 200, VolumeType: gp2, Encrypted: false}}\n"
    read = read_text(tmp_path, cluster(head=volume))
    assert at(read, "architecture", "head_node", "root_volume") == {"size_gib": 200}
    found = {field: fate for field, (fate, _) in outcomes(read).items() if "RootVolume" in field}
    assert found == {
        "HeadNode.LocalStorage.RootVolume.Size": "taken over",
        "HeadNode.LocalStorage.RootVolume.VolumeType": "taken over better",
        "HeadNode.LocalStorage.RootVolume.Encrypted": "taken over better",
    }


def test_ids_of_examples_are_left_for_the_user(tmp_path: Path):
    queue = QUEUE.replace("subnet-0123456789abcdef1", "'${PRIVATE_SUBNET}'")
    queue = queue.replace("cr-0123456789abcdef0", "PLACEHOLDER_CAPACITY_RESERVATION_ID")
    read = read_text(tmp_path, cluster(queue))
    assert "subnet_ids" not in at(read, "architecture", "queues", "gpu")
    assert at(read, "reservations", "gpu") == {"kind": "odcr"}
    assert ("reservations", "gpu", "reservation_id") in read.stack.unknown
    field = "Scheduling.SlurmQueues[0].Networking.SubnetIds[0]"
    assert outcomes(read)[field][0] == "not supported"


def test_scripts_policies_and_buckets(tmp_path: Path):
    head = (
        "CustomActions:\n"
        "  OnNodeStart: {Script: 's3://b/start.sh', Args: [a, 1]}\n"
        "  OnNodeConfigured: {Sequence: [{Script: 'https://x/y.sh'}]}\n"
        "  OnNodeUpdated: {Script: 's3://b/update.sh'}\n"
        "Iam:\n"
        "  AdditionalIamPolicies:\n"
        "    - Policy: arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore\n"
        "    - Policy: arn:aws:iam::123456789012:policy/mine\n"
        "  S3Access: [{BucketName: data, EnableWriteAccess: true, KeyName: 'read/*'}]\n"
    )
    read = read_text(tmp_path, cluster(head=head))
    node = at(read, "architecture", "head_node")
    assert node["custom_actions"] == {
        "on_node_start": [{"script": "s3://b/start.sh", "arguments": ["a", 1]}],
        "on_node_configured": [{"script": "https://x/y.sh"}],
    }
    mine = "arn:aws:iam::123456789012:policy/mine"
    assert node["iam_policies"] == ["AmazonSSMManagedInstanceCore", mine]
    assert node["s3_access"] == [{"bucket": "data", "key": "read/*", "write": True}]
    assert outcomes(read)["HeadNode.CustomActions.OnNodeUpdated.Script"] == ("not supported", "")
