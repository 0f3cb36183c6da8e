"""The EFA device plugin or driver tolerates the taints of every node group with EFA.

Why:
    By default the chart tolerates only `CriticalAddonsOnly`. Accelerated nodes usually have a taint
    (`nvidia.com/gpu`, `aws.amazon.com/neuron`). The scheduler does not place the plugin on nodes
    with a taint that it does not tolerate, so they do not offer `vpc.amazonaws.com/efa`, and
    nothing reports an error.
Fix:
    Add a toleration for the taint to `tolerations` in the values of the chart or in the DaemonSet.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/node-taints-managed-node-groups.html
    https://github.com/aws/eks-charts/tree/master/stable/aws-efa-k8s-device-plugin
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.kubernetes import (
    DRIVER,
    PLUGIN,
    EfaNodes,
    EfaPlugin,
    efa_nodes,
    plugins,
)
from trainyard.policies.resources.stack import Stack
from trainyard.policies.rule import Config, stack_rule


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
    """Return the message for taints that no plugin for the type tolerates, or None."""
    meant = [p for p in installed if not nodes.instance_types or _runs_on_one(p, nodes)]
    refused = [[t for t in nodes.taints if not plugin.tolerates(t)] for plugin in meant]
    if not refused or not all(refused):
        return None
    taints = ", ".join(str(taint) for taint in min(refused, key=len))
    return (
        f"it does not tolerate {taints} of {nodes.resource.name}, so it does not start on those "
        "nodes, and pods cannot request their EFA devices; add the taint to its tolerations"
    )


def _runs_on_one(plugin: EfaPlugin, nodes: EfaNodes) -> bool:
    return any(plugin.runs_on(name) for name in nodes.instance_types)


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["kubernetes", "A20", "G8"],
    check=_check,
)
