"""Clusters: their calls, and the validation of their roles, subnets and keys."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import ec2_backends
from moto.iam.models import iam_backends
from moto.kms.models import kms_backends
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.network_calls import users_of
from trainyard.sandbox.aws.eks.control_plane import (
    CLUSTER_TYPE,
    bring_to_version,
    bring_up,
    check_runnable,
    ensure_log_group,
    take_down,
)
from trainyard.sandbox.aws.eks.store import (
    AccessEntry,
    Cluster,
    EksBase,
    UnsupportedAvailabilityZoneError,
    Update,
    in_use,
    invalid_parameter,
    invalid_request,
    not_found,
    page,
    without_path,
)
from trainyard.sandbox.aws.eks.versions import (
    KUBELET_SKEW,
    check_version,
    described_version,
    minor_number,
    supported_versions,
)
from trainyard.sandbox.aws.transitions import TRANSITIONS


def check_role(account_id: str, role_arn: str, **about: Any) -> None:
    """Reject a role that does not exist.

    Args:
        account_id: The account.
        role_arn: The role, with or without its path.
        about: Names for the error: `clusterName`, `nodegroupName`.

    Raises:
        InvalidParameterException: The role does not exist.
    """
    roles = iam_backends[account_id]["aws"].roles.values()
    if not any(without_path(role.arn) == without_path(role_arn) for role in roles):
        name = role_arn.rpartition("/")[2]
        invalid_parameter(f"The role with name {name} cannot be found.", **about)


def role_named_in(account_id: str, role_arn: str) -> Any:
    """Return moto's role of an ARN, with or without its path; None if it does not exist."""
    for role in iam_backends[account_id]["aws"].roles.values():
        if without_path(role.arn) == without_path(role_arn):
            return role
    return None


# The access entry that EKS creates for the creator of a cluster.
#
# https://docs.aws.amazon.com/eks/latest/userguide/setting-up-access-entries.html


CLUSTER_ADMIN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"

CREATOR = "moto"
"""Name of the IAM user that moto assigns to callers without other credentials."""


def add_creator_entry(cluster: Cluster, region: str, account_id: str) -> None:
    """Add the creator's access entry, which is visible only if access entries are enabled."""
    now = CLOCK.now()
    principal = f"arn:aws:iam::{account_id}:user/{CREATOR}"
    cluster.access_entries[principal] = AccessEntry(
        arn=(
            f"arn:aws:eks:{region}:{account_id}:access-entry/{cluster.name}/user/{account_id}/"
            f"{CREATOR}/creator"
        ),
        cluster_name=cluster.name,
        principal_arn=principal,
        entry_type="STANDARD",
        username=principal,
        kubernetes_groups=(),
        created_at=now,
        policies={
            CLUSTER_ADMIN: {
                "policyArn": CLUSTER_ADMIN,
                "accessScope": {"type": "cluster", "namespaces": []},
                "associatedAt": now,
                "modifiedAt": now,
            }
        },
    )


# EKS's validation of the KMS key that encrypts a cluster's secrets.
#
# https://docs.aws.amazon.com/eks/latest/userguide/enable-kms.html


Encryption = Sequence[Mapping[str, Any]]


def check_encryption(account_id: str, region: str, wanted: Encryption, cluster_name: str) -> None:
    """Reject a key that EKS cannot use.

    Raises:
        InvalidParameterException: it is not an existing, enabled symmetric key in this region.
    """
    for config in wanted:
        if list(config.get("resources", [])) != ["secrets"]:
            invalid_parameter(
                "The only supported value of resources is secrets", clusterName=cluster_name
            )
        arn = config.get("provider", {}).get("keyArn", "")
        key = kms_backends[account_id][region].keys.get(arn.rpartition("/")[2])
        if key is None or key.arn != arn:
            invalid_parameter(
                f"The keyArn in encryptionConfig provider, {arn}, does not exist in {region}",
                clusterName=cluster_name,
            )
        if not key.enabled or key.key_spec != "SYMMETRIC_DEFAULT":
            invalid_parameter(
                f"The keyArn in encryptionConfig provider, {arn}, is not an enabled symmetric key",
                clusterName=cluster_name,
            )


# Subnets of a control plane, and its security group.
#
# https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
# https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html


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


_MODES = ("CONFIG_MAP", "API_AND_CONFIG_MAP", "API")
"""Authentication modes in the only order in which a cluster may change them."""

