"""The security groups of a launch template belong to the VPC in which its nodes launch.

Why:
    EC2 rejects the launch ("the security group and subnet belong to different networks"). AWS
    accepts the launch template and the node group, and the group stays empty.
Fix:
    Use security groups of the VPC of the subnets of the group.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
    https://docs.aws.amazon.com/vpc/latest/userguide/vpc-security-groups.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity

from trainyard.policies.resources.launches import templates_of
from trainyard.policies.resources.props import UNKNOWN
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.subnets import SUBNETS_OF, networks_of, subnets_of
from trainyard.policies.resources.types import SECURITY_GROUP
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for group in stack.of_type(*SUBNETS_OF):
        subnets = networks_of(stack, subnets_of(stack, group) or [])
        if len(subnets) != 1:
            continue
        for template in templates_of(stack, group):
            for security_group in _security_groups(stack, template):
                if networks_of(stack, [security_group]) - subnets:
                    yield (
                        template.urn,
                        (
                            f"its security group {security_group.name} belongs to another VPC than "
                            f"the subnets of {group.name}, so every launch fails; use a security "
                            "group of that VPC"
                        ),
                    )


def _security_groups(stack: Stack, template: PolicyResource) -> list[PolicyResource]:
    """Return the known security groups of a template in the stack, each once."""
    found: dict[str, PolicyResource] = {}
    facts = stack.facts_of(template.urn)
    interfaces = range(facts.count("networkInterfaces"))
    listed = [("networkInterfaces", index, "securityGroups") for index in interfaces]
    for place in (("vpcSecurityGroupIds",), *listed):
        if facts.get(*place) is UNKNOWN:
            continue
        for index in range(facts.count(*place)):
            reference = stack.refers(template, *place, index, to=SECURITY_GROUP)
            found.update((made.urn, made) for made in (reference.resources if reference else ()))
    return list(found.values())


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["network", "E10"],
    check=_check,
)
