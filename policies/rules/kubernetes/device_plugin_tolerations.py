"""The device plugins of NVIDIA and Neuron tolerate the taints of the nodes they are for.

Why:
    Accelerated pools are tainted so that nothing else lands there, and a plugin that does not
    tolerate the taint does not land there either. The nodes are Ready, cost what they cost, and
    offer no `nvidia.com/gpu` or `aws.amazon.com/neuron`: every training pod stays Pending.
Fix:
    Add a toleration for the taint to the DaemonSet, or to `tolerations` of the chart's values.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/node-taints-managed-node-groups.html
    https://github.com/NVIDIA/k8s-device-plugin/blob/main/deployments/helm/nvidia-device-plugin/values.yaml
    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/kubernetes-getting-started.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from components.catalog.instance_types import INSTANCE_TYPES
from policies.resources.kubernetes import PLUGIN as EFA_PLUGIN
from policies.resources.kubernetes import EfaPlugin, Taint, of_kubernetes, plugins, taints_of
from policies.resources.pools import Pool, pools
from policies.resources.stack import Stack
from policies.resources.types import EKS_CLUSTER, HELM_RELEASE
from policies.rule import Config, on_stack

_KINDS = {
    "nvidia": ("NVIDIA", ("k8s-device-plugin", "nvidia-device-plugin")),
    "neuron": ("Neuron", ("neuron-device-plugin",)),
}
"""By manufacturer: what it is called, and images and charts of its plugin."""
_GPU = "nvidia.com/gpu"
_CRITICAL = "CriticalAddonsOnly"


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    # A resource inside a cluster does not show which cluster it is in.
    if len(list(stack.of_type(EKS_CLUSTER))) > 1:
        return
    for pool in pools(stack):
        if not of_kubernetes(stack, pool.resource):
            continue
        for manufacturer in sorted(_manufacturers(pool)):
            label, kinds = _KINDS[manufacturer]
            found = _plugins(stack, kinds)
            for taint in taints_of(stack, pool.resource) if found else ():
                if not any(_tolerates(plugin, taint) for plugin in found):
                    yield (
                        found[0].resource.urn,
                        (
                            f"the {label} device plugin does not tolerate the taint {taint} of "
                            f"{pool.resource.name}, whose nodes then offer no accelerators; add a "
                            "toleration for it"
                        ),
                    )


def _manufacturers(pool: Pool) -> set[str]:
    names = {name for _, launch in pool.templates() for name in pool.launched_types(launch)}
    types = [INSTANCE_TYPES.get(name) for name in names | {*pool.instance_types()}]
    return {each.accelerators.manufacturer for each in types if each and each.accelerators}


def _plugins(stack: Stack, kinds: tuple[str, ...]) -> list[EfaPlugin]:
    # The name of the plugin for EFA ends in that of NVIDIA's.
    others = {plugin.resource.urn for plugin in plugins(stack, EFA_PLUGIN)}
    found = {plugin.resource.urn: plugin for kind in kinds for plugin in plugins(stack, kind)}
    return [plugin for urn, plugin in found.items() if urn not in others]


def _tolerates(plugin: EfaPlugin, taint: Taint) -> bool:
    if plugin.resource.resource_type == HELM_RELEASE:
        # The chart of NVIDIA tolerates these two as long as its values name nothing else.
        of_the_chart = (taint.key, taint.effect) == (_GPU, "NoSchedule") or taint.key == _CRITICAL
        if of_the_chart and plugin.facts.get("values", "tolerations") is None:
            return True
    return plugin.tolerates(taint)


POLICY = StackValidationPolicy(
    name="device-plugin-tolerations",
    display_name="Device plugins tolerate the taints of accelerated nodes",
    description=(
        "The device plugins of NVIDIA and Neuron tolerate the taints of the node groups with their "
        "accelerators."
    ),
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.HIGH,
    tags=["kubernetes", "G8"],
    remediation_steps="Add a toleration for the taint to the device plugin.",
    url="https://docs.aws.amazon.com/eks/latest/userguide/node-taints-managed-node-groups.html",
    validate=on_stack(_check),
)
