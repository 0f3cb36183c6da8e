"""Trainium with ParallelCluster, row by row: TRN-01 to TRN-09, TRN-20 to TRN-27, DF-08, DF-09."""

from __future__ import annotations

import re

import pytest

from tests.support.parallelcluster import policies, rendered, scripts
from tests.support.parity import better, same
from tests.support.stacks import stack_plan
from trainyard.components.config.problems import ConfigError


@pytest.fixture
def trn1(slurm):
    return slurm("pc-trn1")


@pytest.fixture
def ultracluster(slurm):
    return slurm("pc-trn1-ultracluster")


@better(
    "TRN-01",
    "Head node c5.4xlarge, 800 GiB, in a public subnet, with the key `trn1`",
    why="the same; the stack makes the subnet, and the key is optional",
)
def test_the_head_node_is_a_c5_with_800_gib(trn1):
    assert trn1.head["InstanceType"] == "c5.4xlarge"
    assert trn1.head["LocalStorage"]["RootVolume"]["Size"] == 800
    (public,) = trn1.plan.network.public_subnets
    assert trn1.head["Networking"]["SubnetId"] == f"pc-trn1-network-{public.name}-id"


@better(
    "TRN-02",
    "A private image on Amazon Linux 2, given to the reader",
    why="ParallelCluster's own Amazon Linux 2023 and a pinned script; an image is one key away",
)
def test_the_image_is_public_and_neuron_is_installed(trn1):
    assert trn1.cluster["Image"] == {"Os": "alinux2023"}
    for section in (trn1.head, trn1.queue):
        (script,) = scripts(section)
        assert "neuron" in script["Script"]
    image = {"image": "custom", "custom_ami_id": "ami-0c00000000000a232"}
    own = rendered(stack_plan("pc-trn1", **{f"architecture__{k}": v for k, v in image.items()}))
    assert own["Image"]["CustomAmi"] == "ami-0c00000000000a232"


@better("TRN-03", "`Region: us-XXXX-X`", why="a region that has Trainium, and a zone of it")
def test_the_region_has_trainium(trn1):
    assert trn1.cluster["Region"] == trn1.config["aws:region"] == "us-west-2"
    with pytest.raises(ConfigError, match="trn1"):
        stack_plan("pc-trn1", network__availability_zones=["usw2-az3"])


@better(
    "TRN-04",
    "Queue `compute1`: ONDEMAND, a private subnet, no placement group (a note says: try one)",
    why="the same queue with a placement group: nodes that train together stand together",
)
def test_the_queue_has_a_placement_group_of_its_own(trn1):
    assert list(trn1.queues) == ["compute1"]
    assert trn1.queue["CapacityType"] == "ONDEMAND"
    (private,) = trn1.plan.network.private_subnets
    assert trn1.queue["Networking"] == {
        "SubnetIds": [f"pc-trn1-network-{private.name}-id"],
        "PlacementGroup": {"Enabled": True},
    }


@same("TRN-05", "Compute resource `queue-0`: trn1.32xlarge, none to two nodes, EFA")
def test_up_to_two_nodes_come_with_the_jobs(trn1):
    assert trn1.nodes == {
        "Name": "queue-0",
        "InstanceType": "trn1.32xlarge",
        "MinCount": 0,
        "MaxCount": 2,
        "Efa": {"Enabled": True},
    }


@same("TRN-06", "Local disks at /scratch, root volume of 800 GiB")
def test_nodes_have_scratch_and_800_gib(trn1):
    storage = trn1.queue["ComputeSettings"]["LocalStorage"]
    assert storage["EphemeralVolume"] == {"MountDir": "/scratch"}
    assert storage["RootVolume"]["Size"] == 800


@better(
    "TRN-07",
    "EFS `ktfefs` with 1024 MiB/s provisioned, at `/neuron_shared /efs`",
    why="the same throughput, encrypted, called `neuron`, and at one directory",
)
def test_efs_has_1024_mibps_at_one_directory(trn1):
    (entry,) = trn1.storage.values()
    assert (entry["StorageType"], entry["MountDir"]) == ("Efs", "/neuron_shared")
    settings = entry["EfsSettings"]
    assert settings["ThroughputMode"] == "provisioned"
    assert settings["ProvisionedThroughput"] == 1024
    assert (settings["Encrypted"], settings["DeletionPolicy"]) == (True, "Delete")


@better(
    "TRN-08",
    "`DevSettings.InstanceTypesData` that teaches ParallelCluster 3.2.0 the type trn1.32xlarge",
    why="ParallelCluster 3.16 knows it, with its eight EFA interfaces, as the catalog does",
)
def test_the_type_is_known_without_being_taught(trn1):
    assert "DevSettings" not in trn1.cluster
    (nodes,) = trn1.plan.queues[0].compute_resources
    known = nodes.instance_type
    assert (known.architecture, known.efa_interfaces, known.vcpus) == ("x86_64", 8, 128)


