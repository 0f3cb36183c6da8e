"""A managed node group and its launch template do not set the same or conflicting options.

Why:
    EKS rejects a node group with a launch template if the node group sets a disk size or remote
    access, if both set instance types, or if the template sets a subnet or an instance profile.
    With a custom image in the template, EKS also rejects an image type, a release or a version in
    the node group. The error appears after the control plane is ready.
Fix:
    Keep the setting either in the launch template or in the node group.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
    https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.launches import templates_of
from trainyard.policies.resources.props import Facts, is_set
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import EKS_NODE_GROUP
from trainyard.policies.rule import Config, stack_rule

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
                        f"it has a launch template and {name}, which EKS rejects; set it in the "
                        "launch template"
                    ),
                )
        for template in templates_of(stack, group):
            for fault in _faults(facts, stack.facts_of(template.urn)):
                yield group.urn, f"with its launch template {template.name}, {fault}"


def _faults(group: Facts, template: Facts) -> Iterator[str]:
    both = is_set(template.get("instanceType")) and group.count("instanceTypes")
    # eks-capacity-block-node-group covers Capacity Blocks.
    if both and group.get("capacityType") != "CAPACITY_BLOCK":
        yield (
            "it has instance types in both places, which EKS rejects; remove instance_types "
            "from the node group"
        )
    if is_set(template.get("imageId")):
        given = [name for name in _WITHOUT_AN_IMAGE if _says(group, name)]
        if given:
            yield (
                f"it has a custom image and {', '.join(given)}, which EKS rejects; remove them "
                "from the node group"
            )
    if is_set(template.get("iamInstanceProfile")):
        yield (
            "it has an instance profile, and EKS creates one from the node role; remove "
            "iam_instance_profile from the launch template"
        )
    for index in range(template.count("networkInterfaces")):
        if is_set(template.get("networkInterfaces", index, "subnetId")):
            yield (
                f"network interface {index} names a subnet, which EKS rejects; remove subnet_id "
                "from the launch template, and set subnet_ids of the node group"
            )


def _says(group: Facts, name: str) -> bool:
    value = group.get(name)
    # EKS reports the version and the release (the image id) of an existing group, even if the
    # program does not set them.
    if name != "amiType" and isinstance(group.get("arn"), str):
        return False
    return is_set(value) and value != "CUSTOM"


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["instance", "E11"],
    check=_check,
)
