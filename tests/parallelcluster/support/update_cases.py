"""Changes of an existing cluster, and what ParallelCluster requires for each."""

from __future__ import annotations

from tests.support.cluster_configs import (
    FIRST_QUEUE,
    FIRST_RESOURCE,
    Config,
    UpdateCase,
    add,
    both,
    drop,
    put,
)
from trainyard.components.parallelcluster.update_verdicts import UpdateCondition

SMALL_QUEUE: Config = {
    "Name": "inference",
    "CapacityType": "ONDEMAND",
    "Networking": {"SubnetIds": ["subnet-00000000000000b02"], "PlacementGroup": {"Enabled": False}},
    "ComputeResources": [
        {"Name": "g5", "InstanceType": "g5.12xlarge", "MinCount": 0, "MaxCount": 10}
    ],
}
EXISTING_EFS: Config = {
    "Name": "home2",
    "MountDir": "/home2",
    "StorageType": "Efs",
    "EfsSettings": {"FileSystemId": "fs-0ef50000000000001"},
}
MANAGED_GROUP = put(f"{FIRST_QUEUE}.Networking.PlacementGroup", {"Enabled": True})
NO_LUSTRE = drop("SharedStorage.0")
HEAD = "architecture.head_node"
GPU = "architecture.queues.compute-gpu"
ML = f"{GPU}.compute_resources.distributed-ml"
SLURM = "architecture.slurm"

