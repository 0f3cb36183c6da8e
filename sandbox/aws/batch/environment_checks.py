"""Batch's validation of a compute environment that is created or updated.

Sources:
    https://docs.aws.amazon.com/batch/latest/APIReference/API_ComputeResource.html
    https://docs.aws.amazon.com/batch/latest/userguide/infrastructure-updates.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from moto.core.exceptions import ServiceException
from moto.ec2.exceptions import EC2ClientError

from trainyard.sandbox.aws.batch.errors import only, refuse
from trainyard.sandbox.aws.batch.store import Fields
from trainyard.sandbox.aws.ec2.instance_types import type_information
from trainyard.sandbox.aws.ec2.launch_request import merge

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_MAXIMUM_GROUPS = 5
"""https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html, and the limit per network
interface:
https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html"""
_KNOWN = frozenset(
    {
        "type",
        "allocationStrategy",
        "minvCpus",
        "maxvCpus",
        "desiredvCpus",
        "instanceTypes",
        "imageId",
        "subnets",
        "securityGroupIds",
        "ec2KeyPair",
        "instanceRole",
        "tags",
        "placementGroup",
        "bidPercentage",
        "spotIamFleetRole",
        "launchTemplate",
        "ec2Configuration",
    }
)
_STRATEGIES = {
    "EC2": ("BEST_FIT", "BEST_FIT_PROGRESSIVE", "BEST_FIT_PROGRESSIVE_ORDERED"),
    "SPOT": (
        "BEST_FIT",
        "BEST_FIT_PROGRESSIVE",
        "SPOT_CAPACITY_OPTIMIZED",
        "SPOT_CAPACITY_OPTIMIZED_PRIORITIZED",
        "SPOT_PRICE_CAPACITY_OPTIMIZED",
    ),
}
_SCALING = frozenset({"minvCpus", "maxvCpus", "desiredvCpus"})
"""Properties that change without new nodes."""


def check_name(name: str) -> None:
    """Reject an invalid name.

    Raises:
        ClientException: Describes the valid form.
    """
    if not _NAME.fullmatch(name):
        refuse(
            f"Error executing request, Exception : {name} is not a valid name: up to 128 letters, "
            "digits, hyphens and underscores, the first a letter or a digit."
        )


def check_resources(ec2: Any, resources: Fields) -> None:
    """Reject contradictory compute resources.

    Raises:
        ClientException: The first problem.
        NotImplementedError: Unsupported features, such as Fargate.
    """
    only(resources, _KNOWN, "a compute environment")
    kind = resources["type"]
    if kind not in _STRATEGIES:
        raise NotImplementedError(f"compute environments of type {kind}")
    for field in ("instanceTypes", "instanceRole", "subnets"):
        if not resources.get(field):
            refuse(f"{field} is required for compute resources of type {kind}.")
    if resources["allocationStrategy"] not in _STRATEGIES[kind]:
        strategy = resources["allocationStrategy"]
        refuse(f"allocationStrategy {strategy} is not supported for type {kind}.")
    _check_types(ec2, resources["instanceTypes"])
    _check_groups(ec2, resources)
    _check_sizes(resources)


def _check_types(ec2: Any, types: list[str]) -> None:
    for each in types:
        if "." not in each:
            raise NotImplementedError(f"a compute environment of the instance family {each}")
        try:
            type_information(ec2, each)
        except EC2ClientError:
            refuse(f"Error executing request, Exception : Instance type {each} is not valid.")


def _check_groups(ec2: Any, resources: Fields) -> None:
    groups = resources.get("securityGroupIds") or []
    if len(groups) > _MAXIMUM_GROUPS:
        refuse(f"A compute environment has at most {_MAXIMUM_GROUPS} security groups.")
    if not groups and not resources.get("launchTemplate"):
        refuse("securityGroupIds is required where no launch template names security groups.")
    template = resources.get("launchTemplate") or {"launchTemplateId": "-"}
    if bool(template.get("launchTemplateId")) == bool(template.get("launchTemplateName")):
        refuse("Specify either launchTemplateId or launchTemplateName, and not both.")
    if groups and _template_names_interfaces(ec2, template):
        refuse(
            "Error executing request, Exception : Either compute environment Security Groups or "
            "Network Interfaces in Launch template are exclusively allowed"
        )


def _template_names_interfaces(ec2: Any, template: Fields) -> bool:
    """Return whether a launch template has network interfaces.

    In combination with security groups in the environment, AWS rejects the environment:
    https://github.com/aws/aws-cdk/issues/21577
    """
    names = {
        "LaunchTemplateId": template.get("launchTemplateId"),
        "LaunchTemplateName": template.get("launchTemplateName"),
        "Version": template.get("version"),
    }
    try:
        merged = merge(ec2, {"LaunchTemplate": names}).parameters
    except ServiceException:
        return False  # the environment becomes INVALID with the reason
    return bool(merged.get("NetworkInterfaces"))


def _check_sizes(resources: Fields) -> None:
    minimum, maximum = resources["minvCpus"], resources["maxvCpus"]
    if not 0 <= minimum <= maximum:
        refuse(f"minvCpus {minimum} must be between 0 and maxvCpus {maximum}.")
    if not minimum <= resources["desiredvCpus"] <= maximum:
        refuse("desiredvCpus must be between minvCpus and maxvCpus.")


def infrastructure_changes(before: Fields, change: Mapping[str, Any]) -> list[str]:
    """Return the properties of a change that require new nodes."""
    return sorted(
        field
        for field, value in change.items()
        if field not in _SCALING and value != before.get(field)
    )


def check_update(fields: Fields, change: Mapping[str, Any], *, service_linked_role: str) -> None:
    """Reject a change that Batch does not support for any environment, or for this one.

    Raises:
        ClientException: Why it cannot be updated in place.
    """
    before = fields["computeResources"]
    if change.get("desiredvCpus", before["desiredvCpus"]) < before["desiredvCpus"]:
        refuse(
            "Manually scaling down compute environment is not supported. Disconnecting job queues "
            "from compute environment will cause it to scale-down to minvCpus."
        )
    changed = infrastructure_changes(before, change)
    if not changed:
        return
    if fields["serviceRole"] != service_linked_role:
        refuse(
            f"{', '.join(changed)} can be updated only in a compute environment whose service role "
            "is AWSServiceRoleForBatch."
        )
    if before["allocationStrategy"] == "BEST_FIT":
        refuse(
            f"{', '.join(changed)} cannot be updated in a compute environment with the allocation "
            "strategy BEST_FIT."
        )
