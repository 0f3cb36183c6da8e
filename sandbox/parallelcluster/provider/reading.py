"""Reads a cluster configuration with ParallelCluster's own classes, which know every default."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from typing import Any

from trainyard.sandbox.parallelcluster.provider import model
from trainyard.sandbox.parallelcluster.provider.model import (
    Cluster,
    ComputeNodes,
    HeadNode,
    SharedStorage,
)

# The network interfaces that ParallelCluster gives its nodes.
#
# Source:
# https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/templates/queues_stack.py
# (`add_network_interfaces`) and `templates/cluster_stack.py` (`_add_head_node`).


@dataclass(frozen=True, slots=True)
class Card:
    """One network card of an instance type."""

    index: int
    maximum_interfaces: int


def compute_interfaces(
    cards: Sequence[Card],
    *,
    efa_enabled: bool,
    efa_on_first_card: bool,
    assign_public_ip: bool | None,
    combined: bool = False,
) -> tuple[dict[str, Any], ...]:
    """Return the interfaces of a compute node, with EC2's field names.

    Args:
        cards: The instance type's network cards, the first one first.
        efa_enabled: Whether the compute resource has EFA.
        efa_on_first_card: Whether the first card carries EFA.
        assign_public_ip: Setting of the queue; None for the subnet's default.
        combined: `DevSettings/EfaInterfaceType: efa`: EFA and addresses on the same interface.
    """
    on_first = efa_enabled and efa_on_first_card
    beside = on_first and not combined and cards[0].maximum_interfaces >= 2
    first: dict[str, Any] = {"DeviceIndex": 0, "NetworkCardIndex": 0}
    if on_first and not beside:
        first["InterfaceType"] = "efa"
    if assign_public_ip is not None:
        first["AssociatePublicIpAddress"] = assign_public_ip
    made = [first]
    if beside:
        made.append({"DeviceIndex": 1, "NetworkCardIndex": 0, "InterfaceType": "efa-only"})
    kind = ("efa" if combined else "efa-only") if efa_enabled else None
    made.extend(_further(card, kind) for card in cards[1:])
    return tuple(made)


def head_interfaces(cards: Sequence[Card]) -> tuple[dict[str, Any], ...]:
    """Return the interfaces of a head node: one per card, without EFA."""
    first = {"DeviceIndex": 0, "NetworkCardIndex": 0}
    return (first, *(_further(card, None) for card in cards[1:]))


def _further(card: Card, kind: str | None) -> dict[str, Any]:
    made = {
        "DeviceIndex": 0 if card.maximum_interfaces == 1 else 1,
        "NetworkCardIndex": card.index,
    }
    return {**made, "InterfaceType": kind} if kind else made


# Reads the shared storage that a cluster creates; existing storage is only mounted.
#
# Runs in the environment with aws-parallelcluster; source of every default:
# https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/templates/cluster_stack.py
# (`_add_managed_fsx`, `_add_efs_storage`, `_add_cfn_volume`, `_add_raid_volume`).


_RETAIN = "Retain"
_EXISTING = ("volume_id", "file_system_id", "file_cache_id")
"""Keys that name existing storage, which the cluster only mounts."""


def shared_storage(loaded: Any) -> Iterator[SharedStorage]:
    """Yield each file system and volume that the cluster of a loaded configuration creates."""
    for each in loaded.shared_storage or ():
        if any(getattr(each, attribute, None) for attribute in _EXISTING):
            continue
        kind = each.shared_storage_type.name
        if kind == "FSX":
            yield _lustre(loaded, each)
        elif kind == "EFS":
            yield _efs(loaded, each)
        else:
            yield from _volumes(loaded, each)


def _lustre(loaded: Any, fsx: Any) -> SharedStorage:
    drive_cache = (fsx.drive_cache_type or "NONE") if fsx.fsx_storage_type == "HDD" else None
    lustre = _given(
        {
            "DeploymentType": fsx.deployment_type,
            "DataCompressionType": fsx.data_compression_type,
            "ImportedFileChunkSize": fsx.imported_file_chunk_size,
            "ExportPath": fsx.export_path,
            "ImportPath": fsx.import_path,
            "WeeklyMaintenanceStartTime": fsx.weekly_maintenance_start_time,
            "AutomaticBackupRetentionDays": fsx.automatic_backup_retention_days,
            "CopyTagsToBackups": fsx.copy_tags_to_backups,
            "DailyAutomaticBackupStartTime": fsx.daily_automatic_backup_start_time,
            "PerUnitStorageThroughput": fsx.per_unit_storage_throughput,
            "AutoImportPolicy": fsx.auto_import_policy,
            "DriveCacheType": drive_cache,
        }
    )
    settings = _given(
        {
            "FileSystemType": "LUSTRE",
            "StorageCapacity": fsx.storage_capacity,
            "StorageType": fsx.fsx_storage_type,
            "KmsKeyId": fsx.kms_key_id,
            "FileSystemTypeVersion": fsx.file_system_type_version,
            "LustreConfiguration": lustre,
        }
    )
    return SharedStorage(
        kind="fsx",
        name=fsx.name,
        is_retained=fsx.deletion_policy == _RETAIN,
        settings=settings,
        subnet_ids=(loaded.compute_subnet_ids[0],),
        associations=tuple(map(_association, fsx.data_repository_associations or ())),
    )


def _association(association: Any) -> dict[str, Any]:
    policies = {
        "AutoExportPolicy": association.auto_export_policy,
        "AutoImportPolicy": association.auto_import_policy,
    }
    s3 = {name: {"Events": events} for name, events in policies.items() if events}
    return _given(
        {
            "BatchImportMetaDataOnCreate": association.batch_import_meta_data_on_create,
            "DataRepositoryPath": association.data_repository_path,
            "FileSystemPath": association.file_system_path,
            "ImportedFileChunkSize": association.imported_file_chunk_size,
            "S3": s3 or None,
            "Tags": [{"Key": "Name", "Value": association.name}],
        }
    )


def _efs(loaded: Any, efs: Any) -> SharedStorage:
    settings = _given(
        {
            "Encrypted": efs.encrypted,
            "KmsKeyId": efs.kms_key_id,
            "PerformanceMode": efs.performance_mode,
            "ThroughputMode": efs.throughput_mode,
            "ProvisionedThroughputInMibps": efs.provisioned_throughput,
        }
    )
    zone_of = import_module("pcluster.aws.aws_api").AWSApi.instance().ec2.get_subnet_avail_zone
    by_zone: dict[str, str] = {}
    for subnet_id in (*loaded.compute_subnet_ids, loaded.head_node.networking.subnet_id):
        by_zone.setdefault(zone_of(subnet_id), subnet_id)
    return SharedStorage(
        kind="efs",
        name=efs.name,
        is_retained=efs.deletion_policy == _RETAIN,
        settings=settings,
        subnet_ids=tuple(by_zone.values()),
    )


def _volumes(loaded: Any, ebs: Any) -> Iterator[SharedStorage]:
    settings = _given(
        {
            "AvailabilityZone": loaded.head_node.networking.availability_zone,
            "Encrypted": ebs.encrypted,
            "Iops": ebs.iops,
            "Throughput": ebs.throughput,
            "KmsKeyId": ebs.kms_key_id,
            "Size": ebs.size,
            "SnapshotId": ebs.snapshot_id,
            "VolumeType": ebs.volume_type,
        }
    )
    count = ebs.raid.number_of_volumes if ebs.raid else 1
    for number in range(count):
        yield SharedStorage(
            kind="ebs",
            name=ebs.name if count == 1 else f"{ebs.name}-{number}",
            is_retained=ebs.deletion_policy == _RETAIN,
            settings=settings,
            subnet_ids=(),
        )


def _given(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}


# Reads a cluster configuration with ParallelCluster's own classes, which know every default.
#
# Runs in the environment with aws-parallelcluster. Names of its attributes are those of
# https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/config/cluster_config.py


class NotInTheSandboxError(ValueError):
    """ParallelCluster accepts the configuration, but the emulation does not support the cluster."""


def read_cluster(name: str, config: Mapping[str, Any]) -> Cluster:
    """Return the cluster that a configuration describes.

    Args:
        name: Name of the cluster.
        config: A configuration that ParallelCluster's validators accept.

    Raises:
        NotInTheSandboxError: It uses a feature that is not emulated.
    """
    schema = import_module("pcluster.schemas.cluster_schema")
    # The loaded configuration writes into the mapping.
    loaded = schema.ClusterSchema(cluster_name=name).load(copy.deepcopy(dict(config)))
    if getattr(loaded, "login_nodes", None):
        raise NotInTheSandboxError(
            "the sandbox's stand-in for ParallelCluster has no login nodes; leave LoginNodes out"
        )
    tags = {**_tags(loaded), model.CLUSTER_NAME: name}
    logs = loaded.monitoring.logs.cloud_watch
    return Cluster(
        name=name,
        vpc_id=loaded.vpc_id,
        head_node=_head_node(loaded, tags),
        compute=tuple(_compute(name, loaded, tags)),
        storage=tuple(shared_storage(loaded)),
        has_log_group=loaded.is_cw_logging_enabled,
        keeps_logs=logs.deletion_policy == "Retain",
        log_retention_days=int(logs.retention_in_days),
        tags=tags,
    )


def _head_node(loaded: Any, tags: Mapping[str, str]) -> HeadNode:
    head = loaded.head_node
    return HeadNode(
        instance_type=head.instance_type,
        image_id=loaded.head_node_ami,
        subnet_id=head.networking.subnet_id,
        security_groups=tuple(head.networking.security_groups or ()),
        additional_security_groups=tuple(head.networking.additional_security_groups or ()),
        root_volume=_root_volume(head.local_storage.root_volume),
        interfaces=head_interfaces(_cards(head.network_cards_list)),
        tags={**tags, **_instance_tags(loaded, head, model.HEAD_NODE)},
        key_name=head.ssh.key_name,
        allowed_ips=head.ssh.allowed_ips,
        elastic_ip=head.networking.headnode_elastic_ip or False,
    )


def _compute(name: str, loaded: Any, tags: Mapping[str, str]) -> Iterator[ComputeNodes]:
    for queue in loaded.scheduling.queues:
        for resource in queue.compute_resources:
            yield _compute_nodes(name, loaded, queue, resource, tags)


def _compute_nodes(
    name: str, loaded: Any, queue: Any, resource: Any, tags: Mapping[str, str]
) -> ComputeNodes:
    group = queue.get_placement_group_settings_for_compute_resource(resource)
    own_tags = {
        model.QUEUE_NAME: queue.name,
        model.COMPUTE_RESOURCE_NAME: resource.name,
        **_tags(queue),
        **_tags(resource),
    }
    return ComputeNodes(
        queue=queue.name,
        name=resource.name,
        static_count=resource.min_count,
        instance_type=resource.instance_types[0],
        image_id=loaded.image_dict[queue.name],
        subnet_id=queue.networking.subnet_ids[0],
        security_groups=tuple(queue.networking.security_groups or ()),
        additional_security_groups=tuple(queue.networking.additional_security_groups or ()),
        root_volume=_root_volume(queue.compute_settings.local_storage.root_volume),
        interfaces=_compute_interfaces(loaded, queue, resource),
        launch=_launch(queue, resource),
        placement_group=f"{name}-{group['key']}" if group["is_managed"] else group["key"],
        makes_placement_group=bool(group["is_managed"]),
        tags={**tags, **own_tags, **_instance_tags(loaded, resource, model.COMPUTE)},
    )


def _compute_interfaces(loaded: Any, queue: Any, resource: Any) -> tuple[dict[str, Any], ...]:
    settings = loaded.dev_settings
    return compute_interfaces(
        _cards(resource.network_cards_list),
        efa_enabled=bool(resource.efa and resource.efa.enabled),
        efa_on_first_card=resource.max_efa_interfaces == resource.max_network_cards,
        assign_public_ip=queue.networking.assign_public_ip,
        combined=getattr(settings, "efa_interface_type", None) == "efa",
    )


def _cards(cards: Sequence[Any]) -> list[Card]:
    return [Card(each.network_card_index(), each.maximum_network_interfaces()) for each in cards]


def _launch(queue: Any, resource: Any) -> dict[str, Any]:
    """Return market and reservation; source: `launch_template_utils.py`."""
    found: dict[str, Any] = {}
    if queue.is_spot():
        spot = {"SpotInstanceType": "one-time", "InstanceInterruptionBehavior": "terminate"}
        if resource.spot_price is not None:
            spot["MaxPrice"] = str(resource.spot_price)
        found["InstanceMarketOptions"] = {"MarketType": "spot", "SpotOptions": spot}
    elif queue.is_capacity_block():
        found["InstanceMarketOptions"] = {"MarketType": "capacity-block"}
    target = resource.capacity_reservation_target or queue.capacity_reservation_target
    if target:
        wanted = {
            "CapacityReservationId": target.capacity_reservation_id,
            "CapacityReservationResourceGroupArn": target.capacity_reservation_resource_group_arn,
        }
        given = {key: value for key, value in wanted.items() if value}
        found["CapacityReservationSpecification"] = {"CapacityReservationTarget": given}
    return found


def _root_volume(volume: Any) -> dict[str, Any]:
    described = {
        "VolumeSize": volume.size,
        "Encrypted": volume.encrypted,
        "VolumeType": volume.volume_type,
        "Iops": volume.iops,
        "Throughput": volume.throughput,
        "DeleteOnTermination": volume.delete_on_termination,
    }
    return {key: value for key, value in described.items() if value is not None}


def _tags(config: Any) -> dict[str, str]:
    return {tag.key: tag.value for tag in config.get_tags() or ()}


def _instance_tags(loaded: Any, node: Any, node_type: str) -> dict[str, str]:
    efa = bool(getattr(node, "efa", None) and node.efa.enabled)
    return {
        "Name": node_type,
        model.NODE_TYPE: node_type,
        "parallelcluster:attributes": ", ".join(
            # All nodes of a cluster have the same architecture; only the head node has a single
            # type.
            (
                loaded.image.os,
                loaded.scheduling.scheduler,
                _version(),
                loaded.head_node.architecture,
            )
        ),
        "parallelcluster:networking": "EFA=true" if efa else "EFA=NONE",
    }


def _version() -> str:
    return metadata.version("aws-parallelcluster")
