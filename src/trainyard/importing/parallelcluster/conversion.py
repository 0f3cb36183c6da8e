"""A ParallelCluster configuration as a stack file."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from trainyard.components.config.parallelcluster import OperatingSystem
from trainyard.components.parallelcluster.rendering.head_node import HEAD_NODE_KEYS
from trainyard.components.parallelcluster.rendering.monitoring import MONITORING_KEYS
from trainyard.components.parallelcluster.rendering.queues import COMPUTE_RESOURCE_KEYS, QUEUE_KEYS
from trainyard.components.parallelcluster.rendering.slurm import SLURM_KEYS
from trainyard.importing.draft import Draft, StackDraft
from trainyard.importing.key_table import KeyTable
from trainyard.importing.parallelcluster.fates import FATES as FATES
from trainyard.importing.parallelcluster.head_node import read_head_node
from trainyard.importing.parallelcluster.queues import read_queue
from trainyard.importing.parallelcluster.storage import (
    EBS_KEYS,
    EFS_KEYS,
    EFS_MOUNT,
    LUSTRE_KEYS,
    read_storage,
)
from trainyard.importing.placeholders import id_for, is_placeholder
from trainyard.importing.reader import Reader
from trainyard.importing.source import Document

KEYS = KeyTable(Path(__file__).with_name("keys.txt"))
WORDS = {
    **{
        ours.rpartition(".")[2]: theirs.rpartition(".")[2]
        for table in (
            MONITORING_KEYS,
            SLURM_KEYS,
            HEAD_NODE_KEYS,
            QUEUE_KEYS,
            COMPUTE_RESOURCE_KEYS,
        )
        for theirs, ours in table.items()
    },
    "purchase_option": "CapacityReservationTarget",
    "placement": "PlacementGroup",
    "mount_directory": "MountDir",
    "operating_system": "Os",
    "queues": "SlurmQueues",
    "storage": "SharedStorage",
    **{
        ours: theirs
        for table in (EBS_KEYS, EFS_KEYS, EFS_MOUNT, LUSTRE_KEYS)
        for theirs, ours in table.items()
    },
    "final_snapshot": "DeletionPolicy",
    "availability_zone": "SubnetIds",
    "reservation_id": "CapacityReservationId",
}


def name_of(document: Document) -> str:
    """Return no name: `pcluster create-cluster --cluster-name` sets it, not the file."""
    del document
    return ""


def convert(source: Reader, stack: StackDraft) -> None:
    """Read a cluster configuration into a stack file."""
    cluster = stack.cluster
    cluster.put("name", stack.name)
    stack.take_region(source.at("Region"))
    for tag in source.at("Tags").items():
        stack.take_tag(str(tag.at("Key").value), tag.at("Value").value, tag)
    network = cluster.section("network")
    network.put("kind", "existing-vpc")
    network.needs("vpc_id", id_for("vpc"))
    network.put("public_subnet_ids", [])
    architecture = cluster.section("architecture")
    architecture.put("kind", "parallelcluster")
    _read_image(source.at("Image"), architecture)
    read_head_node(source.at("HeadNode"), source.at("Image", "CustomAmi"), architecture, network)
    _read_scheduling(source.at("Scheduling"), architecture, cluster, network)
    for entry in source.at("SharedStorage").items():
        read_storage(entry, cluster)
    _read_monitoring(source.at("Monitoring"), architecture)
    if source.at("Imds", "ImdsSupport").value == "v1.0":
        source.at("Imds", "ImdsSupport").claim(
            "taken over better", "every node of a stack requires IMDSv2", rule="E15"
        )


def _read_image(source: Reader, architecture: Draft) -> None:
    system = source.at("Os")
    supported = get_args(OperatingSystem)
    if system.value in supported:
        architecture.take("operating_system", system)
    elif is_placeholder(system.value):
        system.unsupported("it is a placeholder: set `architecture.operating_system`")
    else:
        system.unsupported(
            f"ParallelCluster 3.16 has no `{system.value}`: the stack file has the default, "
            f"alinux2023; choose one of {', '.join(supported)}, and test your scripts with it",
            rule="E4",
        )
    architecture.take_id("custom_ami_id", source.at("CustomAmi"), "ami")


def _read_scheduling(source: Reader, architecture: Draft, cluster: Draft, network: Draft) -> None:
    scheduler = source.at("Scheduler")
    if scheduler.value == "slurm":
        scheduler.implied("ParallelCluster stacks run Slurm")
    elif is_placeholder(scheduler.value):
        scheduler.implied("it is a placeholder, and ParallelCluster stacks run Slurm")
    else:
        scheduler.unsupported(
            "stacks of `kind: parallelcluster` run Slurm; for AWS Batch, begin with "
            "`./trainyard init NAME --kind batch`"
        )
    slurm = architecture.section("slurm")
    slurm.take("scaling_strategy", source.at("ScalingStrategy"))
    settings = source.at("SlurmSettings")
    slurm.take("idle_minutes", settings.at("ScaledownIdletime"))
    slurm.take("queue_update_strategy", settings.at("QueueUpdateStrategy"))
    slurm.take_flag("memory_based_scheduling", settings.at("EnableMemoryBasedScheduling"))
    for entry in settings.at("CustomSlurmSettings").items():
        _read_parameters(entry, slurm)
    if not slurm.values:
        del architecture.values["slurm"]
    queues = architecture.section("queues")
    for queue in source.at("SlurmQueues").items():
        read_queue(queue, queues, cluster, network)
    if not queues.values:
        architecture.needs("queues", _ANY_QUEUE)
    network.needs("private_subnet_ids", [id_for("subnet", 1)])


_ANY_QUEUE = {
    "queue": {"compute_resources": {"nodes": {"instance_type": "c5.large", "maximum": 1}}}
}


def _read_parameters(entry: Reader, slurm: Draft) -> None:
    for name, value in entry.entries():
        settings = slurm.section("settings")
        if settings.has(name) or isinstance(value.value, dict | list):
            value.unsupported(
                f"`slurm.settings` has each parameter once: append the value to `{name}` by hand"
            )
        else:
            settings.take(name, value)


def _read_monitoring(source: Reader, architecture: Draft) -> None:
    if not source.exists:
        return
    monitoring = architecture.section("monitoring")
    logs = source.at("Logs", "CloudWatch")
    monitoring.take_flag("detailed", source.at("DetailedMonitoring"))
    monitoring.take_flag("logs", logs.at("Enabled"))
    monitoring.take("log_retention_days", logs.at("RetentionInDays"))
    monitoring.take(
        "keep_logs", logs.at("DeletionPolicy"), change=lambda policy: policy == "Retain"
    )
    monitoring.take_flag("dashboard", source.at("Dashboards", "CloudWatch", "Enabled"))
    monitoring.take_flag("alarms", source.at("Alarms", "Enabled"))
    rotation = source.at("Logs", "Rotation", "Enabled")
    if rotation.flag is not False:
        rotation.implied("it is ParallelCluster's default")
    if not monitoring.values:
        del architecture.values["monitoring"]
