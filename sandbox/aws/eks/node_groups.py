"""CreateNodegroup, DescribeNodegroup, ListNodegroups, DeleteNodegroup and the updates of one.

https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.models import ec2_backends
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.eks.access_entries import AccessEntryCalls, make_node_entry
from trainyard.sandbox.aws.eks.cluster_updates import NODE_GROUP_TYPE, record_update
from trainyard.sandbox.aws.eks.errors import in_use, invalid_parameter, invalid_request
from trainyard.sandbox.aws.eks.network import find_subnets
from trainyard.sandbox.aws.eks.node_group_checks import (
    check_capacity,
    check_release,
    check_scaling,
    check_template,
    template_of,
)
from trainyard.sandbox.aws.eks.node_group_machines import Machines, image_type
from trainyard.sandbox.aws.eks.roles import check_role
from trainyard.sandbox.aws.eks.store import Cluster, page, without_path
from trainyard.sandbox.aws.transitions import TRANSITIONS

NodeGroup = dict[str, Any]

_KEPT = ("remoteAccess", "nodeRepairConfig", "warmPoolConfig")


class NodeGroupCalls(AccessEntryCalls):
    """Calls on managed node groups; mixed into the EKS response class."""

    def create_nodegroup(self) -> ActionResult:
        """CreateNodegroup: its Auto Scaling group launches before the call returns."""
        asked: Mapping[str, Any] = self.params
        cluster = self.active_cluster(asked["clusterName"])
        name = asked["nodegroupName"]
        about = {"clusterName": cluster.name, "nodegroupName": name}
        if name in cluster.node_groups:
            in_use(
                f"NodeGroup already exists with name {name} and cluster name {cluster.name}",
                **about,
            )
        self._check(cluster, asked, about)
        group = self._node_group_fields(cluster, asked)
        machines = self._machines(cluster, group)
        cluster.node_groups[name] = group
        group["resources"] = {"autoScalingGroups": [{"name": machines.create()}]}
        if cluster.uses_access_entries:
            arn = self.access_entry_arn(cluster.name, asked["nodeRole"])
            make_node_entry(cluster, arn, asked["nodeRole"])
        issues = machines.issues()
        group["health"] = {"issues": issues}
        # EKS waits indefinitely for the nodes of a Capacity Block, which may not have started.
        failed = issues and group["capacityType"] != "CAPACITY_BLOCK"
        ended = "CREATE_FAILED" if failed else "ACTIVE"
        TRANSITIONS.begin(NODE_GROUP_TYPE, "create", lambda: group.update(status=ended))
        return ActionResult({"nodegroup": _described({**group, "status": "CREATING"})})

    def describe_nodegroup(self) -> ActionResult:
        """DescribeNodegroup."""
        cluster, group = self._group()
        if group["status"] == "DELETING":
            return ActionResult({"nodegroup": _described(group)})
        machines = self._machines(cluster, group)
        group["scalingConfig"] = machines.sizes()
        group["health"] = {"issues": machines.issues()}
        if group["status"] == "CREATE_FAILED" and not group["health"]["issues"]:
            group["status"] = "ACTIVE"
        return ActionResult({"nodegroup": _described(group)})

    def list_nodegroups(self) -> ActionResult:
        """ListNodegroups."""
        cluster = self.store.cluster(self.params["clusterName"])
        names, token = page(
            list(cluster.node_groups), self.params.get("nextToken"), self.params.get("maxResults")
        )
        return ActionResult({"nodegroups": names, "nextToken": token})

    def delete_nodegroup(self) -> ActionResult:
        """DeleteNodegroup: terminates its instances, then deletes the objects that EKS created."""
        cluster, group = self._group()
        if group["status"] != "DELETING":
            self._machines(cluster, group).delete()
            group["status"] = "DELETING"
            TRANSITIONS.begin(NODE_GROUP_TYPE, "delete", lambda: self._forget_group(cluster, group))
        return ActionResult({"nodegroup": _described(group)})

    def update_nodegroup_config(self) -> ActionResult:
        """UpdateNodegroupConfig: labels, taints, sizes, update and repair configuration."""
        asked: Mapping[str, Any] = self.params
        cluster, group = self._group()
        changes: dict[str, Any] = {}
        if asked.get("scalingConfig"):
            wanted = {**group["scalingConfig"], **asked["scalingConfig"]}
            check_scaling(wanted)
            group["scalingConfig"] = wanted
            changes.update({key[0].upper() + key[1:]: value for key, value in wanted.items()})
        _change_labels(group, asked.get("labels") or {}, changes)
        _change_taints(group, asked.get("taints") or {}, changes)
        for key in ("updateConfig", "nodeRepairConfig", "warmPoolConfig"):
            if asked.get(key) is not None:
                group[key] = asked[key]
                changes[key[0].upper() + key[1:]] = asked[key]
        group["modifiedAt"] = CLOCK.now()
        self._machines(cluster, group).resize()
        update = record_update(cluster, "ConfigUpdate", changes, node_group=group["nodegroupName"])
        return ActionResult({"update": update})

    def update_nodegroup_version(self) -> ActionResult:
        """UpdateNodegroupVersion: another release or template version; replaces every node."""
        asked: Mapping[str, Any] = self.params
        cluster, group = self._group()
        about = {"clusterName": cluster.name, "nodegroupName": group["nodegroupName"]}
        if group["capacityType"] == "CAPACITY_BLOCK" and group["scalingConfig"]["desiredSize"]:
            invalid_request(
                "A node group of a Capacity Block can be updated only while its desired size is 0.",
                **about,
            )
        changes: dict[str, Any] = {}
        if asked.get("launchTemplate"):
            if not group.get("launchTemplate"):
                invalid_request(
                    "A node group without a launch template cannot be given one.", **about
                )
            template = template_of(self._ec2(), asked["launchTemplate"], about)
            check_template(template.data, {**group, "instanceTypes": None}, about)
            group["launchTemplate"] = _described_template(template)
            changes["LaunchTemplateVersion"] = str(template.number)
        own_image = group["amiType"] == "CUSTOM"
        if own_image and not asked.get("launchTemplate"):
            invalid_request(
                "A node group with an image of its own is updated by a version of its launch "
                "template.",
                **about,
            )
        if own_image:
            group["releaseVersion"] = template_of(self._ec2(), group["launchTemplate"], about).data[
                "ImageId"
            ]
        elif asked.get("version") or asked.get("releaseVersion") or not asked.get("launchTemplate"):
            version = asked.get("version") or cluster.fields["version"]
            release = check_release(
                version, asked.get("releaseVersion"), cluster.fields["version"], about
            )
            group["version"], group["releaseVersion"] = version, release
            changes.update(Version=version, ReleaseVersion=release)
        group["modifiedAt"] = CLOCK.now()
        self._machines(cluster, group).replace()
        update = record_update(cluster, "VersionUpdate", changes, node_group=group["nodegroupName"])
        return ActionResult({"update": update})

    def _ec2(self) -> Any:
        return ec2_backends[self.current_account][self.region]

    def _group(self) -> tuple[Cluster, NodeGroup]:
        cluster = self.store.cluster(self.params["clusterName"])
        return cluster, cluster.node_group(self.params["nodegroupName"])

    def _machines(self, cluster: Cluster, group: NodeGroup) -> Machines:
        return Machines(self.current_account, self.region, cluster, group)

    def _check(self, cluster: Cluster, asked: Mapping[str, Any], about: dict[str, Any]) -> None:
        check_role(self.current_account, asked["nodeRole"], **about)
        vpc_id = cluster.fields["resourcesVpcConfig"]["vpcId"]
        for subnet in find_subnets(self._ec2(), asked["subnets"], **about):
            if subnet.vpc_id != vpc_id:
                invalid_parameter(
                    f"Subnet {subnet.id} does not belong to the cluster's VPC {vpc_id}.", **about
                )
        check_scaling(_scaling(asked))
        if asked.get("launchTemplate"):
            if asked.get("diskSize"):
                invalid_parameter(
                    "Disk size must be specified within the launch template.", **about
                )
            if asked.get("remoteAccess"):
                invalid_parameter(
                    "Remote access configuration cannot be specified with a launch template.",
                    **about,
                )
            template = template_of(self._ec2(), asked["launchTemplate"], about)
            check_template(template.data, asked, about)
            check_capacity(asked, template.data, about)
        else:
            check_capacity(asked, {}, about)

    def _node_group_fields(self, cluster: Cluster, asked: Mapping[str, Any]) -> NodeGroup:
        name, now = asked["nodegroupName"], CLOCK.now()
        unique = str(mock_random.uuid4())
        about = {"clusterName": cluster.name, "nodegroupName": name}
        template = (
            template_of(self._ec2(), asked["launchTemplate"], about)
            if asked.get("launchTemplate")
            else None
        )
        own_image = None if template is None else template.data.get("ImageId")
        types = asked.get("instanceTypes")
        if not types and not (template is not None and template.data.get("InstanceType")):
            types = ["t3.medium"]  # EKS's default
        group: NodeGroup = {
            "nodegroupName": name,
            "nodegroupArn": self.arn("nodegroup", cluster.name, name, unique),
            "clusterName": cluster.name,
            **_release(cluster, asked, own_image, about),
            "createdAt": now,
            "modifiedAt": now,
            "status": "CREATING",
            "capacityType": asked.get("capacityType") or "ON_DEMAND",
            "scalingConfig": _scaling(asked),
            "subnets": list(asked["subnets"]),
            "amiType": "CUSTOM" if own_image else image_type(asked.get("amiType")),
            "nodeRole": asked["nodeRole"],
            "labels": dict(asked.get("labels") or {}),
            "taints": list(asked.get("taints") or []),
            "health": {"issues": []},
            "updateConfig": asked.get("updateConfig") or {"maxUnavailable": 1},
            "tags": dict(asked.get("tags") or {}),
            **{key: asked[key] for key in _KEPT if asked.get(key)},
        }
        if types:
            group["instanceTypes"] = list(types)
        if template is None:
            group["diskSize"] = asked.get("diskSize") or 20  # EKS's default, GiB
        else:
            group["launchTemplate"] = _described_template(template)
        return group

    def _forget_group(self, cluster: Cluster, group: NodeGroup) -> None:
        del cluster.node_groups[group["nodegroupName"]]
        self._drop_entry(cluster, group["nodeRole"])

    def _drop_entry(self, cluster: Cluster, role_arn: str) -> None:
        """Delete the entry that EKS created for a role if no node group has the role."""
        entry = cluster.access_entries.get(role_arn)
        still = {without_path(group["nodeRole"]) for group in cluster.node_groups.values()}
        if entry is not None and entry.made_by_eks and without_path(role_arn) not in still:
            del cluster.access_entries[role_arn]


def _described(group: NodeGroup) -> NodeGroup:
    """Return a node group as EKS shows it.

    It has no `taints` if there are none, and in `CREATING` no Auto Scaling group:
    aws/aws-cli, awscli/examples/eks/create-nodegroup.rst at 07c4fe36
    """
    hidden = {"taints"} if not group["taints"] else set[str]()
    hidden |= {"resources"} if group["status"] == "CREATING" else set()
    return {key: value for key, value in group.items() if key not in hidden}


def _release(
    cluster: Cluster, asked: Mapping[str, Any], own_image: str | None, about: dict[str, Any]
) -> dict[str, str]:
    """Return the version fields of a new node group.

    One with an image of its own has no version, and the image as its release: eksctl-io/eksctl,
    pull request 3960, and aws-samples/eks-cluster-upgrade, issue 123.
    """
    if own_image:
        return {"releaseVersion": own_image}
    current = cluster.fields["version"]
    version = asked.get("version") or current
    release = check_release(version, asked.get("releaseVersion"), current, about)
    return {"version": version, "releaseVersion": release}


def _scaling(asked: Mapping[str, Any]) -> dict[str, int]:
    # EKS's defaults, https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html
    return {"minSize": 1, "maxSize": 2, "desiredSize": 1, **(asked.get("scalingConfig") or {})}


def _described_template(version: Any) -> dict[str, str]:
    return {
        "id": version.template.id,
        "name": version.template.name,
        "version": str(version.number),
    }


def _change_labels(group: NodeGroup, wanted: Mapping[str, Any], changes: dict[str, Any]) -> None:
    group["labels"].update(wanted.get("addOrUpdateLabels") or {})
    for key in wanted.get("removeLabels") or []:
        group["labels"].pop(key, None)
    if wanted.get("addOrUpdateLabels"):
        changes["LabelsToAdd"] = wanted["addOrUpdateLabels"]
    if wanted.get("removeLabels"):
        changes["LabelsToRemove"] = wanted["removeLabels"]


def _change_taints(group: NodeGroup, wanted: Mapping[str, Any], changes: dict[str, Any]) -> None:
    added, removed = wanted.get("addOrUpdateTaints") or [], wanted.get("removeTaints") or []
    touched = {(taint["key"], taint["effect"]) for taint in [*added, *removed]}
    kept = [taint for taint in group["taints"] if (taint["key"], taint["effect"]) not in touched]
    group["taints"] = [*kept, *added]
    if added:
        changes["TaintsToAdd"] = added
    if removed:
        changes["TaintsToRemove"] = removed
