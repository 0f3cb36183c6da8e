"""Rendering of a plan as ParallelCluster cluster configuration, by section.

Keys are those of
https://docs.aws.amazon.com/parallelcluster/latest/ug/cluster-configuration-file-v3.html and of
`pcluster/schemas/cluster_schema.py` in the package `aws-parallelcluster`, version 3.16.1. The
plan decides the content of the sections. Values of resources that do not exist yet are a
`Reference`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from trainyard.components.capacity.plan import CapacityPlan, PlacementPlan
from trainyard.components.config.node_pool import RootVolume
from trainyard.components.config.parallelcluster import NO_ADDRESS, Monitoring, S3Access, Slurm
from trainyard.components.parallelcluster.node_scripts import PREFIX, NodeAccess, ScriptPlan
from trainyard.components.parallelcluster.plan import (
    HeadNodePlan,
    ParallelClusterPlan,
    SharedStoragePlan,
)
from trainyard.components.parallelcluster.queue_plan import ComputeResourcePlan, QueuePlan
from trainyard.components.parallelcluster.references import Reference, references, resolve
from trainyard.components.tagging import NODE_METRICS_TAG

# The sections `Iam` and `CustomActions` of head node and queues.
#
# Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/HeadNode-v3.html and
# https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html


ACCESS_KEYS: Mapping[str, str] = {
    "CustomActions": "custom_actions",
    "CustomActions.OnNodeStart": "custom_actions.on_node_start",
    "CustomActions.OnNodeConfigured": "custom_actions.on_node_configured",
    "Iam": "iam_policies",
    "Iam.S3Access": "s3_access",
}
"""Stack file key of each setting that head node and queues share."""


def render_access(access: NodeAccess) -> dict[str, Any]:
    """Return the sections `CustomActions` and `Iam` of a node, if not empty."""
    sections = {"CustomActions": _custom_actions(access), "Iam": _iam(access)}
    return {name: section for name, section in sections.items() if section}


def _custom_actions(access: NodeAccess) -> dict[str, Any]:
    actions = {"OnNodeStart": access.on_node_start, "OnNodeConfigured": access.on_node_configured}
    return {
        name: {"Sequence": [_script(script) for script in scripts]}
        for name, scripts in actions.items()
        if scripts
    }


def _script(script: ScriptPlan) -> dict[str, Any]:
    address = Reference("node-script", script.key) if script.built_in else script.url
    rendered: dict[str, Any] = {"Script": address}
    return {**rendered, "Args": list(script.arguments)} if script.arguments else rendered


def _iam(access: NodeAccess) -> dict[str, Any]:
    iam: dict[str, Any] = {}
    if access.iam_policies:
        iam["AdditionalIamPolicies"] = [{"Policy": arn} for arn in access.iam_policies]
    s3_access = [_s3_access(each) for each in access.s3_access]
    if access.built_in_scripts:
        s3_access.append(
            {
                "BucketName": Reference("script-bucket", f"{PREFIX}*"),
                "KeyName": f"{PREFIX}*",
                "EnableWriteAccess": False,
            }
        )
    if s3_access:
        iam["S3Access"] = s3_access
    return iam


def _s3_access(access: S3Access) -> dict[str, Any]:
    return {
        "BucketName": access.bucket,
        **({"KeyName": access.key} if access.key is not None else {}),
        "EnableWriteAccess": access.write,
    }


# Storage: the entries of `SharedStorage`, and the root volumes of nodes.
#
# Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html


ROOT_VOLUME_KEYS: Mapping[str, str] = {
    "RootVolume": "root_volume",
    "RootVolume.Size": "root_volume.size_gib",
    "RootVolume.Iops": "root_volume.iops",
    "RootVolume.Throughput": "root_volume.throughput_mibps",
}
"""Stack file key of each setting of a root volume."""


def render_shared_storage(storage: SharedStoragePlan) -> dict[str, Any]:
    """Return one entry of `SharedStorage`; settings can contain references."""
    entry: dict[str, Any] = {
        "MountDir": storage.mount_directory,
        "Name": storage.name,
        "StorageType": storage.type,
    }
    if storage.settings:
        entry[f"{storage.type}Settings"] = dict(storage.settings)
    return entry


def render_root_volume(volume: RootVolume) -> dict[str, Any]:
    """Return the settings for head node and compute nodes: gp3, encrypted."""
    return {
        "Size": volume.size_gib,
        "Encrypted": True,
        "VolumeType": "gp3",
        "Iops": volume.iops,
        "Throughput": volume.throughput_mibps,
    }


# The section `HeadNode`.
#
# Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/HeadNode-v3.html


HEAD_NODE_KEY = "head-node"
"""Name of the reference to the imported key pair."""

HEAD_NODE_KEYS: Mapping[str, str] = {
    "InstanceType": "instance_type",
    "Networking.SubnetId": "subnet_id",
    "Ssh": "ssh",
    "Ssh.KeyName": "ssh.key_name",
    "Ssh.AllowedIps": "ssh.allowed_cidr",
    **{f"LocalStorage.{theirs}": ours for theirs, ours in ROOT_VOLUME_KEYS.items()},
    **ACCESS_KEYS,
}
"""Stack file key of each setting of the head node."""


def render_head_node(head_node: HeadNodePlan) -> dict[str, Any]:
    """Return the section; the subnet and an imported key pair are references."""
    return {
        "InstanceType": head_node.instance_type,
        "Networking": {"SubnetId": Reference("subnet", head_node.subnets[0])},
        "Ssh": _ssh(head_node),
        "LocalStorage": {
            "RootVolume": {
                **render_root_volume(head_node.root_volume),
                "DeleteOnTermination": True,
            }
        },
        **render_access(head_node.access),
    }


def _ssh(head_node: HeadNodePlan) -> dict[str, Any]:
    # Without the setting, the port is open to 0.0.0.0/0, even without a key pair.
    allowed = {"AllowedIps": head_node.allowed_cidr or NO_ADDRESS}
    if head_node.public_key is not None:
        return {"KeyName": Reference("key-pair", HEAD_NODE_KEY), **allowed}
    if head_node.key_name is not None:
        return {"KeyName": head_node.key_name, **allowed}
    return allowed


# The section `Monitoring`.
#
# Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/Monitoring-v3.html


MONITORING_KEYS: Mapping[str, str] = {
    "DetailedMonitoring": "detailed",
    "Logs": "logs",
    "Logs.CloudWatch.RetentionInDays": "log_retention_days",
    "Logs.CloudWatch.DeletionPolicy": "keep_logs",
    "Dashboards": "dashboard",
    "Alarms": "alarms",
}
"""Stack file key of each setting of the monitoring."""


def render_monitoring(monitoring: Monitoring) -> dict[str, Any]:
    """Return the section with all values explicit, because ParallelCluster defaults can change."""
    return {
        "DetailedMonitoring": monitoring.detailed,
        "Logs": {"CloudWatch": _logs(monitoring)},
        "Dashboards": {"CloudWatch": {"Enabled": monitoring.dashboard}},
        "Alarms": {"Enabled": monitoring.alarms},
    }


def _logs(monitoring: Monitoring) -> dict[str, Any]:
    if not monitoring.logs:
        return {"Enabled": False}
    return {
        "Enabled": True,
        "RetentionInDays": monitoring.log_retention_days,
        "DeletionPolicy": "Retain" if monitoring.keep_logs else "Delete",
    }


# The entries of `SlurmQueues`.
#
# ParallelCluster accepts placement group and reservation for a queue or a compute resource. They
# are rendered at the queue if all compute resources agree, else at each compute resource, so that
# each setting appears once.
#
# Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html


_CAPACITY_TYPES = {None: "ONDEMAND", "spot": "SPOT", "capacity-block": "CAPACITY_BLOCK"}
"""`CapacityType` by market type."""

_NO_TARGET: dict[str, Any] = {}

QUEUE_KEYS: Mapping[str, str] = {
    "CapacityType": "purchase_option",
    "CapacityReservationTarget": "purchase_option",
    "AllocationStrategy": "allocation_strategy",
    "ComputeSettings.LocalStorage.EphemeralVolume": "scratch_directory",
    **{f"ComputeSettings.LocalStorage.{theirs}": ours for theirs, ours in ROOT_VOLUME_KEYS.items()},
    **ACCESS_KEYS,
    "Image": "custom_ami_id",
    "Networking.SubnetIds": "subnet_ids",
    # Every compute resource has a placement; equal placements are rendered at the queue.
    "Networking.PlacementGroup": "compute_resources",
    "HealthChecks": "gpu_health_check",
    "CustomSlurmSettings": "slurm_settings",
    "JobExclusiveAllocation": "exclusive_jobs",
    "ComputeResources": "compute_resources",
}
"""Stack file key of each setting of a queue."""
COMPUTE_RESOURCE_KEYS: Mapping[str, str] = {
    "InstanceType": "instance_type",
    "Instances": "instance_type",
    "MinCount": "minimum",
    "MaxCount": "maximum",
    "Efa": "efa_enabled",
    "DisableSimultaneousMultithreading": "simultaneous_multithreading",
    "SchedulableMemory": "schedulable_memory_mib",
    "CapacityReservationTarget": "purchase_option",
    "Networking": "placement",
    "CustomSlurmSettings": "slurm_settings",
}
"""Stack file key of each setting of a compute resource."""


def render_queue(queue: QueuePlan) -> dict[str, Any]:
    """Return one queue with its compute resources."""
    config = queue.config
    placement = _common([placement_group(r.placement) for r in queue.compute_resources])
    first = [r for r in queue.compute_resources if r.pool == r.name]
    # Without further blocks, because a change of the queue's own target replaces its nodes.
    target = _common([reservation_target(r.capacity) for r in first])
    return {
        "Name": queue.name,
        "CapacityType": _CAPACITY_TYPES[queue.capacity.market_type],
        **_some("AllocationStrategy", config.allocation_strategy),
        "JobExclusiveAllocation": config.exclusive_jobs,
        **({"Image": {"CustomAmi": config.custom_ami_id}} if config.custom_ami_id else {}),
        **_some("CapacityReservationTarget", target),
        "Networking": {
            "SubnetIds": [Reference("subnet", subnet) for subnet in queue.subnets],
            **_some("PlacementGroup", placement),
        },
        "ComputeSettings": {
            "LocalStorage": {
                "RootVolume": render_root_volume(config.root_volume),
                "EphemeralVolume": {"MountDir": config.scratch_directory},
            }
        },
        **({"HealthChecks": {"Gpu": {"Enabled": True}}} if config.gpu_health_check else {}),
        "ComputeResources": [
            _compute_resource(
                resource,
                flexible=_is_flexible(queue),
                with_placement=placement is None,
                queue_target=target,
            )
            for resource in queue.compute_resources
        ],
        **render_access(queue.access),
        **_some("CustomSlurmSettings", dict(config.slurm_settings)),
    }


def placement_group(placement: PlacementPlan) -> dict[str, Any]:
    """Return `PlacementGroup`, also if disabled: with EFA it must be explicit."""
    if placement.group == "none":
        return {"Enabled": False}
    if placement.group == "create":
        return {"Enabled": True}
    return {"Enabled": True, "Name": placement.name}


def reservation_target(capacity: CapacityPlan) -> dict[str, Any]:
    """Return `CapacityReservationTarget`, empty without a reservation.

    The id of a reservation and the ARN of a group that the stack creates are references with the
    name of the reservation.
    """
    if capacity.creation is not None:
        return {"CapacityReservationId": Reference("reservation", capacity.purchase_option)}
    if capacity.reservation_id is not None:
        return {"CapacityReservationId": capacity.reservation_id}
    if capacity.reservation_group_arn is not None:
        return {"CapacityReservationResourceGroupArn": capacity.reservation_group_arn}
    if capacity.reservation_group_members:
        group = Reference("reservation-group", capacity.purchase_option)
        return {"CapacityReservationResourceGroupArn": group}
    return _NO_TARGET


def _is_flexible(queue: QueuePlan) -> bool:
    # ParallelCluster refuses `InstanceType` in a queue with several subnets, and uses the
    # allocation strategy only with EC2 Fleet (SingleInstanceTypeSubnetValidator).
    return len(queue.subnets) > 1 or queue.config.allocation_strategy is not None


def _compute_resource(
    resource: ComputeResourcePlan,
    *,
    flexible: bool,
    with_placement: bool,
    queue_target: dict[str, Any] | None,
) -> dict[str, Any]:
    instance_type = resource.instance_type.name
    placement = placement_group(resource.placement)
    target = reservation_target(resource.capacity)
    return {
        "Name": resource.name,
        **(
            {"Instances": [{"InstanceType": instance_type}]}
            if flexible
            else {"InstanceType": instance_type}
        ),
        "MinCount": resource.minimum,
        "MaxCount": resource.maximum,
        **({"Efa": {"Enabled": True}} if resource.efa_enabled else {}),
        **(
            {}
            if resource.config.simultaneous_multithreading
            else {"DisableSimultaneousMultithreading": True}
        ),
        **_some("SchedulableMemory", resource.config.schedulable_memory_mib),
        **(_some("CapacityReservationTarget", target) if target != queue_target else {}),
        **({"Networking": {"PlacementGroup": placement}} if with_placement else {}),
        **_some("CustomSlurmSettings", dict(resource.config.slurm_settings)),
        **_some("Tags", _tags(resource)),
    }


def _tags(resource: ComputeResourcePlan) -> list[dict[str, str]]:
    value = resource.metrics_tag
    return [{"Key": NODE_METRICS_TAG, "Value": value}] if value else []


def _common(sections: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the section if all are equal, else None."""
    first, *others = sections
    return first if all(other == first for other in others) else None


