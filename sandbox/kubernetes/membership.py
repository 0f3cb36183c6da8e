"""Whether an instance is a node of a cluster, and the configuration of its kubelet."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from trainyard.sandbox.instance_types import UnknownInstanceTypeError, instance_type
from trainyard.sandbox.kubernetes.api import ApiError, ApiUnreachableError
from trainyard.sandbox.kubernetes.aws_auth import AwsAuthError, map_node_role
from trainyard.sandbox.kubernetes.device_plugins import device_counts
from trainyard.sandbox.kubernetes.instances import Instance
from trainyard.sandbox.kubernetes.kubelet import Kubelet
from trainyard.sandbox.kubernetes.node_config import (
    NodeConfig,
    NodeConfigError,
    Taint,
    parse_user_data,
)
from trainyard.sandbox.kubernetes.node_object import ManagedGroup, build_node
from trainyard.sandbox.kubernetes.startup import ControlPlane

_CLUSTER_TAG = "eks:cluster-name"
_NODE_GROUP_TAG = "eks:nodegroup-name"
_HTTPS = 443
_TAINT_EFFECTS = {
    "NO_SCHEDULE": "NoSchedule",
    "NO_EXECUTE": "NoExecute",
    "PREFER_NO_SCHEDULE": "PreferNoSchedule",
}
"""Taint effects: EKS's spelling and that of Kubernetes.

Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_Taint.html
"""


class CannotJoinError(Exception):
    """An instance of a cluster cannot join it; the message says why."""


class Account(Protocol):
    """The required calls to the account; `SandboxAccount` in the daemon."""

    def role_arn(self, instance_profile: str) -> str | None:
        """Return the role of an instance profile."""
        ...

    def node_group(self, cluster: str, name: str) -> dict[str, Any]:
        """Return EKS's description of a managed node group."""
        ...

    def cluster(self, name: str) -> dict[str, Any]:
        """Return EKS's description of a cluster."""
        ...

    def ingress_rules(self, security_group_id: str) -> list[dict[str, Any]]:
        """Return the ingress rules of a security group, as EC2's `IpPermissions`."""
        ...


class KnownControlPlanes(Protocol):
    """The required part of `ControlPlanes`."""

    def get(self, name: str) -> ControlPlane | None:
        """Return a cluster's control plane, or None."""
        ...


def kubelet_of(
    instance: Instance, account: Account, control_planes: KnownControlPlanes
) -> Kubelet | None:
    """Return the kubelet of an instance; None if it is not an EKS node.

    Raises:
        CannotJoinError: it belongs to a cluster but lacks something that it needs to join.
    """
    config = _config(instance)
    group_name = instance.tags.get(_NODE_GROUP_TAG)
    cluster = instance.tags.get(_CLUSTER_TAG) if group_name else config and config.cluster_name
    if config is None and not group_name:
        return None
    config = config or NodeConfig()
    if not group_name and (missing := config.missing()):
        raise CannotJoinError(f"its NodeConfig lacks {', '.join(missing)}: nodeadm does not start")
    control_plane = control_planes.get(cluster or "")
    if control_plane is None:
        raise CannotJoinError(f"no cluster {cluster!r} has an API server")
    description = account.cluster(control_plane.name)
    group = None
    if group_name:
        group = _managed_group(account.node_group(control_plane.name, group_name))
        config = _completed(config, control_plane)
        _let_in(group, description, control_plane)
    _check_reachable(instance, account, description["resourcesVpcConfig"])
    return _kubelet(instance, account, control_plane, config, group)


def _config(instance: Instance) -> NodeConfig | None:
    try:
        return parse_user_data(instance.user_data)
    except NodeConfigError as error:
        raise CannotJoinError(f"nodeadm refuses its user data: {error}") from error


