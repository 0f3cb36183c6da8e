"""Reads a cluster configuration with ParallelCluster's own classes, which know every default.

Runs in the environment with aws-parallelcluster. Names of its attributes are those of
https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/config/cluster_config.py
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module, metadata
from typing import Any

from trainyard.sandbox.parallelcluster.provider import naming
from trainyard.sandbox.parallelcluster.provider.interfaces import (
    Card,
    compute_interfaces,
    head_interfaces,
)
from trainyard.sandbox.parallelcluster.provider.model import Cluster, ComputeNodes, HeadNode
from trainyard.sandbox.parallelcluster.provider.reading_storage import shared_storage


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
    tags = {**_tags(loaded), naming.CLUSTER_NAME: name}
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
        tags={**tags, **_instance_tags(loaded, head, naming.HEAD_NODE)},
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
        naming.QUEUE_NAME: queue.name,
        naming.COMPUTE_RESOURCE_NAME: resource.name,
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
        tags={**tags, **own_tags, **_instance_tags(loaded, resource, naming.COMPUTE)},
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
        naming.NODE_TYPE: node_type,
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