def _some(key: str, value: object) -> dict[str, Any]:
    return {key: value} if value else {}


# The section `Scheduling`: Slurm and its queues.
#
# Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html


SLURM_KEYS: Mapping[str, str] = {
    "ScaledownIdletime": "idle_minutes",
    "QueueUpdateStrategy": "queue_update_strategy",
    "EnableMemoryBasedScheduling": "memory_based_scheduling",
    "CustomSlurmSettings": "settings",
}
"""Stack file key of each setting of Slurm."""


def render_scheduling(plan: ParallelClusterPlan) -> dict[str, Any]:
    """Return the section; queues keep the order of the plan, and the first is the default."""
    return {
        "Scheduler": "slurm",
        "ScalingStrategy": plan.slurm.scaling_strategy,
        "SlurmSettings": _slurm_settings(plan.slurm),
        "SlurmQueues": [render_queue(queue) for queue in plan.queues],
    }


def _slurm_settings(slurm: Slurm) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "ScaledownIdletime": slurm.idle_minutes,
        # Without it, updates that remove nodes are refused until the fleet is stopped.
        "QueueUpdateStrategy": slurm.queue_update_strategy,
        "EnableMemoryBasedScheduling": slurm.memory_based_scheduling,
    }
    if slurm.settings:
        settings["CustomSlurmSettings"] = [{key: value} for key, value in slurm.settings.items()]
    return settings


