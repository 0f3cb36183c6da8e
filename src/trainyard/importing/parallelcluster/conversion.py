"""A ParallelCluster configuration as a stack file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from trainyard.components.config.parallelcluster import OperatingSystem, Queue
from trainyard.components.parallelcluster.rendering import (
    COMPUTE_RESOURCE_KEYS,
    HEAD_NODE_KEYS,
    MONITORING_KEYS,
    QUEUE_KEYS,
    SLURM_KEYS,
)
from trainyard.importing.draft import Draft, StackDraft
from trainyard.importing.key_table import KeyTable, keys_beside
from trainyard.importing.report import OutcomeTable, Reader, outcomes_beside
from trainyard.importing.source import Document, id_for, is_placeholder

_TARGET = "CapacityReservationTarget"
_ID, _GROUP = "CapacityReservationId", "CapacityReservationResourceGroupArn"
_OPEN = {None: "on-demand", "ONDEMAND": "on-demand", "SPOT": "spot"}
"""`purchase_option` by `CapacityType` without a reservation."""


def _read_purchase_option(
    source: Reader, resources: Sequence[Reader], queue: Draft, cluster: Draft
) -> None:
    """Read `CapacityType` and the targets of a queue and its compute resources."""
    kind = source.at("CapacityType")
    market = str(kind.value or "ONDEMAND")
    is_block = market == "CAPACITY_BLOCK"
    name = str(source.at("Name").value)
    target = source.at(_TARGET)
    below = queue.section("compute_resources", source.at("ComputeResources"))
    first = _read_target(target, market, name, queue, cluster)
    for resource in resources:
        own = str(resource.at("Name").value)
        section = below.section(own)
        found = _read_target(resource.at(_TARGET), market, f"{name}-{own}", section, cluster)
        if is_block and first is None:
            first = found
    if first is None and is_block:
        first = _reservation(f"{name}-block", "capacity-block", cluster)
        cluster.section("reservations").section(first).needs("reservation_id", id_for("cr"))
        kind.claim("taken over", _UNNAMED, ours=(*queue.at, "purchase_option"), rule="D1")
    queue.put("purchase_option", first or _OPEN.get(market, "on-demand"))
    kind.claim("taken over", ours=(*queue.at, "purchase_option"))


_UNNAMED = (
    "a Capacity Block needs its reservation: set CapacityReservationTarget.CapacityReservationId"
)


def _read_target(source: Reader, market: str, name: str, pool: Draft, cluster: Draft) -> str | None:
    """Read a target into `reservations` and a pool, and return the name of the reservation."""
    by_id, by_group = source.at(_ID), source.at(_GROUP)
    target = by_id if by_id.exists else by_group
    if not target.exists:
        return None
    if market == "SPOT":
        source.claim("dropped", "Spot Instances do not launch into reservations", rule="C15")
        return None
    if by_id.exists and by_group.exists:
        by_group.claim("dropped", "a launch targets an id or a group, not both", rule="C8")
    kind = "capacity-block" if market == "CAPACITY_BLOCK" else "odcr"
    key = "group_arn" if target is by_group else "reservation_id"
    if target is by_group:
        name, kind = f"{name}-group", "odcr-group"
    name = _known(target, key, cluster) or name
    name = _reservation(name, kind, cluster)
    reservation = cluster.section("reservations").section(name)
    if key == "reservation_id":
        reservation.take_id(key, target, "cr")
    else:
        reservation.take(key, target)
    pool.put("purchase_option", name)
    return name


def _known(target: Reader, key: str, cluster: Draft) -> str | None:
    """Return the name of a reservation that is already in the stack file."""
    if is_placeholder(target.value):
        return None
    listed = cluster.values.get("reservations", {}).items()
    return next((name for name, each in listed if each.get(key) == target.value), None)


def _reservation(name: str, kind: str, cluster: Draft) -> str:
    """Add a reservation to the stack file, and return its name."""
    cluster.section("reservations").section(name).values.setdefault("kind", kind)
    return name


_AWS_POLICY = re.compile(r"arn:aws[\w-]*:iam::aws:policy/(?P<name>.+)")


def _read_root_volume(source: Reader, nodes: Draft) -> None:
    """Read `RootVolume`; root volumes of stacks are gp3 and encrypted."""
    if not source.exists:
        return
    volume = nodes.section("root_volume")
    size = source.at("Size")
    if isinstance(size.value, int) and size.value < 20:
        volume.better("size_gib", size, 20, "the AMIs of ParallelCluster need more", rule="E16")
    else:
        volume.take("size_gib", size)
    kind = source.at("VolumeType")
    if kind.value == "gp3":
        kind.implied("root volumes are gp3")
    else:
        kind.claim("taken over better", "root volumes are gp3: faster and cheaper than others")
    is_gp3 = kind.value in (None, "gp3")
    _read_performance(source.at("Iops"), "iops", 3000, volume, is_gp3=is_gp3)
    _read_performance(source.at("Throughput"), "throughput_mibps", 125, volume, is_gp3=is_gp3)
    encrypted = source.at("Encrypted")
    if encrypted.flag is False:
        encrypted.claim("taken over better", "root volumes are encrypted", rule="E16")
    encrypted.implied("root volumes are encrypted")
    deleted = source.at("DeleteOnTermination")
    if deleted.flag is False:
        deleted.unsupported("keep data in `storage`: the root volume is deleted with the node")
    deleted.implied("the root volume is deleted with the node")
    if not volume.values:
        del nodes.values["root_volume"]


def _read_performance(source: Reader, key: str, least: int, volume: Draft, *, is_gp3: bool) -> None:
    if is_gp3 or (isinstance(source.value, int) and source.value >= least):
        volume.take(key, source)
    else:
        source.claim("taken over better", f"a gp3 volume has at least {least} without a key")


def _read_permissions(source: Reader, nodes: Draft) -> None:
    """Read the policies and buckets of `Iam`."""
    policies = list(source.at("AdditionalIamPolicies").items())
    for policy in policies:
        named = nodes.values.setdefault("iam_policies", [])
        arn = policy.at("Policy")
        named.append(_policy_name(str(arn.value)))
        arn.claim("taken over", ours=(*nodes.at, "iam_policies", len(named) - 1))
    buckets: list[dict[str, Any]] = []
    for index, bucket in enumerate(source.at("S3Access").items()):
        entry = Draft({}, (*nodes.at, "s3_access", index), nodes.unknown)
        entry.take("bucket", bucket.at("BucketName"))
        entry.take("key", bucket.at("KeyName"), change=lambda key: str(key).removeprefix("/"))
        entry.take_flag("write", bucket.at("EnableWriteAccess"))
        buckets.append(entry.values)
    if buckets:
        nodes.put("s3_access", buckets)


def _policy_name(arn: str) -> str:
    match = _AWS_POLICY.fullmatch(arn)
    return match["name"] if match else arn


def _read_scripts(source: Reader, nodes: Draft) -> None:
    """Read `CustomActions`, whose events have one script or a sequence of them."""
    events = {"OnNodeStart": "on_node_start", "OnNodeConfigured": "on_node_configured"}
    for theirs, ours in events.items():
        event = source.at(theirs)
        single = [event] if event.at("Script").exists else []
        scripts = [*single, *event.at("Sequence").items()]
        if not scripts:
            continue
        actions = nodes.section("custom_actions")
        entries: list[dict[str, Any]] = []
        for index, script in enumerate(scripts):
            entry = Draft({}, (*actions.at, ours, index), nodes.unknown)
            entry.take("script", script.at("Script"))
            entry.take("arguments", script.at("Args"))
            entries.append(entry.values)
        actions.put(ours, entries)


_DEFAULT_MAXIMUM = 10
"""`MaxCount` of a compute resource that sets none, in aws-parallelcluster 3.16.1
(`pcluster/config/cluster_config.py`)."""
_STRATEGIES = get_args(get_args(Queue.model_fields["allocation_strategy"].annotation)[0])


def _read_queue(source: Reader, queues: Draft, cluster: Draft, network: Draft) -> None:
    """Read one entry of `SlurmQueues`."""
    name = str(source.at("Name").value)
    queue = queues.section(name, source)
    source.at("Name").claim("taken over", ours=queue.at)
    resources = list(source.at("ComputeResources").items())
    _read_purchase_option(source, resources, queue, cluster)
    _read_strategy(source.at("AllocationStrategy"), queue)
    _read_place(source.at("Networking"), resources, queue, network)
    storage = source.at("ComputeSettings", "LocalStorage")
    _read_root_volume(storage.at("RootVolume"), queue)
    queue.take("scratch_directory", storage.at("EphemeralVolume", "MountDir"))
    queue.take_flag("exclusive_jobs", source.at("JobExclusiveAllocation"))
    queue.take_flag("gpu_health_check", source.at("HealthChecks", "Gpu", "Enabled"))
    queue.take_id("custom_ami_id", source.at("Image", "CustomAmi"), "ami")
    _read_permissions(source.at("Iam"), queue)
    _read_scripts(source.at("CustomActions"), queue)
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
        resource.put("maximum", max(_DEFAULT_MAXIMUM, least if isinstance(least, int) else 0))
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


def _read_head_node(source: Reader, image: Reader, architecture: Draft, network: Draft) -> None:
    """Read `HeadNode`; `image` is the AMI of the cluster."""
    node = architecture.section("head_node", source)
    node.take("instance_type", source.at("InstanceType"))
    _claim_flag(
        source.at("DisableSimultaneousMultithreading"),
        "the head node runs two threads per core",
        "a stack has no key for it: choose an instance type with enough memory per vCPU",
    )
    networking = source.at("Networking")
    node.take_id("subnet_id", networking.at("SubnetId"), "subnet")
    if "subnet_id" in node.values:
        network.values["public_subnet_ids"].append(node.values["subnet_id"])
    _claim_flag(
        networking.at("ElasticIp"),
        "the head node has no Elastic IP address",
        "a public subnet gives the head node an address that changes when it is replaced; "
        "connect with Session Manager (`./trainyard ssm`), which needs none",
    )
    _read_ssh(source.at("Ssh"), node)
    _read_root_volume(source.at("LocalStorage", "RootVolume"), node)
    _read_permissions(source.at("Iam"), node)
    _read_scripts(source.at("CustomActions"), node)
    if source.at("SharedStorageType").value == "Ebs":
        source.at("SharedStorageType").implied("it is ParallelCluster's default")
    ami = source.at("Image", "CustomAmi")
    if ami.exists and ami.value == image.value:
        ami.implied("the cluster has the same AMI")
    secured = source.at("Imds", "Secured")
    if secured.flag is not False:
        secured.implied("it is ParallelCluster's default")


def _read_ssh(source: Reader, node: Draft) -> None:
    ssh = node.section("ssh")
    ssh.take("key_name", source.at("KeyName"))
    allowed = source.at("AllowedIps")
    if str(allowed.value or "").startswith("pl-"):
        allowed.unsupported("a stack has one CIDR block in `ssh.allowed_cidr`, no prefix list")
    else:
        ssh.take("allowed_cidr", allowed)
    if source.at("KeyName").exists and not allowed.exists:
        source.report.notes.append(
            "HeadNode.Ssh.AllowedIps is missing: ParallelCluster then opens SSH to every address, "
            "the stack to none; set `architecture.head_node.ssh.allowed_cidr` to your network"
        )
    if not ssh.values:
        del node.values["ssh"]


def _claim_flag(source: Reader, implied: str, unsupported: str) -> None:
    """Record a setting that a stack does not have: false is what the stack does anyway."""
    if source.flag is False:
        source.implied(implied)
    source.unsupported(unsupported)


_EBS_KEYS: Mapping[str, str] = {
    "VolumeType": "volume_type",
    "Size": "size_gib",
    "Iops": "iops",
    "Throughput": "throughput_mibps",
    "Encrypted": "encrypted",
}
_EFS_KEYS: Mapping[str, str] = {
    "Encrypted": "encrypted",
    "PerformanceMode": "performance_mode",
    "ThroughputMode": "throughput_mode",
    "ProvisionedThroughput": "provisioned_throughput_mibps",
}
_EFS_MOUNT: Mapping[str, str] = {
    "EncryptionInTransit": "encryption_in_transit",
    "IamAuthorization": "iam_authorization",
}
_LUSTRE_KEYS: Mapping[str, str] = {
    "StorageCapacity": "storage_capacity_gib",
    "DeploymentType": "deployment_type",
    "StorageType": "storage_type",
    "PerUnitStorageThroughput": "per_unit_storage_throughput",
    "DriveCacheType": "drive_cache",
    "DataCompressionType": "compression",
    "ImportPath": "import_path",
    "ExportPath": "export_path",
    "AutoImportPolicy": "auto_import",
    "WeeklyMaintenanceStartTime": "weekly_maintenance",
    "AutomaticBackupRetentionDays": "backup_retention_days",
    "DailyAutomaticBackupStartTime": "backup_time",
}
"""Keys of the stack file by the keys of the settings."""
_DEFAULT_SIZE_GIB = 40
"""Size of a volume that sets none, in aws-parallelcluster 3.16.1 (`pcluster/constants.py`)."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
"""Characters that ParallelCluster accepts in a name, as in `/data` (`SharedStorageNameValidator`),
but an entry of `storage` does not have."""
_NO_ARN = "write the ARN of the key into `kms_key_arn`: an id or an alias is not sufficient"


