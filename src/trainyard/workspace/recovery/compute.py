"""Launch templates, placement groups, key pairs and Auto Scaling groups.

Source of the ids: https://www.pulumi.com/registry/packages/aws/api-docs/ (section "Import" of each
type).
"""

from __future__ import annotations

from trainyard.workspace.recovery.account import Account, Found, tag_map
from trainyard.workspace.recovery.operations import PendingCreate
from trainyard.workspace.recovery.ways import Way, by_name, repeated


def _launch_template(account: Account, create: PendingCreate) -> list[Found]:
    name = [{"Name": "launch-template-name", "Values": [create.inputs["name"]]}]
    templates = account.all("ec2", "describe_launch_templates", "LaunchTemplates", Filters=name)
    return [Found(t["LaunchTemplateId"], tags=tag_map(t.get("Tags"))) for t in templates]


def _placement_group(account: Account, create: PendingCreate) -> list[Found]:
    name = [{"Name": "group-name", "Values": [create.inputs["name"]]}]
    groups = account.all("ec2", "describe_placement_groups", "PlacementGroups", Filters=name)
    return [
        Found(group["GroupName"], tags=tag_map(group.get("Tags")))
        for group in groups
        if group["State"] in {"pending", "available"}
    ]


def _key_pair(account: Account, create: PendingCreate) -> list[Found]:
    name = [{"Name": "key-name", "Values": [create.inputs["keyName"]]}]
    pairs = account.all("ec2", "describe_key_pairs", "KeyPairs", Filters=name)
    return [Found(pair["KeyName"], tags=tag_map(pair.get("Tags"))) for pair in pairs]


def _group(account: Account, create: PendingCreate) -> list[Found]:
    groups = account.all(
        "autoscaling",
        "describe_auto_scaling_groups",
        "AutoScalingGroups",
        AutoScalingGroupNames=[create.inputs["name"]],
    )
    # `Status` is present only while the group is being deleted.
    # https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_AutoScalingGroup.html
    return [
        Found(group["AutoScalingGroupName"], tags=tag_map(group.get("Tags")))
        for group in groups
        if not group.get("Status")
    ]


WAYS: dict[str, Way] = {
    "aws:ec2/launchTemplate:LaunchTemplate": by_name(
        "ec2:DescribeLaunchTemplates", _launch_template
    ),
    "aws:ec2/placementGroup:PlacementGroup": by_name(
        "ec2:DescribePlacementGroups", _placement_group
    ),
    "aws:ec2/keyPair:KeyPair": by_name("ec2:DescribeKeyPairs", _key_pair),
    "aws:autoscaling/group:Group": by_name("autoscaling:DescribeAutoScalingGroups", _group),
    "aws:autoscaling/schedule:Schedule": repeated(
        "`PutScheduledUpdateGroupAction` with the same name updates the existing action, which is "
        "deleted with its Auto Scaling group"
    ),
    "aws:autoscaling/lifecycleHook:LifecycleHook": repeated(
        "`PutLifecycleHook` with the same name updates the existing hook, which is deleted with "
        "its Auto Scaling group"
    ),
}
