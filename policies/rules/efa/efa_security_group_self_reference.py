"""Every EFA interface has a security group that allows all traffic between its members.

Why:
    EFA traffic needs rules that reference the security group itself, in both directions and for all
    protocols. A CIDR rule, even 0.0.0.0/0, does not count. Without these rules the nodes look
    healthy, and NCCL hangs or uses TCP.
Fix:
    Add an ingress and an egress rule for all protocols (`-1`) with the group itself as source and
    destination, in the group or as separate resources.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html, step 1
    https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity

from trainyard.policies.resources.interfaces import interface_type
from trainyard.policies.resources.launches import EFA_TYPES, Launch
from trainyard.policies.resources.props import UNKNOWN
from trainyard.policies.resources.security_groups import (
    Direction,
    SelfReferences,
    security_groups_of,
)
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import LAUNCH_TEMPLATE, NETWORK_INTERFACE
from trainyard.policies.rule import Config, stack_rule

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
                break  # one message for each template
    for interface in stack.of_type(NETWORK_INTERFACE):
        if interface_type(stack, interface) in EFA_TYPES:
            fault = _fault(stack, interface, ("securityGroups",), rules)
            if fault:
                yield interface.urn, f"it {fault}"


def _fault(stack: Stack, resource: PolicyResource, path: Path, rules: SelfReferences) -> str | None:
    facts = stack.facts_of(resource.urn)
    if facts.get(*path) is not UNKNOWN and not facts.count(*path):
        return (
            "is an EFA and names no security group, so it uses the default security group of "
            "the VPC; give it a group with ingress and egress rules to itself"
        )
    # The rules of groups outside the stack, such as that of an EKS cluster, are unknown.
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


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["network", "A5", "A16"],
    check=_check,
)
