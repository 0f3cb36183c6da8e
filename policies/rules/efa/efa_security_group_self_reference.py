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

from policies.launch import Interface, Launch
from policies.props import UNKNOWN, Facts
from policies.resource_types import LAUNCH_TEMPLATE, SECURITY_GROUP
from policies.rule import Config, on_stack
from policies.security_groups import DIRECTIONS, Direction, SelfReferences
from policies.stack import Stack


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    rules = SelfReferences(stack)
    for template in stack.of_type(LAUNCH_TEMPLATE):
        facts = stack.facts_of(template.urn)
        for interface in Launch(LAUNCH_TEMPLATE, facts).efa_interfaces():
            fault = _fault(stack, template, interface, rules)
            if fault:
                yield template.urn, fault
                break  # the others of the template are alike: one message is enough


def _fault(
    stack: Stack, template: PolicyResource, interface: Interface, rules: SelfReferences
) -> str | None:
    facts = stack.facts_of(template.urn)
    if not _names_groups(facts, interface):
        return (
            f"{interface} is an EFA and names no security group, so it gets the default one of "
            "the VPC; give it a group with ingress and egress rules to itself"
        )
    groups = _groups(stack, template, interface)
    missing = {group.name: rules.missing(group) for group in groups}
    if not groups or not all(missing.values()):
        return None
    name, directions = min(missing.items(), key=lambda item: len(item[1]))
    return (
        f"{interface} is an EFA, and none of its security groups lets its members reach one "
        f"another in both directions; add an {_described(directions)} rule to {name}, with all "
        f"protocols (-1) and {name} itself as the other side"
    )


def _described(directions: tuple[Direction, ...]) -> str:
    return " and an ".join(directions)


def _names_groups(facts: Facts, interface: Interface) -> bool:
    count = facts.count("networkInterfaces", interface.index, "securityGroups")
    given = interface.get("securityGroups")
    return given is UNKNOWN or count > 0


def _groups(stack: Stack, template: PolicyResource, interface: Interface) -> list[PolicyResource]:
    """Return the groups of the stack that the interface has, or may have.

    Groups that were made elsewhere are not seen, and decide nothing.
    """
    path = ("networkInterfaces", interface.index, "securityGroups")
    if interface.get("securityGroups") is UNKNOWN:
        return stack.dependencies(template, "networkInterfaces", SECURITY_GROUP)
    found: dict[str, PolicyResource] = {}
    for index in range(stack.facts_of(template.urn).count(*path)):
        reference = stack.refers(template, *path, index, to=SECURITY_GROUP)
        found.update((group.urn, group) for group in (reference.resources if reference else ()))
    return list(found.values())


POLICY = StackValidationPolicy(
    name="efa-security-group-self-reference",
    display_name="EFA security groups let their members reach one another",
    description=(
        "Every EFA interface has a security group with ingress and egress to itself, "
        "for all protocols."
    ),
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["efa", "network"],
    remediation_steps=(
        f"Add {' and '.join(DIRECTIONS)} rules for all protocols from the group to itself."
    ),
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html",
    validate=on_stack(_check),
)
