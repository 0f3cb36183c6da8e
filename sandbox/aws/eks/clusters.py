"""CreateCluster, DescribeCluster, ListClusters, DeleteCluster and the updates of a cluster."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.models import ec2_backends
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.eks.base import EksBase
from trainyard.sandbox.aws.eks.control_plane import bring_up, check_runnable, take_down
from trainyard.sandbox.aws.eks.control_plane_logs import ensure_log_group
from trainyard.sandbox.aws.eks.creator import add_creator_entry
from trainyard.sandbox.aws.eks.encryption_key import check_encryption
from trainyard.sandbox.aws.eks.errors import in_use, invalid_parameter, invalid_request
from trainyard.sandbox.aws.eks.network import (
    check_security_groups,
    control_plane_subnets,
    make_cluster_security_group,
    remove_cluster_security_group,
)
from trainyard.sandbox.aws.eks.roles import check_role
from trainyard.sandbox.aws.eks.store import Cluster, page
from trainyard.sandbox.aws.eks.versions import check_version, described_version, supported_versions

_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}")

_LOG_TYPES = ["api", "audit", "authenticator", "controllerManager", "scheduler"]

SERVICE_CIDR = "10.100.0.0/16"
"""EKS chooses this or 172.20.0.0/16; the sandbox's control planes use this one."""

_KEPT = (
    "encryptionConfig",
    "remoteNetworkConfig",
    "computeConfig",
    "storageConfig",
    "zonalShiftConfig",
)
"""Parameters of CreateCluster that DescribeCluster returns if they were given."""


