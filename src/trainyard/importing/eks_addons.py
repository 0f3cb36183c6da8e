"""Add-ons of EKS and the node auto repair that needs one, for the keys of stack files."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trainyard.importing.draft import Draft
from trainyard.importing.reader import Reader

_KEYS: Mapping[str, str] = {
    "eks-pod-identity-agent": "pod_identity_agent",
    "aws-ebs-csi-driver": "ebs_csi_driver",
    "aws-fsx-csi-driver": "fsx_csi_driver",
    "eks-node-monitoring-agent": "node_monitoring_agent",
    "amazon-cloudwatch-observability": "cloudwatch_observability",
}
"""Key of the stack file by the name of the add-on."""
_ALWAYS = ("vpc-cni", "kube-proxy", "coredns")
_VERSION = re.compile(r"v\d+\.\d+\.\d+-eksbuild\.\d+")


def take_addon(
    name: str, addon: Reader, *, named: Reader, version: Reader, architecture: Draft
) -> bool:
    """Read an add-on of the source, and return whether a stack can have it.

    Args:
        name: Its name.
        addon: Its entry.
        named: The field of the source by which the report names it.
        version: Its version.
        architecture: The section of the stack file with the add-ons.
    """
    if name in _KEYS:
        addons = architecture.section("addons", addon)
        addons.put(_KEYS[name], value=True)
        named.claim("taken over", ours=(*addons.at, _KEYS[name]))
    elif name in _ALWAYS:
        named.implied("it is always installed")
    else:
        addon.unsupported(
            f"install it after `up`: `aws eks create-addon --cluster-name CLUSTER --addon-name "
            f"{name}`"
        )
        return False
    if _VERSION.fullmatch(str(version.value)):
        architecture.section("addons").section("versions").take(name, version)
    version.implied("the stack pins a version that it was tested with")
    return True


def take_repair(enabled: Reader, nodes: Draft, architecture: Draft, *, rule: str) -> None:
    """Read the node auto repair of a managed node group, which has no effect without the agent.

    Args:
        enabled: Whether the source turns it on; it does.
        nodes: The node group.
        architecture: The section with the add-ons, which are read before.
        rule: Rule of the finding that the agent is missing.
    """
    addons = architecture.section("addons")
    if addons.has("node_monitoring_agent"):
        nodes.take_flag("auto_repair", enabled)
        return
    addons.put("node_monitoring_agent", value=True)
    why = (
        "EKS sees faults of GPUs, EFA and the kernel only with the add-on "
        "eks-node-monitoring-agent, which is missing; the stack installs it"
    )
    nodes.better("auto_repair", enabled, value=True, why=why, rule=rule)
