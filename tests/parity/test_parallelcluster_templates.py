"""What the five ParallelCluster templates have in common: PC-01 to PC-18."""

from __future__ import annotations

import pytest

from tests.support.parallelcluster import policies, rendered
from tests.support.parity import better, same
from tests.support.stacks import stack_plan
from trainyard.components.config.problems import ConfigError

P4DE = ("pc-gpu", "pc-p4de-ami", "pc-p4de-postinstall", "pc-p4de-g5")


@same("PC-01", "`Imds.ImdsSupport: v2.0`")
def test_instance_metadata_needs_a_token(templates):
    assert {made.cluster["Imds"]["ImdsSupport"] for made in templates.values()} == {"v2.0"}


@better(
    "PC-02",
    "`Image.Os: alinux2`",
    why="Amazon Linux 2 has ended, and ParallelCluster 3.16 refuses it; Amazon Linux 2023 is next",
)
def test_the_operating_system_is_one_that_is_supported(templates):
    assert {made.cluster["Image"]["Os"] for made in templates.values()} == {"alinux2023"}
    with pytest.raises(ConfigError, match="alinux2023"):
        stack_plan("pc-gpu", architecture__operating_system="alinux2")


@same("PC-03", "`HeadNode.InstanceType: m5.8xlarge`")
def test_the_head_node_is_an_m5(templates):
    assert {made.head["InstanceType"] for made in templates.values()} == {"m5.8xlarge"}


@better(
    "PC-04",
    "`HeadNode.Networking.SubnetId`, a public subnet, filled in by hand",
    why="the public subnet in the zone of the nodes follows from the network; private works too",
)
def test_the_head_node_is_in_the_public_subnet_beside_the_nodes(templates):
    subnets = {name: made.head["Networking"]["SubnetId"] for name, made in templates.items()}
    assert subnets == {
        **dict.fromkeys(P4DE, "subnet-0b000000000000001"),
        "pc-trn1-ami": "subnet-0d000000000000001",
    }


@better(
    "PC-05",
    "`HeadNode.Ssh.KeyName`, a required key pair",
    why="the key is optional: the head node is reached through Session Manager, and no address can "
    "open SSH connections; `ssh.allowed_cidr: 0.0.0.0/0` is the behavior of the templates",
)
def test_the_key_pair_and_the_open_port_are_optional(templates):
    assert all("KeyName" not in made.head["Ssh"] for made in templates.values())
    assert all("AmazonSSMManagedInstanceCore" in policies(m.head) for m in templates.values())
    with_key = rendered(stack_plan("pc-gpu", architecture__head_node__ssh={"key_name": "sandbox"}))
    assert with_key["HeadNode"]["Ssh"]["KeyName"] == "sandbox"

    # Without `AllowedIps`, as in the templates, every address can open SSH connections.
    assert {made.head["Ssh"]["AllowedIps"] for made in templates.values()} == {"0.0.0.0/32"}
    everybody = {"key_name": "sandbox", "allowed_cidr": "0.0.0.0/0"}
    opened = rendered(stack_plan("pc-gpu", architecture__head_node__ssh=everybody))
    assert opened["HeadNode"]["Ssh"]["AllowedIps"] == "0.0.0.0/0"


@better(
    "PC-06",
    "Root volume of the head node: 500 GiB, deleted with it",
    why="encrypted, and gp3, which is faster for less",
)
def test_the_root_volume_of_the_head_node_has_500_gib(templates):
    for made in templates.values():
        volume = made.head["LocalStorage"]["RootVolume"]
        assert (volume["Size"], volume["DeleteOnTermination"]) == (500, True)
        assert (volume["VolumeType"], volume["Encrypted"]) == ("gp3", True)


@better(
    "PC-07",
    "Three managed policies for the head node, among them AmazonS3ReadOnlyAccess; none for the "
    "queues",
    why=(
        "the head node cannot read every bucket of the account: the scripts of a stack are in a "
        "bucket of its own, of which nodes read only the scripts, and `s3_access` names others"
    ),
)
def test_the_head_node_has_two_policies_and_reads_the_scripts_of_its_stack_alone(templates):
    for made in templates.values():
        assert policies(made.head) == [
            "AmazonSSMManagedInstanceCore",
            "AmazonEC2ContainerRegistryReadOnly",
        ]
        assert not [queue for queue in made.queues.values() if policies(queue)]
        buckets = made.head["Iam"].get("S3Access", [])
        assert all(each["KeyName"] and not each.get("EnableWriteAccess") for each in buckets)


@same("PC-08", "`Scheduling.Scheduler: slurm`")
def test_the_scheduler_is_slurm(templates):
    assert {made.cluster["Scheduling"]["Scheduler"] for made in templates.values()} == {"slurm"}


