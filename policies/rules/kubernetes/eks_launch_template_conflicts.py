"""A managed node group does not say what only its launch template may, nor the other way round.

Why:
    EKS refuses a node group with a launch template and a disk size, remote access, or instance
    types in both; a launch template with a subnet or an instance profile; and, beside an image of
    one's own in the template, an image type, a release or a version. It does so when the group is
    made, after the control plane has been waited for.
Fix:
    Leave the setting in one place: the launch template, or the node group.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
    https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.launches import templates_of
from policies.resources.props import Facts, is_set
from policies.resources.stack import Stack
from policies.resources.types import EKS_NODE_GROUP
from policies.rule import Config, on_stack

_IN_THE_TEMPLATE_ONLY = ("diskSize", "remoteAccess")
_WITHOUT_AN_IMAGE = ("amiType", "releaseVersion", "version")


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for group in stack.of_type(EKS_NODE_GROUP):
        facts = stack.facts_of(group.urn)
        if facts.get("launchTemplate") is None:
            continue
        for name in _IN_THE_TEMPLATE_ONLY:
            if is_set(facts.get(name)):
                yield (
                    group.urn,
                    (
                        f"it has a launch template and {name}, which EKS refuses; say it in the "
                        "launch template"
                    ),
                )
        for template in templates_of(stack, group):
            for fault in _faults(facts, stack.facts_of(template.urn)):
                yield group.urn, f"with its launch template {template.name}, {fault}"


def _faults(group: Facts, template: Facts) -> Iterator[str]:
    both = is_set(template.get("instanceType")) and group.count("instanceTypes")
    # For a Capacity Block there is a rule of its own.
    if both and group.get("capacityType") != "CAPACITY_BLOCK":
        yield (
            "it has instance types in both places, which EKS refuses; leave instance_types of the "
            "node group out"
        )
    if is_set(template.get("imageId")):
        given = [name for name in _WITHOUT_AN_IMAGE if _says(group, name)]
        if given:
            yield (
                f"it has an image of its own and {', '.join(given)}, which EKS refuses; leave them "
                "out of the node group"
            )
    if is_set(template.get("iamInstanceProfile")):
        yield (
            "it has an instance profile, and EKS makes one of the node role; leave "
            "iam_instance_profile out of the launch template"
        )
    for index in range(template.count("networkInterfaces")):
        if is_set(template.get("networkInterfaces", index, "subnetId")):
            yield (
                f"network interface {index} names a subnet, which EKS refuses; leave subnet_id out "
                "of the launch template, and set subnet_ids of the node group"
            )


def _says(group: Facts, name: str) -> bool:
    value = group.get(name)
    # Of a group that exists EKS tells the version and the release (the image's id), whatever the
    # program says of them; such a group was not refused.
    if name != "amiType" and isinstance(group.get("arn"), str):
        return False
    return is_set(value) and value != "CUSTOM"


POLICY = StackValidationPolicy(
    name="eks-launch-template-conflicts",
    display_name="Managed node groups and their templates do not say things twice",
    description=(
        "A managed node group and its launch template do not both say what EKS takes in one place."
    ),
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["kubernetes", "instance", "E11"],
    remediation_steps="Leave the setting in one place.",
    url="https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html",
    validate=on_stack(_check),
)
