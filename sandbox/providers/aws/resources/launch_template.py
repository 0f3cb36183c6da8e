"""Launch templates and placement groups.

A change of a launch template makes a new version; nothing that was launched changes.

Source: https://www.pulumi.com/registry/packages/aws/api-docs/ec2/launchtemplate/
"""

from __future__ import annotations

from typing import Any

from sandbox.providers.aws.account import Account, retag_ec2, tag_list, tag_map
from sandbox.providers.aws.resource import ResourceType, Values
from sandbox.providers.aws.resources.launch_template_data import (
    from_aws,
    to_aws,
    unknown_properties,
)

DATA = frozenset(
    {
        "blockDeviceMappings",
        "capacityReservationSpecification",
        "ebsOptimized",
        "iamInstanceProfile",
        "imageId",
        "instanceMarketOptions",
        "instanceType",
        "keyName",
        "metadataOptions",
        "monitoring",
        "networkInterfaces",
        "placement",
        "tagSpecifications",
        "userData",
        "vpcSecurityGroupIds",
    }
)


def _data(inputs: Values) -> dict[str, Any]:
    return to_aws({key: inputs[key] for key in DATA & inputs.keys()})


def _create(account: Account, inputs: Values) -> tuple[str, Values]:
    tags = tag_list(inputs.get("tags"))
    answer = account.client("ec2").create_launch_template(
        LaunchTemplateName=inputs["name"],
        VersionDescription=inputs.get("description", ""),
        LaunchTemplateData=_data(inputs),
        TagSpecifications=[{"ResourceType": "launch-template", "Tags": tags}] if tags else [],
    )
    return answer["LaunchTemplate"]["LaunchTemplateId"], {}


def _read(account: Account, template_id: str) -> Values | None:
    ec2 = account.client("ec2")
    found = ec2.describe_launch_templates(LaunchTemplateIds=[template_id])["LaunchTemplates"]
    if not found:
        return None
    template = found[0]
    version = ec2.describe_launch_template_versions(
        LaunchTemplateId=template_id, Versions=["$Latest"]
    )["LaunchTemplateVersions"][0]
    return {
        "arn": account.arn("ec2", f"launch-template/{template_id}"),
        "name": template["LaunchTemplateName"],
        "latestVersion": template["LatestVersionNumber"],
        "defaultVersion": template["DefaultVersionNumber"],
        "description": version.get("VersionDescription") or None,
        "tags": tag_map(template.get("Tags")) or None,
        **dict.fromkeys(DATA),
        **from_aws(version["LaunchTemplateData"]),
    }


def _update(account: Account, template_id: str, olds: Values, news: Values) -> None:
    ec2 = account.client("ec2")
    content = {*DATA, "description"}
    if any(olds.get(key) != news.get(key) for key in content):
        answer = ec2.create_launch_template_version(
            LaunchTemplateId=template_id,
            VersionDescription=news.get("description", ""),
            LaunchTemplateData=_data(news),
        )
        if news.get("updateDefaultVersion"):
            version = str(answer["LaunchTemplateVersion"]["VersionNumber"])
            ec2.modify_launch_template(LaunchTemplateId=template_id, DefaultVersion=version)
    retag_ec2(account, template_id, olds, news)


def _delete(account: Account, template_id: str, outputs: Values) -> None:
    account.client("ec2").delete_launch_template(LaunchTemplateId=template_id)


LAUNCH_TEMPLATE = ResourceType(
    token="aws:ec2/launchTemplate:LaunchTemplate",
    inputs=DATA | {"name", "description", "tags", "updateDefaultVersion"},
    computed=frozenset({"arn", "latestVersion", "defaultVersion"}),
    replace_on=frozenset({"name"}),
    recomputed=frozenset({"latestVersion", "defaultVersion"}),
    name_property="name",
    name_limit=125,
    create=_create,
    unknown_inside=unknown_properties,
    read=_read,
    update=_update,
    delete=_delete,
)


def _create_placement_group(account: Account, inputs: Values) -> tuple[str, Values]:
    tags = tag_list(inputs.get("tags"))
    account.client("ec2").create_placement_group(
        GroupName=inputs["name"],
        Strategy=inputs["strategy"],
        TagSpecifications=[{"ResourceType": "placement-group", "Tags": tags}] if tags else [],
    )
    return inputs["name"], {}


def _read_placement_group(account: Account, name: str) -> Values:
    answer = account.client("ec2").describe_placement_groups(GroupNames=[name])
    group = answer["PlacementGroups"][0]
    return {
        "arn": group["GroupArn"],
        "name": group["GroupName"],
        "placementGroupId": group["GroupId"],
        "strategy": group["Strategy"],
        "tags": tag_map(group.get("Tags")) or None,
    }


def _retag_placement_group(account: Account, name: str, olds: Values, news: Values) -> None:
    groups = account.client("ec2").describe_placement_groups(GroupNames=[name])["PlacementGroups"]
    retag_ec2(account, groups[0]["GroupId"], olds, news)


def _delete_placement_group(account: Account, name: str, outputs: Values) -> None:
    account.client("ec2").delete_placement_group(GroupName=name)


PLACEMENT_GROUP = ResourceType(
    token="aws:ec2/placementGroup:PlacementGroup",
    inputs=frozenset({"name", "strategy", "tags"}),
    required=frozenset({"strategy"}),
    computed=frozenset({"arn", "placementGroupId"}),
    replace_on=frozenset({"name", "strategy"}),
    name_property="name",
    create=_create_placement_group,
    read=_read_placement_group,
    update=_retag_placement_group,
    delete=_delete_placement_group,
)

RESOURCE_TYPES = (LAUNCH_TEMPLATE, PLACEMENT_GROUP)