class ClusterCalls(EksBase):
    """Calls on clusters; mixed into the EKS response class."""

    def create_cluster(self) -> ActionResult:
        """CreateCluster: CREATING until the control plane responds."""
        parameters: Mapping[str, Any] = self.params
        name = parameters["name"]
        if not _NAME.fullmatch(name):
            invalid_parameter(
                "The cluster name must begin with a letter or number, may hold letters, numbers, "
                "hyphens and underscores, and has at most 100 characters.",
                clusterName=name,
            )
        if name in self.store.clusters:
            in_use(f"Cluster already exists with name: {name}", clusterName=name)
        version = check_version(parameters.get("version"))
        check_runnable(name, version)
        check_role(self.current_account, parameters["roleArn"], clusterName=name)
        access = parameters.get("accessConfig") or {}
        _check_access(name, access)
        encryption = parameters.get("encryptionConfig") or []
        check_encryption(self.current_account, self.region, encryption, name)
        network = self._network(name, parameters["resourcesVpcConfig"])
        cluster = Cluster(fields=self._cluster_fields(name, version, network, parameters))
        self.store.clusters[name] = cluster
        if access.get("bootstrapClusterCreatorAdminPermissions", True):
            add_creator_entry(cluster, self.region, self.current_account)
        bring_up(self.store, cluster)
        ensure_log_group(cluster, self.current_account, self.region)
        return ActionResult({"cluster": _described({**cluster.fields, "status": "CREATING"})})

    def describe_cluster(self) -> ActionResult:
        """DescribeCluster."""
        cluster = self.store.cluster(self.params["name"])
        return ActionResult({"cluster": _described(dict(cluster.fields))})

    def list_clusters(self) -> ActionResult:
        """ListClusters."""
        names, token = page(
            list(self.store.clusters), self.params.get("nextToken"), self.params.get("maxResults")
        )
        return ActionResult({"clusters": names, "nextToken": token})

    def delete_cluster(self) -> ActionResult:
        """DeleteCluster: DELETING until the control plane is gone."""
        cluster = self.store.cluster(self.params["name"])
        if cluster.node_groups:
            in_use(
                "Cluster has nodegroups attached",
                clusterName=cluster.name,
                nodegroupName=",".join(cluster.node_groups),
            )
        if cluster.fields["deletionProtection"]:
            invalid_request(
                f"Cluster {cluster.name} has deletion protection; turn it off before you delete "
                "the cluster.",
                clusterName=cluster.name,
            )
        if cluster.fields["status"] != "DELETING":
            cluster.fields["status"] = "DELETING"
            take_down(cluster, lambda: self._forget(cluster))
        return ActionResult({"cluster": cluster.fields})

    def describe_cluster_versions(self) -> ActionResult:
        """DescribeClusterVersions."""
        wanted = self.params.get("clusterVersions")
        versions = [
            described_version(version)
            for version in supported_versions()
            if not wanted or version in wanted
        ]
        if self.params.get("defaultOnly"):
            versions = [each for each in versions if each["defaultVersion"]]
        return ActionResult({"clusterVersions": versions})

    def _forget(self, cluster: Cluster) -> None:
        if self.store.clusters.get(cluster.name) is not cluster:
            return  # the account was reset meanwhile
        del self.store.clusters[cluster.name]
        ensure_log_group(cluster, self.current_account, self.region)
        ec2 = ec2_backends[self.current_account][self.region]
        remove_cluster_security_group(
            ec2, cluster.fields["resourcesVpcConfig"]["clusterSecurityGroupId"]
        )

    def _network(self, name: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        ec2 = ec2_backends[self.current_account][self.region]
        subnets = control_plane_subnets(ec2, name, asked.get("subnetIds") or [])
        vpc_id = subnets[0].vpc_id
        group_ids = asked.get("securityGroupIds") or []
        check_security_groups(ec2, vpc_id, group_ids, name)
        public = asked.get("endpointPublicAccess", True)
        private = asked.get("endpointPrivateAccess", False)
        check_endpoint_access(name, public=public, private=private)
        return {
            "subnetIds": list(asked["subnetIds"]),
            "securityGroupIds": list(group_ids),
            "clusterSecurityGroupId": make_cluster_security_group(ec2, name, vpc_id),
            "vpcId": vpc_id,
            "endpointPublicAccess": public,
            "endpointPrivateAccess": private,
            "publicAccessCidrs": (asked.get("publicAccessCidrs") or ["0.0.0.0/0"])
            if public
            else [],
        }

    def _cluster_fields(
        self, name: str, version: str, network: dict[str, Any], asked: Mapping[str, Any]
    ) -> dict[str, Any]:
        access = asked.get("accessConfig") or {}
        issuer = f"https://oidc.eks.{self.region}.amazonaws.com/id"
        addresses = asked.get("kubernetesNetworkConfig") or {}
        return {
            "name": name,
            "arn": f"arn:{self.partition}:eks:{self.region}:{self.current_account}:cluster/{name}",
            "createdAt": CLOCK.now(),
            "version": version,
            "roleArn": asked["roleArn"],
            "resourcesVpcConfig": network,
            "kubernetesNetworkConfig": {
                "serviceIpv4Cidr": addresses.get("serviceIpv4Cidr", SERVICE_CIDR),
                "ipFamily": addresses.get("ipFamily", "ipv4"),
                "elasticLoadBalancing": addresses.get("elasticLoadBalancing", {"enabled": False}),
            },
            "logging": asked.get("logging")
            or {"clusterLogging": [{"types": _LOG_TYPES, "enabled": False}]},
            "identity": {"oidc": {"issuer": f"{issuer}/{mock_random.get_random_hex(32).upper()}"}},
            "status": "CREATING",
            "certificateAuthority": {},
            "platformVersion": "eks.1",
            "tags": dict(asked.get("tags") or {}),
            "accessConfig": {
                "bootstrapClusterCreatorAdminPermissions": access.get(
                    "bootstrapClusterCreatorAdminPermissions", True
                ),
                "authenticationMode": access.get("authenticationMode", "CONFIG_MAP"),
            },
            "upgradePolicy": asked.get("upgradePolicy") or {"supportType": "EXTENDED"},
            "deletionProtection": bool(asked.get("deletionProtection", False)),
            "controlPlaneScalingConfig": asked.get("controlPlaneScalingConfig")
            or {"tier": "standard"},
            "health": {"issues": []},
            **{key: asked[key] for key in _KEPT if asked.get(key)},
        }


def _described(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a cluster as EKS shows it: in `CREATING` without endpoint, certificate and issuer.

    aws/aws-cli, awscli/examples/eks/create-cluster.rst at 07c4fe36
    """
    if fields["status"] != "CREATING":
        return dict(fields)
    hidden = {"endpoint", "identity"}
    shown = {key: value for key, value in fields.items() if key not in hidden}
    return shown | {"certificateAuthority": {}}


def _check_access(name: str, access: Mapping[str, Any]) -> None:
    in_map = access.get("authenticationMode", "CONFIG_MAP") == "CONFIG_MAP"
    if in_map and not access.get("bootstrapClusterCreatorAdminPermissions", True):
        invalid_parameter(
            "bootstrapClusterCreatorAdminPermissions must be true if cluster authentication mode "
            "is set to CONFIG_MAP",
            clusterName=name,
        )


def check_endpoint_access(name: str, *, public: bool, private: bool) -> None:
    """Reject an API server without any access.

    Raises:
        InvalidParameterException: Both kinds of access are disabled.
    """
    if not public and not private:
        invalid_parameter("Private and public endpoint access cannot be false.", clusterName=name)
