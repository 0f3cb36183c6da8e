"""A cluster whose nodes have efa-only interfaces runs VPC CNI 1.18.5 or later.

Why:
    The VPC CNI plugin manages the network interfaces of a node. Versions before 1.18.5 use an
    efa-only interface, which has no IP address, for pods, and those pods have no network.
Fix:
    Set `addon_version` of the `vpc-cni` add-on to v1.18.5 or later, or use interfaces of type
    `efa`.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.kubernetes import EfaNodes, efa_nodes
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import EKS_ADDON
from trainyard.policies.rule import Config, stack_rule

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
                    "efa-only interfaces, which the VPC CNI supports from 1.18.5; set "
                    "addon_version to v1.18.5 or later"
                ),
            )


def _has_efa_only(nodes: EfaNodes) -> bool:
    return any(interface.type == "efa-only" for interface in nodes.launch.efa_interfaces())


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["eks", "A17"],
    check=_check,
)