@better(
    "TRN-09",
    "No policies, scripts, monitoring or FSx",
    why="Session Manager, the Neuron script, and logs that outlive the cluster",
)
def test_what_is_added_is_what_people_need_to_get_in_and_to_see_failures(trn1):
    assert policies(trn1.head) == ["AmazonSSMManagedInstanceCore"]
    assert policies(trn1.queue) == []
    logs = trn1.cluster["Monitoring"]["Logs"]["CloudWatch"]
    assert (logs["Enabled"], logs["DeletionPolicy"]) == (True, "Retain")
    assert {entry["StorageType"] for entry in trn1.storage.values()} == {"Efs"}


@better(
    "TRN-20",
    "Amazon Linux 2 with an image of one's own, later Ubuntu 20.04 with ParallelCluster's",
    why="Ubuntu 24.04, the only one that Neuron supports, with ParallelCluster's image",
)
def test_the_ultracluster_runs_ubuntu(ultracluster):
    assert ultracluster.cluster["Image"] == {"Os": "ubuntu2404"}


@same("TRN-21", "Head node c5.2xlarge, later c5.4xlarge, with 1024 GiB")
def test_the_head_node_of_the_ultracluster_has_1024_gib(ultracluster):
    assert ultracluster.head["InstanceType"] == "c5.4xlarge"
    assert ultracluster.head["LocalStorage"]["RootVolume"]["Size"] == 1024


@better(
    "TRN-22",
    "`install_neuron.sh` from S3 after configuration, for head node and queue",
    why="own script with the packages of one Neuron release: the old one wants Ubuntu 20.04",
)
def test_neuron_is_installed_on_head_node_and_nodes(ultracluster):
    for section in (ultracluster.head, ultracluster.queue):
        (script,) = scripts(section)
        assert re.search(r"/neuron(-[0-9a-f]{12})?\.sh$", script["Script"])
        assert scripts(section, "OnNodeStart") == []


@better(
    "TRN-23",
    "`Iam.S3Access` to the bucket of the installation script, head node and queue",
    why="a private bucket of the stack, of which nodes read the scripts only",
)
def test_nodes_may_read_the_scripts_of_the_stack_only(ultracluster):
    for section in (ultracluster.head, ultracluster.queue):
        (access,) = section["Iam"]["S3Access"]
        assert access["KeyName"] == "node-scripts/*"
        assert not access["EnableWriteAccess"]


@same("TRN-24", "Queue `compute1`, compute resource `queue1-i1`: none to 16 trn1.32xlarge")
def test_up_to_16_nodes_come_with_the_jobs(ultracluster):
    assert list(ultracluster.queues) == ["compute1"]
    assert ultracluster.nodes == {
        "Name": "queue1-i1",
        "InstanceType": "trn1.32xlarge",
        "MinCount": 0,
        "MaxCount": 16,
        "Efa": {"Enabled": True},
    }


@same("TRN-25", "Local disks at /local_storage, root volume of 1024 GiB")
def test_nodes_of_the_ultracluster_have_scratch_and_1024_gib(ultracluster):
    storage = ultracluster.queue["ComputeSettings"]["LocalStorage"]
    assert storage["EphemeralVolume"] == {"MountDir": "/local_storage"}
    assert storage["RootVolume"]["Size"] == 1024


@same("TRN-26", "A placement group, once there was none")
def test_nodes_of_the_ultracluster_stand_in_one_placement_group(ultracluster):
    assert ultracluster.queue["Networking"]["PlacementGroup"] == {"Enabled": True}


@same(
    "TRN-27",
    "EBS and EFS, then EFS, then FSx for Lustre SCRATCH_2 with 1200 GiB at /fsx",
    why="the last, which the text of the second means too",
)
def test_lustre_is_beside_the_nodes_of_the_ultracluster(ultracluster):
    (entry,) = ultracluster.storage.values()
    assert (entry["StorageType"], entry["MountDir"]) == ("FsxLustre", "/fsx")
    settings = entry["FsxLustreSettings"]
    assert (settings["DeploymentType"], settings["StorageCapacity"]) == ("SCRATCH_2", 1200)
    assert settings["DeletionPolicy"] == "Delete"


@better(
    "DF-08",
    "A mount directory with a blank, and `DevSettings` to make an old version know Trainium",
    why="one directory; a blank is refused, which ParallelCluster itself lets through",
)
def test_a_mount_directory_with_a_blank_is_refused(trn1):
    with pytest.raises(ConfigError, match=r"storage\.neuron\.mount_directory"):
        stack_plan("pc-trn1", storage__neuron__mount_directory="/neuron_shared /efs")
    assert "DevSettings" not in trn1.cluster


@better(
    "DF-09",
    "`SharedStorage` twice in one file, of which the second wins",
    why="any number of file systems under one key, each with a name and a directory of its own",
)
def test_several_file_systems_are_all_mounted():
    shared = {"kind": "ebs", "mount_directory": "/shared", "size_gib": 20}
    both = rendered(stack_plan("pc-trn1", storage__shared=shared))["SharedStorage"]
    assert [entry["MountDir"] for entry in both] == ["/neuron_shared", "/shared"]
    with pytest.raises(ConfigError, match="mount_directory"):
        stack_plan("pc-trn1", storage__shared={**shared, "mount_directory": "/neuron_shared"})
