"""Managed node groups: their calls, validation, and what EKS creates for them."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from datetime import timedelta
from typing import Any

from moto.autoscaling.models import autoscaling_backends
from moto.core.responses import ActionResult
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import ec2_backends
from moto.iam.models import iam_backends
from moto.moto_api._internal import mock_random

from trainyard.sandbox.account.images import image_of_type
from trainyard.sandbox.aws.autoscaling.groups import activities_of
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.capacity_reservations import reservations_of
from trainyard.sandbox.aws.eks.access import AccessEntryCalls, make_node_entry
from trainyard.sandbox.aws.eks.clusters import (
    NODE_GROUP_TYPE,
    check_role,
    find_subnets,
    record_update,
    role_named_in,
)
from trainyard.sandbox.aws.eks.store import (
    Cluster,
    EksStore,
    in_use,
    invalid_parameter,
    invalid_request,
    page,
    without_path,
)
from trainyard.sandbox.aws.eks.versions import NODE_RELEASES, minor_number
from trainyard.sandbox.aws.transitions import TRANSITIONS
from trainyard.sandbox.faults.kinds import never_joins
from trainyard.sandbox.faults.schedule import FAULTS

# EKS's validation of a managed node group and its launch template.
#
# https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
# https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html


About = Mapping[str, Any]

_PROHIBITED = {
    "IamInstanceProfile": "an IAM instance profile (the node role of the node group is used)",
    "InstanceInitiatedShutdownBehavior": "a shutdown behavior",
    "HibernationOptions": "a stop-hibernate behavior",
}


def template_of(ec2: Any, specification: Mapping[str, Any], about: About) -> Any:
    """Return moto's version of a launch template.

    Raises:
        InvalidRequestException: It does not exist.
    """
    try:
        template = (
            ec2.get_launch_template(specification["id"])
            if specification.get("id")
            else ec2.get_launch_template_by_name(specification.get("name"))
        )
        return template.get_version(specification.get("version") or "$Default")
    except (EC2ClientError, ValueError) as error:
        invalid_request(f"The launch template could not be found: {error}", **about)


def check_template(template: Mapping[str, Any], asked: Mapping[str, Any], about: About) -> None:
    """Reject a template with settings that belong to the node group.

    Args:
        template: The template's data.
        asked: The parameters of the node group.
        about: Names for the error.

    Raises:
        InvalidRequestException: The first setting that is not allowed.
    """
    interfaces = template.get("NetworkInterfaces") or []
    if any(interface.get("SubnetId") for interface in interfaces):
        invalid_request(
            "The launch template may not specify a subnet in its network interfaces; the subnets "
            "of a managed node group stand in the node group.",
            **about,
        )
    for field, words in _PROHIBITED.items():
        if template.get(field):
            invalid_request(f"The launch template may not specify {words}.", **about)
    if template.get("InstanceType") and asked.get("instanceTypes"):
        invalid_parameter(
            "Instance type cannot be specified in both the node group and the launch template.",
            **about,
        )
    if template.get("ImageId"):
        given = [key for key in ("amiType", "version", "releaseVersion") if asked.get(key)]
        given = [key for key in given if asked[key] != "CUSTOM" and "nodegroupArn" not in asked]
        if given:
            invalid_parameter(
                f"{given[0]} cannot be specified with a launch template that has an image.",
                **about,
            )


def check_capacity(asked: Mapping[str, Any], template: Mapping[str, Any], about: About) -> None:
    """Reject a capacity type that does not match the template.

    Raises:
        InvalidRequestException: A Capacity Block without the required settings, or a template for
            one without the capacity type.
    """
    capacity_type = asked.get("capacityType") or "ON_DEMAND"
    market = (template.get("InstanceMarketOptions") or {}).get("MarketType")
    if capacity_type != "CAPACITY_BLOCK":
        if market == "capacity-block":
            invalid_request(
                "The launch template has the market type capacity-block; the node group needs the "
                "capacity type CAPACITY_BLOCK.",
                **about,
            )
        if market == "spot":
            invalid_request(
                "The launch template may not have the market type spot; the node group has the "
                "capacity type SPOT for it.",
                **about,
            )
        return
    reservation = (template.get("CapacityReservationSpecification") or {}).get(
        "CapacityReservationTarget"
    )
    missing = [
        words
        for words, present in (
            ("the market type capacity-block", market == "capacity-block"),
            ("a capacity reservation target", bool(reservation)),
            ("an instance type", bool(template.get("InstanceType"))),
        )
        if not present
    ]
    if missing:
        invalid_request(
            f"The capacity type CAPACITY_BLOCK needs a launch template with {', '.join(missing)}.",
            **about,
        )


def check_scaling(scaling: Mapping[str, int]) -> None:
    """Reject contradictory sizes.

    Raises:
        InvalidParameterException: The first contradiction.
    """
    minimum, maximum, desired = scaling["minSize"], scaling["maxSize"], scaling["desiredSize"]
    if maximum < 1:
        invalid_parameter("Maximum capacity must be at least 1")
    if minimum > maximum:
        invalid_parameter(
            f"Minimum capacity {minimum} can't be greater than maximum size {maximum}"
        )
    if desired < minimum:
        invalid_parameter(
            f"Minimum capacity {minimum} can't be greater than desired size {desired}"
        )
    if desired > maximum:
        invalid_parameter(f"Desired capacity {desired} can't be greater than max size {maximum}")


def check_release(version: str, release: str | None, cluster_version: str, about: About) -> str:
    """Return the requested release of the node images.

    Raises:
        InvalidParameterException: The nodes would be newer than the control plane, or the sandbox
            has no images of the release.
    """
    if minor_number(version) > minor_number(cluster_version):
        invalid_parameter(
            f"Nodegroup Kubernetes version {version} is newer than the version of the cluster, "
            f"{cluster_version}",
            **about,
        )
    there = NODE_RELEASES.get(version)
    if there is None or release not in (None, there):
        known = ", ".join(NODE_RELEASES.values())
        invalid_parameter(
            f"Requested Nodegroup release version {release or version} is invalid. Allowed release "
            f"version is {known}",
            **about,
        )
    return there


# What EKS creates for a managed node group: template, instance profile, Auto Scaling group.
#
# EKS copies the node group's launch template to a new one, `eks-<uuid>`, creates an instance
# profile of the node role, and runs the instances in the Auto Scaling group `eks-<name>-<uuid>`.


DEFAULT_IMAGE_TYPE = "AL2023_x86_64_STANDARD"

_IMAGE_TYPES = (
    DEFAULT_IMAGE_TYPE,
    "AL2023_x86_64_NVIDIA",
    "AL2023_x86_64_NEURON",
    "AL2023_ARM_64_STANDARD",
    "AL2023_ARM_64_NVIDIA",
    "CUSTOM",
)


def image_type(asked: str | None) -> str:
    """Return the requested image type, or the default.

    Raises:
        InvalidParameterException: The sandbox has no such images.
    """
    if asked not in (None, *_IMAGE_TYPES):
        invalid_parameter(
            f"The sandbox has no images of type {asked}; it has {', '.join(_IMAGE_TYPES)}"
        )
    return asked or DEFAULT_IMAGE_TYPE


class Machines:
    """The objects that EKS creates for a node group.

    Args:
        account_id: The account.
        region: Its region.
        cluster: The cluster.
        group: The node group's fields, as in DescribeNodegroup.
    """

    def __init__(
        self, account_id: str, region: str, cluster: Cluster, group: dict[str, Any]
    ) -> None:
        self._account_id = account_id
        self._ec2: Any = ec2_backends[account_id][region]
        self._autoscaling: Any = autoscaling_backends[account_id][region]
        self._iam: Any = iam_backends[account_id]["aws"]
        self._cluster = cluster
        self._group = group

    @property
    def _unique(self) -> str:
        return self._group["nodegroupArn"].rpartition("/")[2]

    @property
    def _shared_name(self) -> str:
        """Name of the template and of the profile."""
        return f"eks-{self._unique}"

    @property
    def _autoscaling_name(self) -> str:
        return f"eks-{self._group['nodegroupName']}-{self._unique}"

    def create(self) -> str:
        """Create all objects; return the name of the Auto Scaling group."""
        self._make_profile()
        template = self._ec2.create_launch_template(
            self._shared_name, "", self._template_data(), {}
        )
        scaling = self._group["scalingConfig"]
        self._autoscaling.create_auto_scaling_group(
            name=self._autoscaling_name,
            availability_zones=[],
            desired_capacity=scaling["desiredSize"],
            max_size=scaling["maxSize"],
            min_size=scaling["minSize"],
            launch_config_name="",
            launch_template={"LaunchTemplateId": template.id, "Version": "1"},
            vpc_zone_identifier=",".join(self._group["subnets"]),
            default_cooldown=300,
            health_check_period=15,
            health_check_type="EC2",
            load_balancers=[],
            target_group_arns=[],
            placement_group=None,
            termination_policies=["AllocationStrategy", "OldestLaunchTemplate", "OldestInstance"],
            tags=self._tags(),
        )
        return self._autoscaling_name

    def resize(self) -> None:
        """Apply the node group's sizes to the Auto Scaling group."""
        scaling, behind = self._group["scalingConfig"], self._behind()
        behind.min_size, behind.max_size = scaling["minSize"], scaling["maxSize"]
        behind.set_desired_capacity(scaling["desiredSize"])

    def sizes(self) -> dict[str, int]:
        """Return the sizes of the Auto Scaling group, which scheduled actions may also change."""
        behind = self._behind()
        return {
            "minSize": behind.min_size,
            "maxSize": behind.max_size,
            "desiredSize": behind.desired_capacity,
        }

    def replace(self) -> None:
        """Replace all instances with ones of the node group's current template and release."""
        behind = self._behind()
        template = self._ec2.get_launch_template_by_name(self._shared_name)
        version = template.create_version(self._template_data(), "")
        behind.launch_template_version = str(version.number)
        behind.provided_launch_template_version = str(version.number)
        desired = behind.desired_capacity
        behind.set_desired_capacity(0)
        behind.set_desired_capacity(desired)

    def delete(self) -> None:
        """Terminate the instances and delete all objects that `create` created."""
        self._autoscaling.delete_auto_scaling_group(self._autoscaling_name)
        self._ec2.delete_launch_template(self._shared_name, None)
        profile = self._iam.get_instance_profile(self._shared_name)
        profile.roles.clear()
        self._iam.delete_instance_profile(self._shared_name)

    def issues(self) -> list[dict[str, Any]]:
        """Return health issues: failed launches, and nodes that do not join.

        EKS waits some twenty minutes for the nodes; here the fault schedule reports at once that
        they never join.
        The codes are those of https://docs.aws.amazon.com/eks/latest/APIReference/API_Issue.html
        """
        behind = self._behind()
        if behind.next_attempt is None:
            waits_for_ever = self._group["status"] != "ACTIVE" and never_joins(
                FAULTS, self._group["nodegroupName"]
            )
            outside = [each.instance.id for each in behind.instance_states if waits_for_ever]
            return [_never_joined(outside)] if outside else []
        failed = [
            activity
            for activity in activities_of(self._autoscaling)
            if activity.auto_scaling_group_arn == behind.arn and activity.status_code == "Failed"
        ]
        return [
            {
                "code": "AsgInstanceLaunchFailures",
                "message": activity.status_message,
                "resourceIds": [behind.name],
            }
            for activity in failed[:1]
        ]

    def _behind(self) -> Any:
        return self._autoscaling.autoscaling_groups[self._autoscaling_name]

    def _make_profile(self) -> None:
        role = role_named_in(self._account_id, self._group["nodeRole"])
        self._iam.create_instance_profile(self._shared_name, "/", [role.name])

    def _template_data(self) -> dict[str, Any]:
        data = deepcopy(self._own_template())
        data.setdefault("InstanceType", (self._group.get("instanceTypes") or [None])[0])
        if "ImageId" not in data:
            data["ImageId"] = image_of_type(self._group["amiType"], self._group["version"])
        data["IamInstanceProfile"] = {"Name": self._shared_name}
        cluster_group = self._cluster.fields["resourcesVpcConfig"]["clusterSecurityGroupId"]
        interfaces = data.get("NetworkInterfaces") or []
        for interface in interfaces:
            interface.setdefault("Groups", [cluster_group])
        if not interfaces and not data.get("SecurityGroupIds"):
            data["SecurityGroupIds"] = [cluster_group]
        if "diskSize" in self._group:
            ebs = {"VolumeSize": self._group["diskSize"], "VolumeType": "gp3"}
            data.setdefault("BlockDeviceMappings", [{"DeviceName": "/dev/xvda", "Ebs": ebs}])
        if self._group["capacityType"] == "SPOT":
            data["InstanceMarketOptions"] = {"MarketType": "spot"}
        # EKS requires IMDSv2 with two hops if the template does not specify it.
        data.setdefault("MetadataOptions", {"HttpTokens": "required", "HttpPutResponseHopLimit": 2})
        return data

    def _own_template(self) -> dict[str, Any]:
        specification = self._group.get("launchTemplate")
        if specification is None:
            return {}
        return (
            self._ec2.get_launch_template(specification["id"])
            .get_version(specification["version"])
            .data
        )

    def _tags(self) -> list[dict[str, Any]]:
        cluster = self._cluster.name
        tags = {
            "eks:cluster-name": cluster,
            "eks:nodegroup-name": self._group["nodegroupName"],
            f"kubernetes.io/cluster/{cluster}": "owned",
            "k8s.io/cluster-autoscaler/enabled": "true",
            f"k8s.io/cluster-autoscaler/{cluster}": "owned",
        }
        return [
            {"Key": key, "Value": value, "PropagateAtLaunch": True} for key, value in tags.items()
        ]


