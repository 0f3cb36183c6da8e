"""What EKS creates for a managed node group: template, instance profile, Auto Scaling group.

EKS copies the node group's launch template to a new one, `eks-<uuid>`, creates an instance profile
of the node role, and runs the instances in the Auto Scaling group `eks-<name>-<uuid>`.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from moto.autoscaling.models import autoscaling_backends
from moto.ec2.models import ec2_backends
from moto.iam.models import iam_backends

from trainyard.sandbox.account.images import image_of_type
from trainyard.sandbox.aws.autoscaling.activities import activities_of
from trainyard.sandbox.aws.eks.errors import invalid_parameter
from trainyard.sandbox.aws.eks.roles import role_named_in
from trainyard.sandbox.aws.eks.store import Cluster
from trainyard.sandbox.faults.clusters import never_joins
from trainyard.sandbox.faults.in_force import FAULTS

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
