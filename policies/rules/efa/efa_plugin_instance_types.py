"""The EFA device plugin runs on every instance type with EFA interfaces.

Why:
    The plugin schedules its pods only on the instance types that its manifest lists, and lists
    grow old: those of chart 0.5.20 lack g7e, p5.4xlarge and p6-b300. On a type that is missing
    there is no pod and no error: the DaemonSet counts none as desired, `vpc.amazonaws.com/efa`
    does not exist on the node, and pods stay pending or talk over TCP.
Fix:
    Install a chart whose list has the type, or add the type to `supportedInstanceLabels.values`
    of the chart, or to the node affinity of the DaemonSet.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html
    https://github.com/aws/eks-charts/tree/master/stable/aws-efa-k8s-device-plugin
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.kubernetes import PLUGIN, efa_nodes, plugins
from policies.resources.stack import Stack
from policies.resources.types import HELM_RELEASE
from policies.rule import Config, on_stack


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    installed = plugins(stack, PLUGIN)
    if not installed:  # which may be installed by other means than this program
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


POLICY = StackValidationPolicy(
    name="efa-plugin-instance-types",
    display_name="The EFA device plugin runs on every type with EFA",
    description=(
        "The EFA device plugin of a program may be scheduled on the instance type of every node "
        "group with EFA interfaces."
    ),
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["efa", "kubernetes", "A19"],
    remediation_steps="Add the instance type to the list of the plugin.",
    url="https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html",
    validate=on_stack(_check),
)
