"""The subnets of a cluster or a node group belong to one VPC, which for EKS resolves DNS names.

Why:
    EKS and Auto Scaling reject subnets of several VPCs. EKS also needs DNS support and DNS
    hostnames in the VPC; DNS hostnames are off by default. Without them nodes cannot resolve the
    private endpoint and do not join.
Fix:
    Set `enable_dns_hostnames` of the VPC to true, keep `enable_dns_support` on, and name subnets of
    one VPC.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
    https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity

from trainyard.policies.resources.kubernetes import of_kubernetes
from trainyard.policies.resources.props import UNKNOWN, is_true
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.subnets import SUBNETS_OF, networks_of, subnets_at
from trainyard.policies.resources.types import EKS_CLUSTER, VPC
from trainyard.policies.rule import Config, stack_rule

_SUBNETS = {EKS_CLUSTER: ("vpcConfig", "subnetIds"), **SUBNETS_OF}


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    used: dict[str, str] = {}
    for group in stack.of_type(*_SUBNETS):
        networks = networks_of(stack, _subnets(stack, group))
        if len(networks) > 1:
            yield (
                group.urn,
                (
                    f"its subnets belong to {len(networks)} VPCs, which AWS rejects; name subnets "
                    "of one VPC"
                ),
            )
        if group.resource_type == EKS_CLUSTER or of_kubernetes(stack, group):
            used.update(dict.fromkeys(networks, group.name))
    for vpc in stack.of_type(VPC):
        lacking = _lacking(stack, vpc)
        if lacking and vpc.urn in used:
            yield (
                vpc.urn,
                (
                    f"nodes of {used[vpc.urn]} launch in it, and it has no "
                    f"{' and no '.join(lacking)}, so they cannot resolve the private endpoint; set "
                    "enable_dns_hostnames and enable_dns_support to true"
                ),
            )


def _subnets(stack: Stack, group: PolicyResource) -> list[PolicyResource]:
    path = _SUBNETS[group.resource_type]
    if stack.facts_of(group.urn).get(*path) is UNKNOWN:
        # An unknown list does not show which of the subnets that it depends on it contains.
        return []
    return subnets_at(stack, group, path) or []


def _lacking(stack: Stack, vpc: PolicyResource) -> list[str]:
    facts = stack.facts_of(vpc.urn)
    support, names = facts.get("enableDnsSupport"), facts.get("enableDnsHostnames")
    missing = [] if support in (None, UNKNOWN) or is_true(support) else ["DNS support"]
    if names is not UNKNOWN and not is_true(names):
        missing.append("DNS hostnames")
    return missing


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["network", "E2"],
    check=_check,
)
