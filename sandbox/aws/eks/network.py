"""Subnets of a control plane, and its security group.

https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.ec2.security_group_calls import users_of
from trainyard.sandbox.aws.eks.errors import UnsupportedAvailabilityZoneError, invalid_parameter

UNSERVED_ZONE_IDS = frozenset({"use1-az3", "usw1-az2", "cac1-az3"})
"""Zones in which EKS does not support control planes (network-reqs, "Subnet requirements")."""

_MINIMUM_ZONES = 2


def control_plane_subnets(ec2: Any, cluster_name: str, subnet_ids: Sequence[str]) -> list[Any]:
    """Return moto's subnets of a control plane.

    Raises:
        InvalidParameterException: They do not exist, are in several VPCs, or are all in one zone.
        UnsupportedAvailabilityZoneError: EKS does not support one of their zones.
    """
    if not subnet_ids:
        invalid_parameter("subnetIds may not be empty", clusterName=cluster_name)
    subnets = find_subnets(ec2, subnet_ids, clusterName=cluster_name)
    if len({subnet.vpc_id for subnet in subnets}) > 1:
        invalid_parameter(
            "Subnets specified must belong to the same VPC.", clusterName=cluster_name
        )
    zones = {subnet.availability_zone for subnet in subnets}
    if len(zones) < _MINIMUM_ZONES:
        invalid_parameter(
            "Subnets specified must be in at least two different AZs", clusterName=cluster_name
        )
    for subnet in subnets:
        if subnet.availability_zone_id in UNSERVED_ZONE_IDS:
            _unserved(ec2, cluster_name, subnet.availability_zone)
    return subnets


def _unserved(ec2: Any, cluster_name: str, zone: str) -> None:
    valid = [
        each.name for each in ec2.zones[ec2.region_name] if each.zone_id not in UNSERVED_ZONE_IDS
    ]
    raise UnsupportedAvailabilityZoneError(
        clusterName=cluster_name,
        validZones=valid,
        message=(
            f"Cannot create cluster '{cluster_name}' because {zone}, the targeted availability "
            "zone, does not currently have sufficient capacity to support the cluster. Retry and "
            f"choose from these availability zones: {', '.join(valid)}"
        ),
    )


def find_subnets(ec2: Any, subnet_ids: Sequence[str], **about: Any) -> list[Any]:
    """Return moto's subnets.

    Raises:
        InvalidParameterException: One does not exist.
    """
    try:
        return [ec2.get_subnet(subnet_id) for subnet_id in subnet_ids]
    except EC2ClientError as error:
        invalid_parameter(error.message, **about)


def check_security_groups(ec2: Any, vpc_id: str, group_ids: Sequence[str], name: str) -> None:
    """Reject security groups that do not exist in the VPC.

    Raises:
        InvalidParameterException: The first of them.
    """
    for group_id in group_ids:
        group = ec2.get_security_group_from_id(group_id)
        if group is None:
            invalid_parameter(f"The security group '{group_id}' does not exist", clusterName=name)
        if group.vpc_id != vpc_id:
            invalid_parameter(
                f"Security group {group_id} and the subnets of the cluster belong to different "
                "networks.",
                clusterName=name,
            )


def make_cluster_security_group(ec2: Any, cluster_name: str, vpc_id: str) -> str:
    """Create the cluster security group (all traffic from itself, all egress). Return its id."""
    name = f"eks-cluster-sg-{cluster_name}-{mock_random.randint(10**8, 10**9 - 1)}"
    group = ec2.create_security_group(
        name,
        "EKS created security group applied to ENI that is attached to EKS Control Plane master "
        "nodes, as well as any managed workloads.",
        vpc_id=vpc_id,
        tags={
            "Name": name,
            f"kubernetes.io/cluster/{cluster_name}": "owned",
            "aws:eks:cluster-name": cluster_name,
        },
    )
    ec2.authorize_security_group_ingress(
        group.id,
        "-1",
        None,
        None,
        [],
        source_groups=[{"GroupId": group.id, "UserId": ec2.account_id}],
    )
    return group.id


def remove_cluster_security_group(ec2: Any, group_id: str) -> None:
    """Delete the cluster security group; a group in use is kept, as in EKS."""
    group = ec2.get_security_group_from_id(group_id)
    if group is None or any(users_of(ec2, group_id)):
        return
    for permission in [*group.ingress_rules]:
        group.ingress_rules.remove(permission)
    try:
        ec2.delete_security_group(group_id=group_id)
    except EC2ClientError:
        return