# The complete cluster configuration, as a document and as YAML.
#
# Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/cluster-configuration-file-v3.html


IMDS_SUPPORT = "v2.0"
"""Requires IMDSv2 on every node.
https://docs.aws.amazon.com/parallelcluster/latest/ug/Imds-cluster-v3.html"""


class UnresolvedReferenceError(ValueError):
    """A document still contains references."""


def render_cluster(plan: ParallelClusterPlan) -> dict[str, Any]:
    """Return the cluster configuration of a plan, with sections in reading order.

    Ids that do not exist yet are a `Reference`; `resolve` inserts them.
    """
    document: dict[str, Any] = {
        "Region": plan.region,
        "Imds": {"ImdsSupport": IMDS_SUPPORT},
        "Image": _image(plan),
        "HeadNode": render_head_node(plan.head_node),
        "Scheduling": render_scheduling(plan),
    }
    if plan.shared_storage:
        document["SharedStorage"] = [render_shared_storage(each) for each in plan.shared_storage]
    document["Monitoring"] = render_monitoring(plan.monitoring)
    if plan.tags:
        document["Tags"] = [{"Key": key, "Value": value} for key, value in plan.tags.items()]
    return document


def _image(plan: ParallelClusterPlan) -> dict[str, Any]:
    image = {"Os": plan.operating_system}
    return {**image, "CustomAmi": plan.custom_ami_id} if plan.custom_ami_id else image