_PLAIN = {
    "logging": "LoggingUpdate",
    "upgradePolicy": "UpgradePolicyUpdate",
    "zonalShiftConfig": "ZonalShiftConfigUpdate",
    "deletionProtection": "DeletionProtectionUpdate",
    "remoteNetworkConfig": "RemoteNetworkConfigUpdate",
    "controlPlaneScalingConfig": "ControlPlaneScalingConfigUpdate",
}
"""Parameters that replace the cluster's field of the same name, with their update type."""

_ROLLBACK_WINDOW = timedelta(days=7)
"""https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html"""

ADDON_TYPE, NODE_GROUP_TYPE = "aws:eks/addon:Addon", "aws:eks/nodeGroup:NodeGroup"

_ENDPOINT_FIELDS = ("endpointPublicAccess", "endpointPrivateAccess", "publicAccessCidrs")


def record_update(
    cluster: Cluster,
    kind: str,
    changes: Mapping[str, Any],
    *,
    node_group: str | None = None,
    addon: str | None = None,
) -> dict[str, Any]:
    """Record an update whose change has been made, and return it as the API describes it.

    It is in progress for as long as in AWS.

    Args:
        cluster: The cluster that it belongs to.
        kind: Type of the update, `ConfigUpdate`.
        changes: New value by parameter type.
        node_group: Name of the node group, if it is updated.
        addon: Name of the add-on, if it is updated.
    """
    update = _kept_update(cluster, kind, changes, node_group=node_group, addon=addon)
    TRANSITIONS.begin(
        ADDON_TYPE if addon else NODE_GROUP_TYPE if node_group else CLUSTER_TYPE,
        "update",
        lambda: setattr(update, "status", "Successful"),
        inputs={"addonName": addon},
    )
    return update.described()


def _kept_update(
    cluster: Cluster,
    kind: str,
    changes: Mapping[str, Any],
    *,
    node_group: str | None = None,
    addon: str | None = None,
) -> Update:
    update = Update(
        update_id=str(mock_random.uuid4()),
        kind=kind,
        parameters=[{"type": key, "value": _text(value)} for key, value in changes.items()],
        created_at=CLOCK.now(),
        node_group=node_group,
        addon=addon,
    )
    cluster.updates[update.update_id] = update
    return update


def check_node_skew(cluster: Cluster, version: str) -> None:
    """Reject a version that is too new for the cluster's managed nodes.

    https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html, "Detailed considerations"

    Raises:
        InvalidRequestException: A kubelet would be more than three minor versions behind.
    """
    for name, group in cluster.node_groups.items():
        # EKS shows no version of a group with an image of its own; it is not known whether it
        # compares its nodes.
        if minor_number(version) - minor_number(group.get("version", version)) > KUBELET_SKEW:
            invalid_request(
                f"Nodegroup {name} has the Kubernetes version {group['version']}; update it "
                f"before the cluster goes to {version}",
                clusterName=cluster.name,
                nodegroupName=name,
            )


def check_rollback(cluster: Cluster, version: str) -> None:
    """Reject a rollback to the previous version that EKS does not make.

    https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html, "Prerequisites" and
    "Rollback readiness checks"; the messages are the sandbox's own.

    Raises:
        InvalidRequestException: No upgrade in the last seven days, or a newer node or kube-proxy.
    """
    current = {"type": "Version", "value": cluster.fields["version"]}
    upgrades = [
        update.created_at
        for update in cluster.updates.values()
        if update.kind == "VersionUpdate"
        and update.status == "Successful"
        and current in update.parameters
    ]
    if not upgrades or CLOCK.now() - max(upgrades) >= _ROLLBACK_WINDOW:
        invalid_request(
            f"Cluster was not upgraded to {current['value']} in the last 7 days",
            clusterName=cluster.name,
        )
    newer = {name: group["version"] for name, group in cluster.node_groups.items()}
    newer |= {
        name: addon["addonVersion"]
        for name, addon in cluster.addons.items()
        if name == "kube-proxy"
    }
    for name, found in newer.items():
        if minor_number(found) > minor_number(version):
            invalid_request(
                f"{name} has {found}, which is newer than {version}", clusterName=cluster.name
            )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


