"""The subnets of a cluster are of one VPC, and that VPC resolves names.

Why:
    EKS and Auto Scaling refuse subnets of several VPCs. EKS also needs DNS support and DNS host
    names, which a VPC does not have unless it is told: without them nodes do not find the private
    endpoint and never join.
Fix:
    Set `enable_dns_hostnames` (and leave `enable_dns_support` on) for the VPC; name subnets of one
    VPC.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
    https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity, StackValidationPolicy

from policies.resources.kubernetes import of_kubernetes
from policies.resources.props import UNKNOWN, is_true
from policies.resources.stack import Stack
from policies.resources.subnets import SUBNETS_OF, networks_of, subnets_at
from policies.resources.types import EKS_CLUSTER, VPC
from policies.rule import Config, on_stack

_SUBNETS = {EKS_CLUSTER: ("vpcConfig", "subnetIds"), **SUBNETS_OF}


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    used: dict[str, str] = {}
    for group in stack.of_type(*_SUBNETS):
        networks = networks_of(stack, _subnets(stack, group))
        if len(networks) > 1:
            yield (
                group.urn,
                (
                    f"its subnets are of {len(networks)} VPCs, which AWS refuses; name subnets of "
                    "one VPC"
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
                    f"{' and no '.join(lacking)}, so they find no private endpoint by name; set "
                    "enable_dns_hostnames and enable_dns_support to true"
                ),
            )


def _subnets(stack: Stack, group: PolicyResource) -> list[PolicyResource]:
    path = _SUBNETS[group.resource_type]
    if stack.facts_of(group.urn).get(*path) is UNKNOWN:
        # Which of the subnets that went into it are meant is not known, nor whether all are.
        return []
    return subnets_at(stack, group, path) or []


def _lacking(stack: Stack, vpc: PolicyResource) -> list[str]:
    facts = stack.facts_of(vpc.urn)
    support, names = facts.get("enableDnsSupport"), facts.get("enableDnsHostnames")
    missing = [] if support in (None, UNKNOWN) or is_true(support) else ["DNS support"]
    if names is not UNKNOWN and not is_true(names):
        missing.append("DNS host names")
    return missing


POLICY = StackValidationPolicy(
    name="cluster-subnets-one-vpc",
    display_name="Clusters have subnets of one VPC that resolves names",
    description=(
        "The subnets of a cluster or a group of nodes are of one VPC; that of EKS has DNS support "
        "and DNS host names."
    ),
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["instance", "network", "E2"],
    remediation_steps="Name subnets of one VPC, and turn its DNS host names on.",
    url="https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html",
    validate=on_stack(_check),
)