def _never_joined(instance_ids: list[str]) -> dict[str, Any]:
    # Seen in https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3074
    return {
        "code": "NodeCreationFailure",
        "message": "Instances failed to join the kubernetes cluster",
        "resourceIds": instance_ids,
    }


# EKS scales a Capacity Block's node group in before the block ends.
#
# https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html: forty minutes before
# the end, so that the pods are drained before EC2 terminates the instances.


SCALE_IN_LEAD = timedelta(minutes=40)


def scale_in_ending_blocks(ec2: Any, store: EksStore) -> list[str]:
    """Set the desired size of node groups with an ending block to 0.

    Returns:
        Names of the node groups that were scaled in.
    """
    names: list[str] = []
    for cluster in store.clusters.values():
        for group in cluster.node_groups.values():
            machines = Machines(store.account_id, store.region_name, cluster, group)
            sizes = machines.sizes()
            if group["capacityType"] != "CAPACITY_BLOCK" or not sizes["desiredSize"]:
                continue
            if _ends_soon(ec2, group["launchTemplate"]):
                group["scalingConfig"] = {**sizes, "minSize": 0, "desiredSize": 0}
                machines.resize()
                names.append(group["nodegroupName"])
    return names


def _ends_soon(ec2: Any, template: dict[str, str]) -> bool:
    data = ec2.get_launch_template(template["id"]).get_version(template["version"]).data
    target = data["CapacityReservationSpecification"]["CapacityReservationTarget"]
    reservation = reservations_of(ec2).by_id.get(target.get("CapacityReservationId", ""))
    if reservation is None or reservation.ends_at is None:
        return False
    return CLOCK.now() >= reservation.ends_at - SCALE_IN_LEAD


# CreateNodegroup, DescribeNodegroup, ListNodegroups, DeleteNodegroup and the updates of one.
#
# https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html


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