_VOLUMES = {"FsxOpenZfs": "existing-fsx-openzfs"}
"""The types of which ParallelCluster mounts a volume, and creates none, by their kind here."""


def _read_storage(source: Reader, cluster: Draft) -> None:
    """Read one entry of `SharedStorage`."""
    readers = {"Ebs": _read_ebs, "Efs": _read_efs, "FsxLustre": _read_lustre}
    kind = source.at("StorageType").value
    name = str(source.at("Name").value)
    if kind not in readers and kind not in _VOLUMES:
        source.unsupported(
            f"a stack has no {kind}: mount it with a script in `custom_actions`, or move the data "
            "to `fsx-lustre`, `fsx-openzfs` or `efs`"
        )
        return
    plain = _NOT_IN_NAMES.sub("-", name).strip("-_") or "storage"
    entry = cluster.section("storage").section(plain, source)
    why = "" if plain == name else "entries are named with letters, digits, `-` and `_`"
    source.at("Name").claim("taken over", why, ours=entry.at)
    entry.take("mount_directory", source.at("MountDir"), change=_absolute)
    if kind in _VOLUMES:
        entry.put("kind", _VOLUMES[kind])
        _take_object(entry, "volume_id", source.at(f"{kind}Settings", "VolumeId"))
    else:
        readers[kind](source.at(f"{kind}Settings"), entry)
    source.at("StorageType").claim("taken over", ours=(*entry.at, "kind"))


