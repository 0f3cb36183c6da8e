"""Read the rules of security groups.

Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_SecurityGroupRule.html
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.components.account.facts import IngressFacts
from trainyard.components.account.lookup import AccountReader


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityGroupRules:
    """Ingress and egress rules of security groups."""

    lets_in: tuple[IngressFacts, ...]
    lets_out: tuple[IngressFacts, ...]


def security_group_rules(
    reader: AccountReader, group_ids: Iterable[str]
) -> SecurityGroupRules | None:
    """Return the rules that affect nodes; None if they cannot be read.

    IPv6 rules do not count, because nodes have IPv4 addresses.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    answer = reader.ask(
        "ec2:DescribeSecurityGroupRules",
        reader.ec2.describe_security_group_rules,
        Filters=[{"Name": "group-id", "Values": sorted(group_ids)}],
    )
    if answer is None:
        return None
    rules = [each for each in answer["SecurityGroupRules"] if each.get("CidrIpv6") is None]
    return SecurityGroupRules(
        lets_in=tuple(_facts(rule) for rule in rules if not rule["IsEgress"]),
        lets_out=tuple(_facts(rule) for rule in rules if rule["IsEgress"]),
    )


def ingress_of(reader: AccountReader, group_ids: frozenset[str]) -> tuple[IngressFacts, ...]:
    """Return the ingress rules of security groups, without rules for the group itself."""
    rules = security_group_rules(reader, group_ids) if group_ids else None
    # A self-referencing rule allows only servers of the group, not clients.
    return tuple(
        rule for rule in (rules.lets_in if rules else ()) if rule.peer_group_id not in group_ids
    )


def _facts(rule: Mapping[str, Any]) -> IngressFacts:
    return IngressFacts(
        protocol=rule["IpProtocol"],
        first_port=rule.get("FromPort", -1),
        last_port=rule.get("ToPort", -1),
        cidr=rule.get("CidrIpv4"),
        peer_group_id=(rule.get("ReferencedGroupInfo") or {}).get("GroupId"),
    )