CASES = (
    UpdateCase(
        name="head node type",
        changed=put("HeadNode.InstanceType", "m5.4xlarge"),
        way=UpdateCondition.NONE,
        key=f"{HEAD}.instance_type",
    ),
    UpdateCase(
        name="head node volume",
        changed=put("HeadNode.LocalStorage.RootVolume.Size", 600),
        way=UpdateCondition.NONE,
        key=f"{HEAD}.root_volume.size_gib",
    ),
    UpdateCase(
        name="head node subnet",
        changed=put("HeadNode.Networking.SubnetId", "subnet-00000000000000a99"),
        way=UpdateCondition.NONE,
        key=f"{HEAD}.subnet_id",
    ),
    UpdateCase(
        name="key pair",
        changed=put("HeadNode.Ssh.KeyName", "another"),
        way=UpdateCondition.NONE,
        key=f"{HEAD}.ssh.key_name",
    ),
    UpdateCase(
        name="who may log in", changed=put("HeadNode.Ssh.AllowedIps", "10.0.0.0/8"), way=None
    ),
    UpdateCase(
        name="script of the head node",
        changed=put("HeadNode.CustomActions.OnNodeConfigured.Sequence.0.Script", "s3://b/s.sh"),
        way=UpdateCondition.NONE,
        key=f"{HEAD}.custom_actions.on_node_configured",
    ),
    UpdateCase(
        name="no scripts on the head node",
        changed=drop("HeadNode.CustomActions"),
        way=UpdateCondition.NONE,
        key=f"{HEAD}.custom_actions.on_node_configured",
    ),
    UpdateCase(name="policies of the head node", changed=drop("HeadNode.Iam"), way=None),
    UpdateCase(
        name="operating system",
        changed=put("Image.Os", "ubuntu2204"),
        way=UpdateCondition.NONE,
        key="architecture.operating_system",
    ),
    UpdateCase(
        name="AMI of the cluster",
        changed=drop("Image.CustomAmi"),
        way=UpdateCondition.NONE,
        key="architecture.custom_ami_id",
    ),
    UpdateCase(
        name="AMI of a queue",
        changed=put(f"{FIRST_QUEUE}.Image", {"CustomAmi": "ami-0c00000000000a231"}),
        way=None,
    ),
    UpdateCase(
        name="AMI of a queue, without a strategy",
        strategy="COMPUTE_FLEET_STOP",
        changed=put(f"{FIRST_QUEUE}.Image", {"CustomAmi": "ami-0c00000000000a231"}),
        way=UpdateCondition.STOP_OR_STRATEGY,
        key=f"{GPU}.custom_ami_id",
    ),
    UpdateCase(
        name="instance type",
        changed=put(f"{FIRST_RESOURCE}.InstanceType", "p4d.24xlarge"),
        way=UpdateCondition.STOP,
        key=f"{ML}.instance_type",
    ),
    UpdateCase(
        name="instance type, with TERMINATE",
        strategy="TERMINATE",
        changed=put(f"{FIRST_RESOURCE}.InstanceType", "p4d.24xlarge"),
        way=UpdateCondition.STOP,
        key=f"{ML}.instance_type",
    ),
    UpdateCase(
        name="more nodes",
        changed=both(put(f"{FIRST_RESOURCE}.MaxCount", 6), put(f"{FIRST_RESOURCE}.MinCount", 6)),
        way=None,
    ),
    UpdateCase(
        name="more static nodes of as many",
        before=put(f"{FIRST_RESOURCE}.MinCount", 0),
        changed=put(f"{FIRST_RESOURCE}.MinCount", 4),
        way=UpdateCondition.STOP_OR_TERMINATE,
        key=f"{ML}.minimum",
    ),
    UpdateCase(
        name="fewer nodes",
        changed=put(f"{FIRST_RESOURCE}.MaxCount", 2),
        before=put(f"{FIRST_RESOURCE}.MinCount", 0),
        way=UpdateCondition.STOP_OR_TERMINATE,
        key=f"{ML}.maximum",
    ),
    UpdateCase(
        name="fewer nodes, with TERMINATE",
        strategy="TERMINATE",
        changed=put(f"{FIRST_RESOURCE}.MaxCount", 2),
        before=put(f"{FIRST_RESOURCE}.MinCount", 0),
        way=None,
    ),
    UpdateCase(name="another queue", changed=add("Scheduling.SlurmQueues", SMALL_QUEUE), way=None),
    UpdateCase(
        name="a queue less",
        before=add("Scheduling.SlurmQueues", SMALL_QUEUE),
        changed=drop("Scheduling.SlurmQueues.1"),
        way=UpdateCondition.STOP_OR_TERMINATE,
        key="architecture.queues.inference",
    ),
    UpdateCase(
        name="a queue less, with TERMINATE",
        strategy="TERMINATE",
        before=add("Scheduling.SlurmQueues", SMALL_QUEUE),
        changed=drop("Scheduling.SlurmQueues.1"),
        way=None,
    ),
    UpdateCase(
        name="another compute resource",
        changed=add(f"{FIRST_QUEUE}.ComputeResources", SMALL_QUEUE["ComputeResources"][0]),
        way=None,
    ),
    UpdateCase(
        name="capacity reservation",
        changed=put(f"{FIRST_QUEUE}.CapacityReservationTarget.CapacityReservationId", "cr-0"),
        way=None,
    ),
    UpdateCase(
        name="a placement group that ParallelCluster makes",
        changed=MANAGED_GROUP,
        way=None,
    ),
    UpdateCase(
        name="giving up a placement group that ParallelCluster made",
        before=MANAGED_GROUP,
        changed=put(f"{FIRST_QUEUE}.Networking.PlacementGroup", {"Enabled": False}),
        way=UpdateCondition.STOP,
        key=f"{GPU}.compute_resources",
    ),
    UpdateCase(
        name="subnet beside a Lustre file system of the cluster",
        changed=put(f"{FIRST_QUEUE}.Networking.SubnetIds", ["subnet-00000000000000b99"]),
        way=UpdateCondition.WITHOUT_LUSTRE,
        key=f"{GPU}.subnet_ids",
    ),
    UpdateCase(
        name="subnet without one",
        before=NO_LUSTRE,
        changed=put(f"{FIRST_QUEUE}.Networking.SubnetIds", ["subnet-00000000000000b99"]),
        way=None,
    ),
    UpdateCase(
        name="multithreading",
        changed=put(f"{FIRST_RESOURCE}.DisableSimultaneousMultithreading", True),
        way=UpdateCondition.STOP,
        key=f"{ML}.simultaneous_multithreading",
    ),
    UpdateCase(
        name="idle time",
        changed=put("Scheduling.SlurmSettings.ScaledownIdletime", 5),
        way=UpdateCondition.STOP,
        key=f"{SLURM}.idle_minutes",
    ),
    UpdateCase(
        name="queue update strategy",
        changed=put("Scheduling.SlurmSettings.QueueUpdateStrategy", "TERMINATE"),
        way=None,
    ),
    UpdateCase(
        name="Slurm parameters",
        changed=put("Scheduling.SlurmSettings.CustomSlurmSettings", [{"MaxJobCount": "9"}]),
        way=None,
    ),
    UpdateCase(
        name="exclusive jobs", changed=put(f"{FIRST_QUEUE}.JobExclusiveAllocation", False), way=None
    ),
    UpdateCase(
        name="no Lustre file system any more",
        changed=NO_LUSTRE,
        way=None,
    ),
    UpdateCase(
        name="no Lustre file system any more, without a strategy",
        strategy="COMPUTE_FLEET_STOP",
        changed=NO_LUSTRE,
        way=UpdateCondition.STOP_OR_STRATEGY,
        key="storage.fsx",
    ),
    UpdateCase(
        name="an existing EFS, without a strategy",
        strategy="COMPUTE_FLEET_STOP",
        changed=add("SharedStorage", EXISTING_EFS),
        way=None,
    ),
    UpdateCase(
        name="a home directory",
        changed=add("SharedStorage", {**EXISTING_EFS, "MountDir": "/home"}),
        way=UpdateCondition.NONE,
        key="storage.home2",
    ),
    UpdateCase(
        name="size of the Lustre file system",
        changed=put("SharedStorage.0.FsxLustreSettings.StorageCapacity", 7200),
        way=UpdateCondition.NONE,
        key="storage.fsx.storage_capacity_gib",
    ),
    UpdateCase(
        name="size of the shared volume",
        changed=put("SharedStorage.1.EbsSettings.Size", 400),
        way=UpdateCondition.NONE,
        key="storage.apps.size_gib",
    ),
    UpdateCase(
        name="operations of the shared volume",
        changed=put("SharedStorage.1.EbsSettings.Iops", 8000),
        way=None,
    ),
    UpdateCase(
        name="metrics every minute",
        changed=put("Monitoring.DetailedMonitoring", False),
        way=UpdateCondition.STOP,
        key="architecture.monitoring.detailed",
    ),
    UpdateCase(
        name="days of logs",
        changed=put("Monitoring.Logs.CloudWatch.RetentionInDays", 30),
        way=None,
    ),
    UpdateCase(
        name="logs",
        changed=put("Monitoring.Logs.CloudWatch.Enabled", False),
        way=UpdateCondition.NONE,
        key="architecture.monitoring.logs",
    ),
    UpdateCase(name="a tag", changed=put("Tags.0.Value", "audio"), way=None),
    UpdateCase(name="region", changed=put("Region", "us-east-1"), way=UpdateCondition.NONE),
)
