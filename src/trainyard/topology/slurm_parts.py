"""What a Slurm cluster adds to the picture of its network."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.config.stack import PlacedStackConfig
from trainyard.components.parallelcluster.plan import ParallelClusterPlan, SharedStoragePlan
from trainyard.components.parallelcluster.queue_plan import QueuePlan
from trainyard.topology.box import Box, Occupant, Parts, Row
from trainyard.topology.node_boxes import nodes_box, placed

_CLUSTER = "trainyard:parallelcluster:SlurmCluster"
_NAMES = {
    "Ebs": "EBS volume of the head node",
    "Efs": "EFS",
    "FsxLustre": "FSx for Lustre",
    "FsxOpenZfs": "FSx for OpenZFS",
}
_SIZES = ("Size", "StorageCapacity")
_IDS = ("VolumeId", "FileSystemId")


def slurm_parts(config: PlacedStackConfig, plan: ParallelClusterPlan) -> Parts:
    """Return the cluster, the head node, the queues and the shared storage."""
    queues = (each for queue in plan.queues for each in _queue(queue, config))
    storage = (_storage(each, plan) for each in plan.shared_storage)
    return Parts(services=(_cluster(plan),), occupants=(_head_node(plan), *queues, *storage))


def _cluster(plan: ParallelClusterPlan) -> Box:
    monitoring = plan.monitoring
    watched = (("dashboard", monitoring.dashboard), ("alarms", monitoring.alarms))
    return Box(
        kind="control-plane",
        title=plan.name,
        caption="Slurm cluster of AWS ParallelCluster",
        lines=(
            f"ParallelCluster {plan.version}, deployed by CloudFormation",
            f"{plan.operating_system}, {plan.custom_ami_id or 'AMI of ParallelCluster'}",
            *(f"CloudWatch {name}" for name, on in watched if on),
        ),
        resource=f"{_CLUSTER}::{plan.name}",
    )


def _head_node(plan: ParallelClusterPlan) -> Occupant:
    head = plan.head_node
    box = Box(
        kind="control-plane",
        title="Head node",
        caption="Slurm controller",
        lines=(
            head.instance_type,
            f"{head.root_volume.size_gib} GiB root volume",
            "public address" if head.public else "Session Manager",
        ),
    )
    return Occupant(box=box, subnets=head.subnets, in_one=True)


def _queue(queue: QueuePlan, config: PlacedStackConfig) -> Iterator[Occupant]:
    pools = [
        (each, nodes_box(each, caption="compute resource")) for each in queue.compute_resources
    ]
    inside = [*placed(pools, config.reservations)]
    for subnets, in_one in dict.fromkeys((each.subnets, each.in_one) for each in inside):
        together = tuple(
            each.box for each in inside if (each.subnets, each.in_one) == (subnets, in_one)
        )
        box = Box(kind="queue", title=queue.name, caption="queue", rows=(Row(boxes=together),))
        yield Occupant(box=box, subnets=subnets, in_one=in_one)


def _storage(storage: SharedStoragePlan, plan: ParallelClusterPlan) -> Occupant:
    settings = storage.settings
    own = next((each for each in plan.open_zfs if each.name == storage.name), None)
    existing = next((str(settings[key]) for key in _IDS if key in settings and own is None), "")
    size = next((settings[key] for key in _SIZES if key in settings), None)
    size = own.storage_capacity_gib if own else size
    box = Box(
        kind="storage",
        title=existing or storage.name,
        caption=_NAMES[storage.type],
        lines=(*([f"{size} GiB"] if size else []), storage.mount_directory),
        outside=bool(existing),
        resource=f"trainyard:storage:OpenZfs::{plan.name}-{storage.name}" if own else "",
    )
    return Occupant(box=box, subnets=_subnets(storage, plan, existing=existing), in_one=True)


def _subnets(
    storage: SharedStoragePlan, plan: ParallelClusterPlan, *, existing: str
) -> tuple[str, ...]:
    """Return the subnets of storage; none if it is in several zones or only the account knows.

    ParallelCluster creates FSx for Lustre in the subnet of the queues, which must be the same:
    https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/templates/cluster_stack.py
    """
    for own in plan.open_zfs:
        if own.name == storage.name:
            return own.subnets
    if storage.type == "Ebs":  # attached to the head node, in its zone
        return plan.head_node.subnets
    if existing or storage.type == "Efs":
        return ()
    return plan.queues[0].subnets
