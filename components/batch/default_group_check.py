"""Checks that the containers of multi-node parallel jobs can reach each other.

If the launch template has network interfaces, which EFA needs, the containers use the default
security group of the VPC (`BatchPlan.jobs_in_default_group`). By default it allows traffic between
its members, but Security Hub control EC2.2 requires that its rules are removed.

Sources:
    https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html
    https://docs.aws.amazon.com/vpc/latest/userguide/default-security-group.html
    https://docs.aws.amazon.com/securityhub/latest/userguide/ec2-controls.html#ec2-2
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.components.account.facts import AccountFacts, DefaultGroupFacts, IngressFacts
from trainyard.components.account.lookup import AccountReader
from trainyard.components.account.security_group_rules import security_group_rules
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.checks.check import Subject
from trainyard.components.checks.open_door import Ports, is_open
from trainyard.components.config.problems import ROOT, Problem

DEFAULT_GROUP = Subject(
    "architecture.job_definitions",
    "containers on different nodes can reach each other",
    calls=(
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSecurityGroupRules",
    ),
)
"""What `default_group_problems` checks."""

_EVERY_PORT: Ports = (1, 65535)
"""Open MPI and NCCL use any free TCP port."""


def look_up_default_group(reader: AccountReader, vpc_id: str) -> DefaultGroupFacts | None:
    """Return the default security group of a VPC; None if it cannot be read.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    answer = reader.ask(
        "ec2:DescribeSecurityGroups",
        reader.ec2.describe_security_groups,
        Filters=[
            {"Name": "vpc-id", "Values": [vpc_id]},
            {"Name": "group-name", "Values": ["default"]},
        ],
    )
    for group in (answer or {}).get("SecurityGroups", []):
        rules = security_group_rules(reader, [group["GroupId"]])
        if rules is None:
            return None
        return DefaultGroupFacts(
            group_id=group["GroupId"], lets_in=rules.lets_in, lets_out=rules.lets_out
        )
    return None


def default_group_problems(plan: BatchPlan, facts: AccountFacts) -> Iterator[Problem]:
    """Yield why the nodes of the plan's jobs cannot reach each other."""
    group = facts.default_group
    if group is None or not plan.jobs_in_default_group:
        return
    closed = [
        way
        for way, rules in (("ingress", group.lets_in), ("egress", group.lets_out))
        if not _reaches_members(group.group_id, rules, plan, facts)
    ]
    if closed:
        yield Problem(
            path=f"{ROOT}.network.vpc_id",
            found=f"{plan.network.vpc_id}, whose default security group is {group.group_id}",
            problem=(
                f"containers of the multi-node jobs {', '.join(plan.jobs_in_default_group)} get "
                f"this group, and without {' and '.join(closed)} between its members they never "
                "meet"
            ),
            allowed="all TCP traffic between the members of the group, in and out",
            remedy="; ".join(_command(way, group.group_id) for way in closed),
        )


def _reaches_members(
    group_id: str, rules: Iterable[IngressFacts], plan: BatchPlan, facts: AccountFacts
) -> bool:
    meant = [rule for rule in rules if rule.peer_group_id in (None, group_id)]
    names = {name for each in plan.compute_environments for name in each.subnets}
    networks = [facts.subnets[name].cidr for name in sorted(names) if name in facts.subnets]
    return all(is_open(meant, _EVERY_PORT, network) for network in networks)


def _command(way: str, group_id: str) -> str:
    return (
        f"aws ec2 authorize-security-group-{way} --group-id {group_id} --ip-permissions "
        f"'IpProtocol=-1,UserIdGroupPairs=[{{GroupId={group_id}}}]'"
    )
