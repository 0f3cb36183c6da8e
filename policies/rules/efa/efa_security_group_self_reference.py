"""Every EFA interface has a security group that lets its members reach one another.

Why:
    EFA traffic passes only a rule that names the group itself, in both directions and for all
    protocols; a rule for addresses, even 0.0.0.0/0, does not count. Without it the nodes come up
    and look healthy, and NCCL hangs or falls back to TCP.
Fix:
    Add an ingress and an egress rule with all protocols (`-1`) whose source and destination are
    the group itself, as resources of their own or within the group.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html, step 1
    https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity, StackValidationPolicy

from policies.resources.interfaces import interface_type
from policies.resources.launches import EFA_TYPES, Launch
from policies.resources.props import UNKNOWN
from policies.resources.security_groups import (
    DIRECTIONS,
    Direction,
    SelfReferences,
    security_groups_of,
)
from policies.resources.stack import Stack
from policies.resources.types import LAUNCH_TEMPLATE, NETWORK_INTERFACE
from policies.rule import Config, on_stack

Path = tuple[str | int, ...]


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    rules = SelfReferences(stack)
    for template in stack.of_type(LAUNCH_TEMPLATE):
        facts = stack.facts_of(template.urn)
        for interface in Launch(LAUNCH_TEMPLATE, facts).efa_interfaces():
            path: Path = ("networkInterfaces", interface.index, "securityGroups")
            fault = _fault(stack, template, path, rules)
            if fault:
                yield template.urn, f"{interface} {fault}"
                break  # the others of the template are alike: one message is enough
    for interface in stack.of_type(NETWORK_INTERFACE):
        if interface_type(stack, interface) in EFA_TYPES:
            fault = _fault(stack, interface, ("securityGroups",), rules)
            if fault:
                yield interface.urn, f"it {fault}"


def _fault(stack: Stack, resource: PolicyResource, path: Path, rules: SelfReferences) -> str | None:
    facts = stack.facts_of(resource.urn)
    if facts.get(*path) is not UNKNOWN and not facts.count(*path):
        return (
            "is an EFA and names no security group, so it gets the default one of "
            "the VPC; give it a group with ingress and egress rules to itself"
        )
    # Of groups that were made elsewhere, such as that of a cluster of EKS, nothing is told.
    groups = security_groups_of(stack, resource, *path)
    missing = {group.name: rules.missing(group) for group in groups}
    if not groups or not all(missing.values()):
        return None
    name, directions = min(missing.items(), key=lambda item: len(item[1]))
    return (
        f"is an EFA, and none of its security groups lets its members reach one "
        f"another in both directions; add an {_described(directions)} rule to {name}, with all "
        f"protocols (-1) and {name} itself as the other side"
    )


def _described(directions: tuple[Direction, ...]) -> str:
    return " and an ".join(directions)


POLICY = StackValidationPolicy(
    name="efa-security-group-self-reference",
    display_name="EFA security groups let their members reach one another",
    description=(
        "Every EFA interface has a security group with ingress and egress to itself, "
        "for all protocols."
    ),
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["efa", "network", "A5", "A16"],
    remediation_steps=(
        f"Add {' and '.join(DIRECTIONS)} rules for all protocols from the group to itself."
    ),
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html",
    validate=on_stack(_check),
)
