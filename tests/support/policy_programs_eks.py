"""Typical programs with an EKS cluster and its network."""

from __future__ import annotations

from typing import Any

from policies.resources.types import (
    AUTO_SCALING_GROUP,
    CONFIG_MAP,
    CONFIG_MAP_PATCH,
    EKS_CLUSTER,
    EKS_NODE_GROUP,
    IAM_ROLE,
    LAUNCH_TEMPLATE,
    SUBNET,
    VPC,
)
from tests.support.policy import UNKNOWN, Declared

TRUST = '{"Version": "2012-10-17", "Statement": []}'


def vpc(name: str = "vpc", **changes: Any) -> Declared:
    """Return a VPC with DNS support."""
    props = {"cidrBlock": "10.0.0.0/16", "enableDnsHostnames": True, **changes}
    return Declared(VPC, name, props)


def subnet(name: str, zone: str, network: str = "vpc") -> Declared:
    """Return a subnet of a VPC of the program."""
    props = {"id": f"{name}-id", "vpcId": UNKNOWN, "availabilityZone": zone}
    return Declared(SUBNET, name, props, {"vpcId": [network]})


def cluster(subnets: list[str], **changes: Any) -> Declared:
    """Return a cluster with named networks, an audit log and these subnets, by name."""
    vpc_config = {
        "subnetIds": [f"{name}-id" for name in subnets],
        "publicAccessCidrs": ["192.0.2.0/24"],
        **changes.pop("vpcConfig", {}),
    }
    props = {"vpcConfig": vpc_config, "enabledClusterLogTypes": ["audit"], **changes}
    return Declared(EKS_CLUSTER, "cluster", props, {"vpcConfig": list(subnets)})


def role(name: str) -> Declared:
    """Return a role of nodes."""
    return Declared(IAM_ROLE, name, {"assumeRolePolicy": TRUST})


def eks_template(**changes: Any) -> Declared:
    """Return a launch template for nodes of EKS without EFA."""
    props = {
        "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 2},
        **changes,
    }
    return Declared(LAUNCH_TEMPLATE, "workers-template", props)


def workers(**changes: Any) -> Declared:
    """Return a managed node group with that template and the role `node-role`."""
    props = {
        "launchTemplate": {"id": UNKNOWN, "version": UNKNOWN},
        "nodeRoleArn": UNKNOWN,
        "subnetIds": ["subnet-0b000000000000002"],
        "scalingConfig": {"minSize": 0, "desiredSize": 2, "maxSize": 2},
        **changes,
    }
    depends = {"launchTemplate": ["workers-template"], "nodeRoleArn": ["node-role"]}
    return Declared(EKS_NODE_GROUP, "workers", props, depends)


def joining_group() -> Declared:
    """Return an Auto Scaling group with that template, whose nodes join a cluster."""
    tag = {"key": "kubernetes.io/cluster/training", "value": "owned", "propagateAtLaunch": True}
    props = {
        "launchTemplate": {"id": UNKNOWN, "version": UNKNOWN},
        "vpcZoneIdentifiers": ["subnet-0b000000000000002"],
        "tags": [tag],
    }
    return Declared(
        AUTO_SCALING_GROUP, "self-managed", props, {"launchTemplate": ["workers-template"]}
    )


def aws_auth(*roles: str, patch: bool = False, **metadata: Any) -> Declared:
    """Return the ConfigMap aws-auth with these roles, or a patch of it."""
    props = {
        "metadata": {"name": "aws-auth", "namespace": "kube-system", **metadata},
        "data": {"mapRoles": UNKNOWN},
    }
    type_ = CONFIG_MAP_PATCH if patch else CONFIG_MAP
    return Declared(type_, "aws-auth", props, {"data": list(roles)})