def _absolute(directory: Any) -> Any:
    """Return a directory with a slash at the beginning, which ParallelCluster adds itself."""
    text = str(directory)
    return text if text.startswith("/") else f"/{text}"


def _take_object(entry: Draft, key: str, source: Reader) -> None:
    """Set the id of an existing object, which `check` refuses if it is none."""
    if not entry.take(key, source):
        entry.needs(key, "")


def _read_ebs(source: Reader, entry: Draft) -> None:
    if source.at("VolumeId").exists:
        entry.put("kind", "existing-ebs")
        _take_object(entry, "volume_id", source.at("VolumeId"))
        _drop_others(source, "an existing volume keeps its own settings")
        return
    entry.put("kind", "ebs")
    _take_all(source, entry, _EBS_KEYS)
    if not entry.has("size_gib"):
        entry.put("size_gib", _DEFAULT_SIZE_GIB)
    _take_key(source.at("KmsKeyId"), entry)
    raid = source.at("Raid")
    if raid.exists:
        array = entry.section("raid", raid)
        array.take("type", raid.at("Type"))
        array.take("number_of_volumes", raid.at("NumberOfVolumes"))
    _take_policy(source.at("DeletionPolicy"), entry)


def _read_efs(source: Reader, entry: Draft) -> None:
    existing = source.at("FileSystemId")
    entry.put("kind", "existing-efs" if existing.exists else "efs")
    for theirs, ours in _EFS_MOUNT.items():
        entry.take_flag(ours, source.at(theirs))
    if existing.exists:
        entry.take("file_system_id", existing)
        entry.take("access_point_id", source.at("AccessPointId"))
        _drop_others(source, "an existing file system keeps its own settings")
        return
    _take_all(source, entry, _EFS_KEYS)
    _take_key(source.at("KmsKeyId"), entry)
    _take_policy(source.at("DeletionPolicy"), entry)