@same("PC-09", "`ScaledownIdletime: 60` minutes")
def test_idle_nodes_go_after_an_hour(templates):
    assert {made.slurm["ScaledownIdletime"] for made in templates.values()} == {60}


@same("PC-10", "`CustomSlurmSettings`: finished jobs in a file, their use of the nodes")
def test_slurm_keeps_a_record_of_finished_jobs(templates):
    for made in templates.values():
        assert made.slurm["CustomSlurmSettings"] == [
            {"JobAcctGatherType": "jobacct_gather/linux"},
            {"JobCompLoc": "/home/slurm/slurm-job-completions.txt"},
            {"JobCompType": "jobcomp/filetxt"},
        ]


@better(
    "PC-11",
    "Queue `compute-gpu`: ONDEMAND, one private subnet, filled in by hand",
    why="of the private subnets the one in the zone of the reservation is taken",
)
def test_the_queue_is_in_the_private_subnet_of_its_capacity(templates):
    for name, made in templates.items():
        assert made.queue["CapacityType"] == "ONDEMAND"
        (subnet,) = made.queue["Networking"]["SubnetIds"]
        zone = "d" if name == "pc-trn1-ami" else "b"
        assert subnet == f"subnet-0{zone}000000000000002"


@same("PC-12", "Queue: local disks at /local_scratch, root volume of 200 GiB")
def test_nodes_have_scratch_and_200_gib(templates):
    for made in templates.values():
        storage = made.queue["ComputeSettings"]["LocalStorage"]
        assert storage["EphemeralVolume"] == {"MountDir": "/local_scratch"}
        assert storage["RootVolume"]["Size"] == 200


@same("PC-13", "Compute resource `distributed-ml`")
def test_the_compute_resource_has_its_name(templates):
    assert {made.nodes["Name"] for made in templates.values()} == {"distributed-ml"}


@same("PC-14", "`Efa.Enabled: true`")
def test_nodes_use_efa(templates):
    assert {made.nodes["Efa"]["Enabled"] for made in templates.values()} == {True}


@better(
    "PC-15",
    "FSx for Lustre at /fsx: 4800 GiB, PERSISTENT_2, 250 MB/s for each TiB",
    why="the same, and it outlives the cluster: a destroyed cluster loses no data",
)
def test_lustre_has_4800_gib_and_is_kept(templates):
    for made in templates.values():
        entry = made.storage["fsx"]
        assert (entry["MountDir"], entry["StorageType"]) == ("/fsx", "FsxLustre")
        settings = entry["FsxLustreSettings"]
        assert settings["StorageCapacity"] == 4800
        assert settings["DeploymentType"] == "PERSISTENT_2"
        assert settings["PerUnitStorageThroughput"] == 250
        assert settings["DeletionPolicy"] == "Retain"


@better(
    "PC-16",
    "EBS volume `SharedEBS` at /apps: gp3, 200 GiB, 6000 operations, 300 MiB/s",
    why="the same, encrypted, and it outlives the cluster; it is called `apps`",
)
def test_the_shared_volume_is_fast_and_kept(templates):
    for made in templates.values():
        entry = made.storage["apps"]
        assert (entry["MountDir"], entry["StorageType"]) == ("/apps", "Ebs")
        wanted = {"VolumeType": "gp3", "Size": 200, "Iops": 6000, "Throughput": 300}
        kept = {"Encrypted": True, "DeletionPolicy": "Retain"}
        assert entry["EbsSettings"] == wanted | kept


@better(
    "PC-17",
    "Metrics every minute, logs in CloudWatch, no dashboard",
    why="the same; logs are kept for 180 days, also after the cluster, where its failures are read",
)
def test_monitoring_is_that_of_the_templates(templates):
    for made in templates.values():
        monitoring = made.cluster["Monitoring"]
        assert monitoring["DetailedMonitoring"] is True
        assert monitoring["Dashboards"]["CloudWatch"]["Enabled"] is False
        logs = monitoring["Logs"]["CloudWatch"]
        assert logs == {"Enabled": True, "RetentionInDays": 180, "DeletionPolicy": "Retain"}


@better(
    "PC-18",
    "No region, tags, login nodes, security groups, DNS or accounting database",
    why="the region is a value of the stack, and everything is tagged with the cluster",
)
def test_region_and_tags_are_there_and_nothing_else_is_added(templates):
    for name, made in templates.items():
        assert made.cluster["Region"] == made.config["aws:region"]
        assert made.cluster["Tags"] == [{"Key": "trainyard:cluster", "Value": name}]
        assert not {"LoginNodes", "DirectoryService"} & made.cluster.keys()
        assert not {"Dns", "Database"} & made.slurm.keys()
        assert "SecurityGroups" not in made.head["Networking"]
