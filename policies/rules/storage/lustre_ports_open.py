"""Lustre file systems have a security group that passes Lustre's ports both ways.

Why:
    Clients and servers open connections to each other, and servers to one another. A group that
    lets in TCP 988 only mounts, and then hangs when a server calls back; one without egress rules
    never mounts.
Fix:
    Add ingress and egress rules for TCP 988 and 1018-1023, with the group itself and the clients'
    group as the other side; for a file system with EFA, for all traffic.
Source:
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity, StackValidationPolicy

from policies.props import UNKNOWN, Facts
from policies.resource_types import (
    LUSTRE_FILE_SYSTEM,
    SECURITY_GROUP,
    SECURITY_GROUP_EGRESS_RULE,
    SECURITY_GROUP_INGRESS_RULE,
    SECURITY_GROUP_RULE,
)
from policies.rule import Config, on_stack
from policies.security_groups import DIRECTIONS, Direction
from policies.stack import Stack

PORTS = ((988, 988), (1018, 1023))
_RULE_OF: dict[Direction, str] = {
    "ingress": SECURITY_GROUP_INGRESS_RULE,
    "egress": SECURITY_GROUP_EGRESS_RULE,
}


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for system in stack.of_type(LUSTRE_FILE_SYSTEM):
        groups = _groups(stack, system)
        # Groups that were made elsewhere are not seen, and decide nothing.
        if not groups or any(_has_inline_rules(stack, group) for group in groups):
            continue
        missing = [
            f"{direction} {_described(ports)}"
            for direction in DIRECTIONS
            for ports in PORTS
            if not any(_passes(stack, group, direction, ports) for group in groups)
        ]
        if missing:
            yield (
                system.urn,
                (
                    f"its security groups pass no TCP {', '.join(missing)}: mounts would hang; add "
                    "standalone rules for TCP 988 and 1018-1023 in both directions"
                ),
            )


def _groups(stack: Stack, system: PolicyResource) -> list[PolicyResource]:
    if stack.facts_of(system.urn).get("securityGroupIds") is UNKNOWN:
        return stack.dependencies(system, "securityGroupIds", SECURITY_GROUP)
    found: dict[str, PolicyResource] = {}
    for index in range(stack.facts_of(system.urn).count("securityGroupIds")):
        reference = stack.refers(system, "securityGroupIds", index, to=SECURITY_GROUP)
        found.update((group.urn, group) for group in (reference.resources if reference else ()))
    return list(found.values())


def _has_inline_rules(stack: Stack, group: PolicyResource) -> bool:
    """Whether the group holds rules itself, or older ones belong to it, which are not read."""
    facts = stack.facts_of(group.urn)
    if any(facts.get(direction) for direction in DIRECTIONS):
        return True
    return any(_belongs(stack, rule, group) for rule in stack.of_type(SECURITY_GROUP_RULE))


def _passes(
    stack: Stack, group: PolicyResource, direction: Direction, ports: tuple[int, int]
) -> bool:
    return any(
        _belongs(stack, rule, group) and _covers(stack.facts_of(rule.urn), ports)
        for rule in stack.of_type(_RULE_OF[direction])
    )


def _belongs(stack: Stack, rule: PolicyResource, group: PolicyResource) -> bool:
    reference = stack.refers(rule, "securityGroupId", to=SECURITY_GROUP)
    return reference is not None and group.urn in {found.urn for found in reference.resources}


def _covers(facts: Facts, ports: tuple[int, int]) -> bool:
    protocol = facts.get("ipProtocol")
    if protocol == "-1":
        return True
    first, last = facts.get("fromPort"), facts.get("toPort")
    if first is UNKNOWN or last is UNKNOWN or protocol is UNKNOWN:
        return True
    return protocol in ("tcp", "6") and first <= ports[0] and ports[1] <= last


def _described(ports: tuple[int, int]) -> str:
    return str(ports[0]) if ports[0] == ports[1] else f"{ports[0]}-{ports[1]}"


POLICY = StackValidationPolicy(
    name="lustre-ports-open",
    display_name="Lustre's ports pass both ways",
    description="Security groups of Lustre file systems pass TCP 988 and 1018-1023, in and out.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["storage", "network"],
    remediation_steps="Add ingress and egress rules for TCP 988 and 1018-1023.",
    url="https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html",
    validate=on_stack(_check),
)