def _read_lustre(source: Reader, entry: Draft) -> None:
    if source.at("FileSystemId").exists:
        entry.put("kind", "existing-fsx-lustre")
        entry.take("file_system_id", source.at("FileSystemId"))
        _drop_others(source, "an existing file system keeps its own settings", rule="F6")
        return
    entry.put("kind", "fsx-lustre")
    _take_all(source, entry, _LUSTRE_KEYS)
    if not entry.has("deployment_type"):
        # The default of ParallelCluster; that of the stack file is PERSISTENT_2.
        entry.put("deployment_type", "SCRATCH_2")
    _take_key(source.at("KmsKeyId"), entry)
    _take_policy(source.at("DeletionPolicy"), entry)
    linked: list[dict[str, Any]] = []
    for index, each in enumerate(source.at("DataRepositoryAssociations").items()):
        link = Draft({}, (*entry.at, "data_repositories", index), entry.unknown)
        link.take("s3_path", each.at("DataRepositoryPath"))
        link.take("file_system_path", each.at("FileSystemPath"))
        # Without a policy, ParallelCluster imports nothing.
        if not link.take("import_events", each.at("AutoImportPolicy")):
            link.put("import_events", [])
        link.take("export_events", each.at("AutoExportPolicy"))
        linked.append(link.values)
    if linked:
        entry.put("data_repositories", linked)