class _BlockDumper(yaml.SafeDumper):
    """Indents lists below their key and writes no anchors."""

    def increase_indent(self, *given: bool, **named: bool) -> None:
        super().increase_indent(*given, **{**named, "indentless": False})

    def ignore_aliases(self, data: object) -> bool:
        return True


def planned_yaml(plan: ParallelClusterPlan) -> str:
    """Return the cluster configuration of a plan as YAML, before its resources exist.

    Each id that does not exist yet is a name in angle brackets; a comment at the top lists them.
    """
    existing = {each.name: each.subnet_id for each in plan.network.subnets if each.subnet_id}
    unknown: list[str] = []

    def value_of(reference: Reference) -> str:
        if reference.kind == "subnet" and reference.name in existing:
            return existing[reference.name]
        unknown.append(f"<{reference.kind} {reference.name}>")
        return unknown[-1]

    text = to_yaml(resolve(render_cluster(plan), value_of))
    if not unknown:
        return text
    listed = "".join(f"#   {each}\n" for each in dict.fromkeys(unknown))
    return f"# `up` creates these, and their ids are not known before:\n{listed}{text}"


def to_yaml(document: Mapping[str, Any]) -> str:
    """Return a cluster configuration as readable YAML that `pcluster create-cluster` accepts.

    Raises:
        UnresolvedReferenceError: a value is still a `Reference`.
    """
    open_values = references(document)
    if open_values:
        names = ", ".join(f"{each.kind} {each.name}" for each in open_values)
        raise UnresolvedReferenceError(
            f"the cluster file has no ids yet for: {names}; resolve the references first"
        )
    return yaml.dump(
        dict(document), Dumper=_BlockDumper, sort_keys=False, default_flow_style=False, width=100
    )
