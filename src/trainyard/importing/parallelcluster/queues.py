"""The queues of a ParallelCluster configuration, with their compute resources."""

from __future__ import annotations

from typing import get_args

from trainyard.components.config.parallelcluster_nodes import Queue
from trainyard.importing.draft import Draft
from trainyard.importing.parallelcluster.capacity import read_purchase_option
from trainyard.importing.parallelcluster.nodes import (
    read_permissions,
    read_root_volume,
    read_scripts,
)
from trainyard.importing.reader import Reader

DEFAULT_MAXIMUM = 10
"""`MaxCount` of a compute resource that sets none, in aws-parallelcluster 3.16.1
(`pcluster/config/cluster_config.py`)."""
_STRATEGIES = get_args(get_args(Queue.model_fields["allocation_strategy"].annotation)[0])


def read_queue(source: Reader, queues: Draft, cluster: Draft, network: Draft) -> None:
    """Read one entry of `SlurmQueues`."""
    name = str(source.at("Name").value)
    queue = queues.section(name, source)
    source.at("Name").claim("taken over", ours=queue.at)
    resources = list(source.at("ComputeResources").items())
    read_purchase_option(source, resources, queue, cluster)
    _read_strategy(source.at("AllocationStrategy"), queue)
    _read_place(source.at("Networking"), resources, queue, network)
    storage = source.at("ComputeSettings", "LocalStorage")
    read_root_volume(storage.at("RootVolume"), queue)
    queue.take("scratch_directory", storage.at("EphemeralVolume", "MountDir"))
    queue.take_flag("exclusive_jobs", source.at("JobExclusiveAllocation"))
    queue.take_flag("gpu_health_check", source.at("HealthChecks", "Gpu", "Enabled"))
    queue.take_id("custom_ami_id", source.at("Image", "CustomAmi"), "ami")
    read_permissions(source.at("Iam"), queue)
    read_scripts(source.at("CustomActions"), queue)
    _read_settings(source.at("CustomSlurmSettings"), queue)
    for resource in resources:
        _read_resource(resource, source.at("Networking", "PlacementGroup"), queue)


def _read_strategy(source: Reader, queue: Draft) -> None:
    if source.value in _STRATEGIES:
        queue.take("allocation_strategy", source)
    source.unsupported(f"choose one of {', '.join(_STRATEGIES)} in `allocation_strategy`")


def _read_place(source: Reader, resources: list[Reader], queue: Draft, network: Draft) -> None:
    subnets = list(source.at("SubnetIds").items())
    queue.take_ids("subnet_ids", subnets, "subnet")
    listed = network.values.setdefault("private_subnet_ids", [])
    listed += [each for each in queue.values.get("subnet_ids", ()) if each not in listed]
    if not listed:
        del network.values["private_subnet_ids"]
    public = source.at("AssignPublicIp")
    if public.flag is False:
        public.implied("nodes launch in private subnets, without public addresses")
    with_efa = any(resource.at("Efa", "Enabled").flag for resource in resources)
    public.unsupported(
        "nodes launch in private subnets: name a private subnet in `subnet_ids`, and reach AWS "
        "through a NAT gateway or endpoints",
        rule="A10" if with_efa else "",
    )


def _read_resource(source: Reader, of_queue: Reader, queue: Draft) -> None:
    name = str(source.at("Name").value)
    resource = queue.section("compute_resources").section(name, source)
    source.at("Name").claim("taken over", ours=resource.at)
    _read_instance_type(source, resource)
    resource.take("minimum", source.at("MinCount"))
    if not resource.take("maximum", source.at("MaxCount")):
        least = source.at("MinCount").value
        resource.put("maximum", max(DEFAULT_MAXIMUM, least if isinstance(least, int) else 0))
    efa = source.at("Efa", "Enabled")
    resource.take_flag("efa_enabled", efa)
    _claim_rdma(source.at("Efa", "GdrSupport"), with_efa=bool(efa.flag))
    resource.take(
        "simultaneous_multithreading",
        source.at("DisableSimultaneousMultithreading"),
        change=lambda _: not source.at("DisableSimultaneousMultithreading").flag,
    )
    resource.take("schedulable_memory_mib", source.at("SchedulableMemory"))
    own = source.at("Networking", "PlacementGroup")
    _read_placement(own if own.exists else of_queue, resource)
    health = source.at("HealthChecks", "Gpu", "Enabled")
    if health.exists and health.flag == queue.values.get("gpu_health_check", False):
        health.implied("the queue has the same setting")
    _read_settings(source.at("CustomSlurmSettings"), resource)


def _read_instance_type(source: Reader, resource: Draft) -> None:
    first, *others = [*source.at("Instances").items()] or [None]
    resource.take("instance_type", source.at("InstanceType"))
    if first is not None:
        resource.take("instance_type", first.at("InstanceType"))
    for other in filter(None, others):
        other.unsupported(
            "a compute resource has one instance type: add another compute resource for "
            f"{other.at('InstanceType').value}",
            rule="B6" if source.at("Efa", "Enabled").flag else "",
        )


def _claim_rdma(source: Reader, *, with_efa: bool) -> None:
    if source.flag and not with_efa:
        source.claim("dropped", "GPUDirect RDMA is a feature of EFA, which is off", rule="A3")
    source.dropped("EFA enables GPUDirect RDMA on every type that supports it")


def _read_placement(source: Reader, resource: Draft) -> None:
    """Read `PlacementGroup` of a queue or a compute resource."""
    if not source.exists:
        return
    placement = resource.section("placement", source)
    enabled = source.at("Enabled")
    name = source.at("Id") if source.at("Id").exists else source.at("Name")
    if enabled.flag is False:
        placement.take("group", enabled, change=lambda _: "none")
        name.claim("dropped", "the placement group is disabled", rule="B2")
    elif name.exists:
        placement.put("group", "existing")
        placement.take("name", name)
        enabled.claim("taken over", ours=(*placement.at, "group"))
    elif enabled.flag:
        placement.take("group", enabled, change=lambda _: "create")
    else:
        del resource.values["placement"]
    # Claimed already, unless `Id` is also given.
    source.at("Name").claim("dropped", "`Id` names the placement group", rule="B1")


def _read_settings(source: Reader, nodes: Draft) -> None:
    for name, value in source.entries():
        if isinstance(value.value, dict | list):
            value.unsupported(f"`slurm_settings` has text: write the value of `{name}` as one text")
        else:
            nodes.section("slurm_settings").take(name, value)
