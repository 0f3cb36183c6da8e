"""A cluster whose nodes have efa-only interfaces runs a VPC CNI that knows them.

Why:
    The VPC CNI plugin manages the network interfaces of a node. Before 1.18.5 it takes one of
    type efa-only, which has no address, for one of its own, and pods on the node get no network.
Fix:
    Set `addon_version` of the `vpc-cni` add-on to v1.18.5 or later, or use interfaces of type
    `efa`.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.kubernetes import EfaNodes, efa_nodes
from policies.resources.stack import Stack
from policies.resources.types import EKS_ADDON
from policies.rule import Config, on_stack

_FIRST = (1, 18, 5)
_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    groups = [nodes for nodes in efa_nodes(stack) if _has_efa_only(nodes)]
    if not groups:
        return
    for addon in stack.of_type(EKS_ADDON):
        facts = stack.facts_of(addon.urn)
        if facts.get("addonName") != "vpc-cni":
            continue
        version = facts.needed("addonVersion")
        found = _VERSION.match(version) if isinstance(version, str) else None
        if found and tuple(map(int, found.groups())) < _FIRST:
            yield (
                addon.urn,
                (
                    f"it is version {version}, and nodes of {groups[0].resource.name} have "
                    "efa-only interfaces, which the VPC CNI knows since 1.18.5; set addon_version "
                    "to v1.18.5 or later"
                ),
            )


def _has_efa_only(nodes: EfaNodes) -> bool:
    return any(interface.type == "efa-only" for interface in nodes.launch.efa_interfaces())


POLICY = StackValidationPolicy(
    name="efa-only-vpc-cni-version",
    display_name="The VPC CNI knows efa-only interfaces",
    description="A cluster whose nodes have efa-only interfaces runs VPC CNI 1.18.5 or later.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["efa", "eks", "A17"],
    remediation_steps="Set addon_version of vpc-cni to v1.18.5 or later.",
    url="https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html",
    validate=on_stack(_check),
)
