"""The EFA device plugin runs on the instance type of every node group with EFA.

Why:
    The plugin schedules its pods only on the instance types that its manifest lists, and older
    versions lack newer types: chart 0.5.20 lacks g7e, p5.4xlarge and p6-b300. On a missing type the
    DaemonSet wants no pod and reports no error. The nodes do not offer `vpc.amazonaws.com/efa`, so
    pods stay Pending or use TCP.
Fix:
    Install a chart version that lists the type, or add the type to `supportedInstanceLabels.values`
    of the chart or to the node affinity of the DaemonSet.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html
    https://github.com/aws/eks-charts/tree/master/stable/aws-efa-k8s-device-plugin
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.kubernetes import PLUGIN, efa_nodes, plugins
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import HELM_RELEASE
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    installed = plugins(stack, PLUGIN)
    if not installed:  # another program may install the plugin
        return
    plugin = installed[0].resource
    of_chart = plugin.resource_type == HELM_RELEASE
    where = "supportedInstanceLabels.values of the chart" if of_chart else "its node affinity"
    reported: set[str] = set()
    for nodes in efa_nodes(stack):
        for name in nodes.instance_types:
            if name in reported or any(each.runs_on(name) for each in installed):
                continue
            reported.add(name)
            yield (
                plugin.urn,
                (
                    f"it does not run on {name}, the type of {nodes.resource.name}, so the nodes "
                    "have no vpc.amazonaws.com/efa and jobs fall back to TCP; add the type to "
                    f"{where}, or install a version that lists it"
                ),
            )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["kubernetes", "A19"],
    check=_check,
)
