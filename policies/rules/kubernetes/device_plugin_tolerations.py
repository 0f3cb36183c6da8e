"""The NVIDIA and Neuron device plugins tolerate the taints of the nodes with their accelerators.

Why:
    Taints keep other pods off accelerated nodes, and also a device plugin that does not tolerate
    them. The nodes are Ready and billed, but do not offer `nvidia.com/gpu` or
    `aws.amazon.com/neuron`, so training pods stay Pending.
Fix:
    Add a toleration for the taint to the DaemonSet, or to `tolerations` in the values of the chart.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/node-taints-managed-node-groups.html
    https://github.com/NVIDIA/k8s-device-plugin/blob/main/deployments/helm/nvidia-device-plugin/values.yaml
    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/kubernetes-getting-started.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.policies.resources.kubernetes import PLUGIN as EFA_PLUGIN
from trainyard.policies.resources.kubernetes import (
    EfaPlugin,
    Taint,
    of_kubernetes,
    plugins,
    taints_of,
)
from trainyard.policies.resources.pools import Pool, pools
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import EKS_CLUSTER, HELM_RELEASE
from trainyard.policies.rule import Config, stack_rule

_KINDS = {
    "nvidia": ("NVIDIA", ("k8s-device-plugin", "nvidia-device-plugin")),
    "neuron": ("Neuron", ("neuron-device-plugin",)),
}
"""By manufacturer: the name in messages, and the images and charts of the plugin."""
_GPU = "nvidia.com/gpu"
_CRITICAL = "CriticalAddonsOnly"


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    # A Kubernetes resource does not show which of several clusters it is in.
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
                            f"{pool.resource.name}, so its nodes offer no accelerators; add a "
                            "toleration for it"
                        ),
                    )


def _manufacturers(pool: Pool) -> set[str]:
    names = {name for _, launch in pool.templates() for name in pool.launched_types(launch)}
    types = [INSTANCE_TYPES.get(name) for name in names | {*pool.instance_types()}]
    return {each.accelerators.manufacturer for each in types if each and each.accelerators}


def _plugins(stack: Stack, kinds: tuple[str, ...]) -> list[EfaPlugin]:
    # The name of the EFA plugin ends in that of the NVIDIA plugin.
    others = {plugin.resource.urn for plugin in plugins(stack, EFA_PLUGIN)}
    found = {plugin.resource.urn: plugin for kind in kinds for plugin in plugins(stack, kind)}
    return [plugin for urn, plugin in found.items() if urn not in others]


def _tolerates(plugin: EfaPlugin, taint: Taint) -> bool:
    if plugin.resource.resource_type == HELM_RELEASE:
        # The NVIDIA chart tolerates these two unless its values override the tolerations.
        of_the_chart = (taint.key, taint.effect) == (_GPU, "NoSchedule") or taint.key == _CRITICAL
        if of_the_chart and plugin.facts.get("values", "tolerations") is None:
            return True
    return plugin.tolerates(taint)


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.HIGH,
    tags=["G8"],
    check=_check,
)