class ClusterUpdateCalls(EksBase):
    """Updates of a cluster, and calls that read updates; mixed into the response class."""

    def update_cluster_config(self) -> ActionResult:
        """UpdateClusterConfig: one kind of change per call, as in EKS."""
        parameters: Mapping[str, Any] = self.params
        cluster = self.active_cluster(parameters["name"])
        asked = [
            key
            for key in (*_PLAIN, "accessConfig", "resourcesVpcConfig")
            if parameters.get(key) is not None
        ]
        if len(asked) != 1:
            invalid_parameter(
                "Only one type of update can be made at a time, and one is needed; the request "
                f"has {len(asked)}: {', '.join(asked)}",
                clusterName=cluster.name,
            )
        (key,) = asked
        wanted = parameters[key]
        if key == "accessConfig":
            return self._authentication_mode(cluster, wanted["authenticationMode"])
        if key == "resourcesVpcConfig":
            return self._network_update(cluster, wanted)
        if cluster.fields.get(key) == wanted:
            invalid_parameter("No changes needed for the cluster", clusterName=cluster.name)
        cluster.fields[key] = wanted
        ensure_log_group(cluster, self.current_account, self.region)
        return ActionResult({"update": record_update(cluster, _PLAIN[key], {key: wanted})})

    def update_cluster_version(self) -> ActionResult:
        """UpdateClusterVersion: one minor version up, or back within seven days of an upgrade."""
        cluster = self.active_cluster(self.params["name"])
        wanted, current = check_version(self.params["version"]), cluster.fields["version"]
        steps = minor_number(wanted) - minor_number(current)
        if steps == -1:
            check_rollback(cluster, wanted)
        elif steps != 1:
            invalid_parameter(
                f"Unsupported Kubernetes minor version update from {current} to {wanted}",
                clusterName=cluster.name,
            )
        check_runnable(cluster.name, wanted)
        check_node_skew(cluster, wanted)
        kind = "VersionRollback" if steps < 0 else "VersionUpdate"
        update = _kept_update(cluster, kind, {"Version": wanted})
        bring_to_version(cluster, wanted, update)
        return ActionResult({"update": update.described()})

    def describe_update(self) -> ActionResult:
        """DescribeUpdate."""
        cluster = self.store.cluster(self.params["name"])
        update = cluster.updates.get(self.params["updateId"])
        if update is None:
            not_found(
                f"No update found for ID: {self.params['updateId']}", clusterName=cluster.name
            )
        return ActionResult({"update": update.described()})

    def list_updates(self) -> ActionResult:
        """ListUpdates: of a cluster, or of one of its node groups or add-ons."""
        cluster = self.store.cluster(self.params["name"])
        about = (self.params.get("nodegroupName"), self.params.get("addonName"))
        ids = [
            update.update_id
            for update in cluster.updates.values()
            if (update.node_group, update.addon) == about
        ]
        found, token = page(ids, self.params.get("nextToken"), self.params.get("maxResults"))
        return ActionResult({"updateIds": found, "nextToken": token})

    def active_cluster(self, name: str) -> Cluster:
        """Return a cluster that can be changed.

        Raises:
            ResourceNotFoundException: The cluster does not exist.
            InvalidRequestException: It is not ACTIVE.
        """
        cluster = self.store.cluster(name)
        if cluster.fields["status"] != "ACTIVE":
            invalid_request(f"Cluster '{name}' is not in ACTIVE status", clusterName=name)
        return cluster

    def _authentication_mode(self, cluster: Cluster, wanted: str) -> ActionResult:
        current = cluster.authentication_mode
        if _MODES.index(wanted) != _MODES.index(current) + 1:
            invalid_parameter(
                f"Unsupported authentication mode update from {current} to {wanted}",
                clusterName=cluster.name,
            )
        cluster.fields["accessConfig"]["authenticationMode"] = wanted
        changes = {"AuthenticationMode": wanted}
        return ActionResult({"update": record_update(cluster, "AccessConfigUpdate", changes)})

    def _network_update(self, cluster: Cluster, wanted: Mapping[str, Any]) -> ActionResult:
        network = cluster.fields["resourcesVpcConfig"]
        changed = {key: value for key, value in wanted.items() if network.get(key) != value}
        if not changed:
            invalid_parameter(
                "Cluster is already at the desired configuration", clusterName=cluster.name
            )
        after = {**network, **changed}
        check_endpoint_access(
            cluster.name,
            public=after["endpointPublicAccess"],
            private=after["endpointPrivateAccess"],
        )
        ec2 = ec2_backends[self.current_account][self.region]
        control_plane_subnets(ec2, cluster.name, after["subnetIds"])
        check_security_groups(ec2, network["vpcId"], after["securityGroupIds"], cluster.name)
        network.update(changed)
        of_endpoint = all(key in _ENDPOINT_FIELDS for key in changed)
        kind = "EndpointAccessUpdate" if of_endpoint else "VpcConfigUpdate"
        names = {key[0].upper() + key[1:]: value for key, value in changed.items()}
        return ActionResult({"update": record_update(cluster, kind, names)})
