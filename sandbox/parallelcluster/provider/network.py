"""The security groups of a cluster.

Source of groups and rules:
https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/templates/cluster_stack.py
(`_add_head_security_group`, `_add_compute_security_group`, `_add_storage_security_group`).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.sandbox.parallelcluster.provider import naming
from trainyard.sandbox.parallelcluster.provider.account import Clients
from trainyard.sandbox.parallelcluster.provider.model import Cluster, Node

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
    return ec2.describe_security_groups(Filters=naming.of_cluster(cluster))["SecurityGroups"]


def _group(ec2: Any, cluster: Cluster, name: str, description: str) -> str:
    made = ec2.create_security_group(
        GroupName=f"{cluster.name}-{name}",
        Description=description,
        VpcId=cluster.vpc_id,
        TagSpecifications=[naming.tagged("security-group", cluster.tags)],
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
