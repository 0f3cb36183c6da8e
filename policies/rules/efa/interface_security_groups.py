"""A launch with listed network interfaces names its security groups only in the interfaces.

Why:
    EC2 accepts security groups for the instance or for its network interfaces, not both: "Network
    interfaces and an instance-level security groups may not be specified on the same request". It
    accepts a launch template with both, and every launch from it fails. AWS Batch has the same
    rule: "Either compute environment Security Groups or Network Interfaces in Launch template are
    exclusively allowed".
Fix:
    Move the groups into `security_groups` of each entry of `network_interfaces`. For EFA, add the
    group that references itself to every entry.
Source:
    https://docs.aws.amazon.com/pcs/latest/userguide/working-with_networking_efa_create-lt.html
    https://docs.aws.amazon.com/autoscaling/ec2/userguide/create-launch-template.html
    https://github.com/aws/aws-cdk/issues/21577
    https://github.com/pulumi/pulumi-aws/issues/2506
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity

from trainyard.policies.resources.launches import templates_of
from trainyard.policies.resources.props import UNKNOWN
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import BATCH_COMPUTE_ENVIRONMENT, INSTANCE, LAUNCH_TEMPLATE
from trainyard.policies.rule import Config, stack_rule

_GROUPS: dict[str, tuple[tuple[str, ...], ...]] = {
    LAUNCH_TEMPLATE: (("vpcSecurityGroupIds",), ("securityGroupNames",)),
    INSTANCE: (("vpcSecurityGroupIds",), ("securityGroups",)),
    BATCH_COMPUTE_ENVIRONMENT: (("computeResources", "securityGroupIds"),),
}
_WORDS = {
    "vpcSecurityGroupIds": "vpc_security_group_ids",
    "securityGroupNames": "security_group_names",
    "securityGroups": "security_groups",
    "securityGroupIds": "compute_resources.security_group_ids",
}


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for resource in stack.of_type(*_GROUPS):
        key = _groups(stack, resource)
        if key is None:
            continue
        if resource.resource_type == LAUNCH_TEMPLATE:
            if _lists_interfaces(stack, resource):
                yield resource.urn, _fault("it lists network interfaces", key)
            continue
        for template in templates_of(stack, resource):
            if _lists_interfaces(stack, template):
                yield (
                    resource.urn,
                    _fault(f"its launch template {template.name} lists network interfaces", key),
                )


def _groups(stack: Stack, resource: PolicyResource) -> str | None:
    """Return the property with security groups for the whole instance, None if there is none."""
    facts = stack.facts_of(resource.urn)
    for path in _GROUPS[resource.resource_type]:
        if resource.resource_type == INSTANCE and not resource.property_dependencies.get(path[0]):
            continue  # AWS reports the groups of the interfaces of a running instance here
        if facts.get(*path) is UNKNOWN or facts.count(*path):
            return _WORDS[path[-1]]
    return None


def _lists_interfaces(stack: Stack, template: PolicyResource) -> bool:
    return stack.facts_of(template.urn).count("networkInterfaces") > 0


def _fault(what: str, key: str) -> str:
    return (
        f"{what}, and {key} names security groups for the whole instance, which AWS "
        f"rejects; remove {key} and name the groups in security_groups of each network interface"
    )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["network", "A16"],
    check=_check,
)
