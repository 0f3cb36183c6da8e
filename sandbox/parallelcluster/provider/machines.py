"""The instances of a cluster, with their security groups and launch templates."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.sandbox.parallelcluster.provider import model
from trainyard.sandbox.parallelcluster.provider.account import Clients
from trainyard.sandbox.parallelcluster.provider.model import Cluster, ComputeNodes, HeadNode, Node

# The security groups of a cluster.
#
# Source of groups and rules:
# https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/templates/cluster_stack.py
# (`_add_head_security_group`, `_add_compute_security_group`, `_add_storage_security_group`).


_SSH = 22


@dataclass(frozen=True, slots=True)
class Groups:
    """The cluster's own groups."""

    head_node: str
    compute: str

    def of(self, node: Node, own: str) -> list[str]:
        """Return the groups of a node whose own group is `own`."""
        return [*(node.security_groups or (own,)), *node.additional_security_groups]

    @property
    def all(self) -> tuple[str, ...]:
        """Both."""
        return (self.head_node, self.compute)


def make_groups(clients: Clients, cluster: Cluster) -> Groups:
    """Create the groups of head node and compute nodes, which admit each other."""
    ec2 = clients("ec2")
    head = _group(ec2, cluster, "HeadNodeSecurityGroup", "Enable access to the head node")
    compute = _group(ec2, cluster, "ComputeSecurityGroup", "Allow access to compute nodes")
    ec2.authorize_security_group_ingress(
        GroupId=head, IpPermissions=[_ssh(cluster.head_node.allowed_ips)]
    )
    allow(ec2, head, [compute])
    allow(ec2, compute, [compute, head])
    ec2.authorize_security_group_egress(GroupId=compute, IpPermissions=[_everything([compute])])
    return Groups(head, compute)


def find_groups(clients: Clients, cluster: str) -> Groups:
    """Return the groups of a cluster that exists."""
    found = _described(clients("ec2"), cluster)
    by_name = {group["GroupName"]: group["GroupId"] for group in found}
    return Groups(
        by_name[f"{cluster}-HeadNodeSecurityGroup"], by_name[f"{cluster}-ComputeSecurityGroup"]
    )


def make_storage_group(clients: Clients, cluster: Cluster, groups: Groups, name: str) -> str:
    """Create the group of a file system, which nodes reach and which reaches them."""
    ec2 = clients("ec2")
    # It is kept with a retained file system, and the next cluster of the same name has its own:
    # CloudFormation also adds a random suffix to group names.
    group_name = f"{name}SecurityGroup-{secrets.token_hex(6)}"
    made = _group(ec2, cluster, group_name, f"Allow access to file system {name}")
    members = [*groups.all, made]
    allow(ec2, made, members)
    ec2.authorize_security_group_egress(GroupId=made, IpPermissions=[_everything(members)])
    return made


def allow(ec2: Any, group_id: str, sources: Iterable[str]) -> None:
    """Admit members of other groups, with any protocol."""
    ec2.authorize_security_group_ingress(
        GroupId=group_id, IpPermissions=[_everything(list(sources))]
    )


def remove_groups(clients: Clients, cluster: str, *, keep: Sequence[str]) -> None:
    """Remove a cluster's groups, and the rules of kept groups that refer to them."""
    ec2 = clients("ec2")
    found = _described(ec2, cluster)
    gone = {group["GroupId"] for group in found} - set(keep)
    for group in found:
        _revoke(ec2, group, gone)
    for group_id in sorted(gone):
        ec2.delete_security_group(GroupId=group_id)


def _revoke(ec2: Any, group: Mapping[str, Any], peers: set[str]) -> None:
    for key, revoke in (
        ("IpPermissions", ec2.revoke_security_group_ingress),
        ("IpPermissionsEgress", ec2.revoke_security_group_egress),
    ):
        for permission in group[key]:
            pairs = [
                {"GroupId": pair["GroupId"]}
                for pair in permission["UserIdGroupPairs"]
                if pair["GroupId"] in peers
            ]
            if pairs:
                revoke(
                    GroupId=group["GroupId"],
                    IpPermissions=[
                        {"IpProtocol": permission["IpProtocol"], "UserIdGroupPairs": pairs}
                    ],
                )


def _described(ec2: Any, cluster: str) -> list[dict[str, Any]]:
    return ec2.describe_security_groups(Filters=model.of_cluster(cluster))["SecurityGroups"]


def _group(ec2: Any, cluster: Cluster, name: str, description: str) -> str:
    made = ec2.create_security_group(
        GroupName=f"{cluster.name}-{name}",
        Description=description,
        VpcId=cluster.vpc_id,
        TagSpecifications=[model.tagged("security-group", cluster.tags)],
    )
    return made["GroupId"]


def _everything(group_ids: Sequence[str]) -> dict[str, Any]:
    return {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": each} for each in group_ids]}


def _ssh(allowed: str) -> dict[str, Any]:
    peer: dict[str, Any] = (
        {"PrefixListIds": [{"PrefixListId": allowed}]}
        if allowed.startswith("pl")
        else {"IpRanges": [{"CidrIp": allowed}]}
    )
    return {"IpProtocol": "tcp", "FromPort": _SSH, "ToPort": _SSH, **peer}


# The instances of a cluster, with a launch template per kind of node, as in ParallelCluster.
#
# Source:
# https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/templates/queues_stack.py


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
            TagSpecifications=[model.tagged("placement-group", cluster.tags)],
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
        {model.QUEUE_NAME: nodes.queue, model.COMPUTE_RESOURCE_NAME: nodes.name},
    )


def head_node(clients: Clients, cluster: str) -> dict[str, Any] | None:
    """Return the head node as EC2 describes it, or None."""
    found = _instances(clients, cluster, {model.NODE_TYPE: model.HEAD_NODE})
    return found[0] if found else None


def terminate(clients: Clients, instance_ids: Sequence[str]) -> None:
    """Terminate instances, and wait until they are terminated."""
    if instance_ids:
        ec2 = clients("ec2")
        ec2.terminate_instances(InstanceIds=list(instance_ids))
        ec2.get_waiter("instance_terminated").wait(InstanceIds=list(instance_ids))


def remove_instances(clients: Clients, cluster: str) -> None:
    """Remove every instance of a cluster, its addresses, placement groups and templates."""
    ec2, of_cluster = clients("ec2"), model.of_cluster(cluster)
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
            TagSpecifications=[model.tagged("launch-template", cluster.tags)],
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
        key: node.tags[key] for key in (model.CLUSTER_NAME, model.NODE_TYPE) if key in node.tags
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
            model.tagged("instance", node.tags),
            model.tagged("volume", volume_tags),
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
            Domain="vpc", TagSpecifications=[model.tagged("elastic-ip", cluster.tags)]
        )
        allocation_id = made["AllocationId"]
    else:
        allocation_id = head.elastic_ip
    ec2.associate_address(AllocationId=allocation_id, InstanceId=instance_id)


def _instances(clients: Clients, cluster: str, tags: Mapping[str, str]) -> list[dict[str, Any]]:
    of_node = [{"Name": f"tag:{key}", "Values": [value]} for key, value in tags.items()]
    filters = [*model.of_cluster(cluster), *_ALIVE, *of_node]
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