def _kubelet(
    instance: Instance,
    account: Account,
    control_plane: ControlPlane,
    config: NodeConfig,
    group: ManagedGroup | None,
) -> Kubelet:
    try:
        machine = instance_type(instance.instance_type)
        return Kubelet(
            instance_id=instance.instance_id,
            control_plane=control_plane,
            node=build_node(instance, machine, config, group),
            devices=device_counts(machine, instance.efa_interfaces),
            role_arn=group.role_arn if group else _role_arn(instance, account),
            endpoint=config.api_server_endpoint,
            certificate_authority=config.certificate_authority,
        )
    except (UnknownInstanceTypeError, ValueError) as error:
        raise CannotJoinError(str(error)) from error


def _completed(config: NodeConfig, control_plane: ControlPlane) -> NodeConfig:
    """Return the NodeConfig that EKS prepends to that of a managed group."""
    return replace(
        config,
        cluster_name=control_plane.name,
        api_server_endpoint=control_plane.endpoint,
        certificate_authority=control_plane.certificate_authority_data,
    )


def _let_in(group: ManagedGroup, cluster: Mapping[str, Any], control_plane: ControlPlane) -> None:
    """Map the group's role as EKS does, in the only mode in which it writes into aws-auth."""
    if (cluster.get("accessConfig") or {}).get("authenticationMode") != "CONFIG_MAP":
        return
    administrator = control_plane.administrator()
    try:
        map_node_role(administrator, group.role_arn)
    except (ApiError, ApiUnreachableError, AwsAuthError) as error:
        raise CannotJoinError(f"EKS cannot map {group.role_arn}: {error}") from error
    finally:
        administrator.close()


def _managed_group(description: Mapping[str, Any]) -> ManagedGroup:
    return ManagedGroup(
        name=description["nodegroupName"],
        capacity_type=description.get("capacityType") or "ON_DEMAND",
        labels=description.get("labels") or {},
        taints=tuple(
            Taint(taint["key"], taint.get("value") or "", _TAINT_EFFECTS[taint["effect"]])
            for taint in description.get("taints") or []
        ),
        role_arn=description["nodeRole"],
    )


def _role_arn(instance: Instance, account: Account) -> str:
    if not instance.instance_profile:
        raise CannotJoinError("it has no IAM instance profile, so its kubelet has no credentials")
    role_arn = account.role_arn(instance.instance_profile)
    if role_arn is None:
        raise CannotJoinError(f"the instance profile {instance.instance_profile} holds no role")
    return role_arn


def _check_reachable(instance: Instance, account: Account, access: Mapping[str, Any]) -> None:
    """Raise unless the cluster's security group admits the node.

    A node in the VPC connects to an API server with private access through EKS's network
    interfaces, which have the cluster security group. Launch templates that specify security groups
    do not get that group automatically, and their nodes never join.
    Source: https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html
    """
    group = access.get("clusterSecurityGroupId")
    if not access.get("endpointPrivateAccess") or not group:
        return
    if group in instance.security_group_ids:
        return
    if not admits(account.ingress_rules(group), instance):
        raise CannotJoinError(
            f"it cannot reach the API server: none of its interfaces with an address carries "
            f"the cluster security group {group}, and no rule of that group admits "
            f"{', '.join(instance.security_group_ids) or 'it'} or {instance.private_ip_address} "
            f"on port {_HTTPS}"
        )


def admits(rules: Iterable[Mapping[str, Any]], instance: Instance) -> bool:
    """Return whether an ingress rule admits an instance to port 443."""
    return any(_covers_https(rule) and _names(rule, instance) for rule in rules)


def _covers_https(rule: Mapping[str, Any]) -> bool:
    if rule["IpProtocol"] == "-1":
        return True
    return rule["IpProtocol"] == "tcp" and rule["FromPort"] <= _HTTPS <= rule["ToPort"]


def _names(rule: Mapping[str, Any], instance: Instance) -> bool:
    groups = {pair.get("GroupId") for pair in rule.get("UserIdGroupPairs") or []}
    address = ipaddress.ip_address(instance.private_ip_address)
    return bool(groups & set(instance.security_group_ids)) or any(
        address in ipaddress.ip_network(block["CidrIp"]) for block in rule.get("IpRanges") or []
    )
