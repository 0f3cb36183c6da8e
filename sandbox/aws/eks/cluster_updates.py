"""UpdateClusterConfig, UpdateClusterVersion, DescribeUpdate, ListUpdates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.models import ec2_backends
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.eks.base import EksBase
from trainyard.sandbox.aws.eks.clusters import check_endpoint_access
from trainyard.sandbox.aws.eks.control_plane import CLUSTER_TYPE, bring_to_version, check_runnable
from trainyard.sandbox.aws.eks.control_plane_logs import ensure_log_group
from trainyard.sandbox.aws.eks.errors import invalid_parameter, invalid_request, not_found
from trainyard.sandbox.aws.eks.network import check_security_groups, control_plane_subnets
from trainyard.sandbox.aws.eks.store import Cluster, Update, page
from trainyard.sandbox.aws.eks.versions import KUBELET_SKEW, check_version, minor_number
from trainyard.sandbox.aws.transitions import TRANSITIONS

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
