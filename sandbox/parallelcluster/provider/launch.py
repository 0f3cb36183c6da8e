"""The instances of a cluster, with a launch template per kind of node, as in ParallelCluster.

Source: https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/templates/queues_stack.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.sandbox.parallelcluster.provider import naming
from trainyard.sandbox.parallelcluster.provider.account import Clients
from trainyard.sandbox.parallelcluster.provider.model import Cluster, ComputeNodes, HeadNode, Node
from trainyard.sandbox.parallelcluster.provider.network import Groups

_ALIVE = [{"Name": "instance-state-name", "Values": ["pending", "running", "stopping", "stopped"]}]


def launch_head_node(clients: Clients, cluster: Cluster, groups: Groups) -> None:
    """Launch the head node, and assign an address if it requests one."""
    head = cluster.head_node
    data = _template_data(clients, head, groups.of(head, groups.head_node))
    if head.key_name:
        data["KeyName"] = head.key_name
    instances = _launch(clients, cluster, f"{cluster.name}-HeadNode", data, 1)
    _give_address(clients, cluster, head, instances[0]["InstanceId"])


def launch_compute(
    clients: Clients, cluster: Cluster, nodes: ComputeNodes, groups: Groups, count: int
) -> None:
    """Launch static nodes of a compute resource; create the template if it does not exist.

    Raises:
        ClientError: EC2 rejects the launch, or has no capacity.
    """
    data = _template_data(clients, nodes, groups.of(nodes, groups.compute))
    data |= nodes.launch
    if nodes.placement_group:
        data["Placement"] = {"GroupName": nodes.placement_group}
    _launch(clients, cluster, _template_name(cluster.name, nodes), data, count)


def make_placement_group(clients: Clients, cluster: Cluster, nodes: ComputeNodes) -> None:
    """Create the placement group of a compute resource if the cluster owns it and it is missing."""
    ec2 = clients("ec2")
    if nodes.makes_placement_group and not _placement_groups(ec2, nodes):
        ec2.create_placement_group(
            GroupName=nodes.placement_group,
            Strategy="cluster",
            TagSpecifications=[naming.tagged("placement-group", cluster.tags)],
        )


def remove_compute(clients: Clients, cluster: str, nodes: ComputeNodes) -> None:
    """Remove all nodes of a compute resource with its launch template and placement group."""
    ec2 = clients("ec2")
    terminate(clients, [each["InstanceId"] for each in compute_instances(clients, cluster, nodes)])
    if nodes.makes_placement_group and _placement_groups(ec2, nodes):
        ec2.delete_placement_group(GroupName=nodes.placement_group)
    names = [_template_name(cluster, nodes)]
    for each in _templates(ec2, [{"Name": "launch-template-name", "Values": names}]):
        ec2.delete_launch_template(LaunchTemplateId=each["LaunchTemplateId"])


def compute_instances(clients: Clients, cluster: str, nodes: ComputeNodes) -> list[dict[str, Any]]:
    """Return the nodes of a compute resource that are not terminated."""
    return _instances(
        clients,
        cluster,
        {naming.QUEUE_NAME: nodes.queue, naming.COMPUTE_RESOURCE_NAME: nodes.name},
    )


def head_node(clients: Clients, cluster: str) -> dict[str, Any] | None:
    """Return the head node as EC2 describes it, or None."""
    found = _instances(clients, cluster, {naming.NODE_TYPE: naming.HEAD_NODE})
    return found[0] if found else None


def terminate(clients: Clients, instance_ids: Sequence[str]) -> None:
    """Terminate instances, and wait until they are terminated."""
    if instance_ids:
        ec2 = clients("ec2")
        ec2.terminate_instances(InstanceIds=list(instance_ids))
        ec2.get_waiter("instance_terminated").wait(InstanceIds=list(instance_ids))


def remove_instances(clients: Clients, cluster: str) -> None:
    """Remove every instance of a cluster, its addresses, placement groups and templates."""
    ec2, of_cluster = clients("ec2"), naming.of_cluster(cluster)
    for address in ec2.describe_addresses(Filters=of_cluster)["Addresses"]:
        if "AssociationId" in address:
            ec2.disassociate_address(AssociationId=address["AssociationId"])
        ec2.release_address(AllocationId=address["AllocationId"])
    terminate(clients, [each["InstanceId"] for each in _instances(clients, cluster, {})])
    for group in ec2.describe_placement_groups(Filters=of_cluster)["PlacementGroups"]:
        ec2.delete_placement_group(GroupName=group["GroupName"])
    for each in _templates(ec2, of_cluster):
        ec2.delete_launch_template(LaunchTemplateId=each["LaunchTemplateId"])


def _launch(
    clients: Clients, cluster: Cluster, name: str, data: Mapping[str, Any], count: int
) -> list[dict[str, Any]]:
    ec2 = clients("ec2")
    if not _templates(ec2, [{"Name": "launch-template-name", "Values": [name]}]):
        ec2.create_launch_template(
            LaunchTemplateName=name,
            LaunchTemplateData=data,
            TagSpecifications=[naming.tagged("launch-template", cluster.tags)],
        )
    if not count:
        return []
    return ec2.run_instances(
        LaunchTemplate={"LaunchTemplateName": name, "Version": "$Latest"},
        MinCount=count,
        MaxCount=count,
    )["Instances"]


def _template_data(clients: Clients, node: Node, groups: Sequence[str]) -> dict[str, Any]:
    volume_tags = {
        key: node.tags[key] for key in (naming.CLUSTER_NAME, naming.NODE_TYPE) if key in node.tags
    }
    return {
        "InstanceType": node.instance_type,
        "ImageId": node.image_id,
        "NetworkInterfaces": [
            {**interface, "SubnetId": node.subnet_id, "Groups": list(groups)}
            for interface in node.interfaces
        ],
        "BlockDeviceMappings": _root_device(clients, node),
        "MetadataOptions": {"HttpTokens": "required"},
        "TagSpecifications": [
            naming.tagged("instance", node.tags),
            naming.tagged("volume", volume_tags),
        ],
    }


def _root_device(clients: Clients, node: Node) -> list[dict[str, Any]]:
    (image,) = clients("ec2").describe_images(ImageIds=[node.image_id])["Images"]
    return [{"DeviceName": image["RootDeviceName"], "Ebs": dict(node.root_volume)}]


def _give_address(clients: Clients, cluster: Cluster, head: HeadNode, instance_id: str) -> None:
    if not head.elastic_ip:
        return
    ec2 = clients("ec2")
    if head.elastic_ip is True:
        made = ec2.allocate_address(
            Domain="vpc", TagSpecifications=[naming.tagged("elastic-ip", cluster.tags)]
        )
        allocation_id = made["AllocationId"]
    else:
        allocation_id = head.elastic_ip
    ec2.associate_address(AllocationId=allocation_id, InstanceId=instance_id)


def _instances(clients: Clients, cluster: str, tags: Mapping[str, str]) -> list[dict[str, Any]]:
    of_node = [{"Name": f"tag:{key}", "Values": [value]} for key, value in tags.items()]
    filters = [*naming.of_cluster(cluster), *_ALIVE, *of_node]
    pages = clients("ec2").get_paginator("describe_instances").paginate(Filters=filters)
    return [
        instance
        for page in pages
        for reservation in page["Reservations"]
        for instance in reservation["Instances"]
    ]


def _templates(ec2: Any, filters: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return ec2.describe_launch_templates(Filters=filters)["LaunchTemplates"]


def _placement_groups(ec2: Any, nodes: ComputeNodes) -> list[dict[str, Any]]:
    named = [{"Name": "group-name", "Values": [nodes.placement_group]}]
    return ec2.describe_placement_groups(Filters=named)["PlacementGroups"]


def _template_name(cluster: str, nodes: ComputeNodes) -> str:
    return f"{cluster}-{nodes.queue}-{nodes.name}"