def _take_all(source: Reader, entry: Draft, keys: Mapping[str, str]) -> None:
    for theirs, ours in keys.items():
        value = source.at(theirs)
        if theirs == "Encrypted":
            entry.take_flag(ours, value)
        else:
            entry.take(ours, value)


def _take_key(source: Reader, entry: Draft) -> None:
    if str(source.value or "").startswith("arn:"):
        entry.take("kms_key_arn", source)
    source.unsupported(_NO_ARN)


def _take_policy(source: Reader, entry: Draft) -> None:
    if source.value == "Snapshot":
        entry.put("final_snapshot", value=True)
    entry.take("deletion_protection", source, change=lambda policy: policy == "Retain")


def _drop_others(source: Reader, why: str, *, rule: str = "") -> None:
    for _, value in source.entries():
        value.claim("dropped", why, rule=rule)


KEYS = KeyTable(keys_beside(__file__))
OUTCOMES = OutcomeTable(outcomes_beside(__file__))
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
        for table in (_EBS_KEYS, _EFS_KEYS, _EFS_MOUNT, _LUSTRE_KEYS)
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
    _read_head_node(source.at("HeadNode"), source.at("Image", "CustomAmi"), architecture, network)
    _read_scheduling(source.at("Scheduling"), architecture, cluster, network)
    for entry in source.at("SharedStorage").items():
        _read_storage(entry, cluster)
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
            f"ParallelCluster 3.16 has no `{system.value}`; the stack file has the default, "
            f"alinux2023; choose one of {', '.join(supported)}, and test your scripts with it",
            rule="E4",
            is_note=True,
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
    if not slurm.values.get("settings", True):
        del slurm.values["settings"]
    if not slurm.values:
        del architecture.values["slurm"]
    queues = architecture.section("queues")
    for queue in source.at("SlurmQueues").items():
        _read_queue(queue, queues, cluster, network)
    if not queues.values:
        architecture.needs("queues", _ANY_QUEUE)
    network.needs("private_subnet_ids", [id_for("subnet", 1)])


_ANY_QUEUE = {
    "queue": {"compute_resources": {"nodes": {"instance_type": "c5.large", "maximum": 1}}}
}


_LINES = ("nodeset", "partitionname", "nodename", "downnodes")
"""Lowercase names of the parameters whose line of slurm.conf has others, such as `Nodes`:
https://slurm.schedmd.com/slurm.conf.html"""


def _read_parameters(entry: Reader, slurm: Draft) -> None:
    """Read an entry of `CustomSlurmSettings`, which ParallelCluster writes as one line."""
    settings = slurm.section("settings")
    given = dict(entry.entries())
    first = next((name for name in given if name.lower() in _LINES), None)
    is_plain = not any(isinstance(value.value, dict | list) for value in given.values())
    if first is not None and len(given) > 1 and is_plain and not settings.has(first):
        others = [f"{name}={value.value}" for name, value in given.items() if name != first]
        settings.take(first, given[first], change=lambda value: " ".join((str(value), *others)))
        for value in given.values():
            value.claim("taken over", "one line of slurm.conf", ours=(*settings.at, first))
        return
    for name, value in given.items():
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
