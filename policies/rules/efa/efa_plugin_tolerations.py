"""The EFA device plugin tolerates the taints of every node group with EFA.

Why:
    The chart tolerates `CriticalAddonsOnly` and nothing else by default. Accelerator nodes are
    usually tainted (`nvidia.com/gpu`, `aws.amazon.com/neuron`), and on a taint that the plugin
    does not tolerate its pod is never scheduled: the nodes have no `vpc.amazonaws.com/efa`, and
    no error says so.
Fix:
    Add a toleration of the taint to `tolerations` of the chart's values or of the DaemonSet.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/node-taints-managed-node-groups.html
    https://github.com/aws/eks-charts/tree/master/stable/aws-efa-k8s-device-plugin
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.kubernetes import DRIVER, PLUGIN, EfaNodes, EfaPlugin, efa_nodes, plugins
from policies.resources.stack import Stack
from policies.rule import Config, on_stack


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for kind in (PLUGIN, DRIVER):
        installed = plugins(stack, kind)
        reported: set[str] = set()
        for nodes in efa_nodes(stack) if installed else ():
            fault = _fault(installed, nodes)
            if fault and fault not in reported:
                reported.add(fault)
                yield installed[0].resource.urn, fault


def _fault(installed: list[EfaPlugin], nodes: EfaNodes) -> str | None:
    """Return the taints that no plugin passes, among those that run on the type at all."""
    meant = [p for p in installed if not nodes.instance_types or _runs_on_one(p, nodes)]
    refused = [[t for t in nodes.taints if not plugin.tolerates(t)] for plugin in meant]
    if not refused or not all(refused):
        return None
    taints = ", ".join(str(taint) for taint in min(refused, key=len))
    return (
        f"it does not tolerate {taints} of {nodes.resource.name}, so it never starts on those "
        "nodes and their EFA devices cannot be asked for; add the taint to its tolerations"
    )


def _runs_on_one(plugin: EfaPlugin, nodes: EfaNodes) -> bool:
    return any(plugin.runs_on(name) for name in nodes.instance_types)


POLICY = StackValidationPolicy(
    name="efa-plugin-tolerations",
    display_name="The EFA device plugin tolerates the taints of nodes with EFA",
    description=(
        "The EFA device plugin or driver of a program tolerates the taints of every managed node "
        "group with EFA interfaces."
    ),
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["efa", "kubernetes", "A20", "G8"],
    remediation_steps="Add tolerations of the node groups' taints to the plugin.",
    url="https://docs.aws.amazon.com/eks/latest/userguide/node-taints-managed-node-groups.html",
    validate=on_stack(_check),
)
