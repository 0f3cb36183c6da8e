"""The self-managed add-ons of an EKS stack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import pulumi
import pulumi_kubernetes as kubernetes

from trainyard.components.eks.addons.addon import SelfManagedAddon
from trainyard.components.eks.addons.registry import SELF_MANAGED_ADDONS, addon_target
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.components.eks.plan import EksPlan
from trainyard.components.runtime.addon_workloads import AddonWorkloads, AddonWorkloadsArgs


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfManagedAddonsArgs:
    """Arguments of the components that install self-managed add-ons."""

    plan: EksPlan
    provider: kubernetes.Provider
    ready: Mapping[str, pulumi.Resource]
    """The resource that exists once the nodes of a group are in service, by node group name."""


class DevicePlugins(pulumi.ComponentResource):
    """One DaemonSet per kind of device, on the nodes with such devices, and the Neuron scheduler.

    Children: `<name>-<add-on>` (`AddonWorkloads`), as planned.
    """

    def __init__(
        self,
        name: str,
        args: SelfManagedAddonsArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:architectures:DevicePlugins", name, {}, opts)
        for addon, groups in planned_addons(args.plan, "plugins"):
            install_addon(f"{name}-{addon.name}", addon, groups, args, parent=self)
        self.register_outputs({})


def planned_addons(
    plan: EksPlan, parent: Literal["plugins", "services"]
) -> Iterator[tuple[SelfManagedAddon, list[NodeGroupPlan]]]:
    """Yield the planned add-ons that a component installs, with the node groups that they serve."""
    for name, served in plan.self_managed_addons.items():
        addon = SELF_MANAGED_ADDONS[name]
        if addon.parent == parent:
            yield addon, [group for group in plan.node_groups if group.name in served]


def install_addon(
    name: str,
    addon: SelfManagedAddon,
    groups: list[NodeGroupPlan],
    args: SelfManagedAddonsArgs,
    *,
    parent: pulumi.Resource,
) -> AddonWorkloads:
    """Register the workloads of an add-on that serves these node groups."""
    plan = args.plan
    nodes = [group.name for group in groups if group.schedule.desired > 0]
    if addon.on_system_nodes:
        # The first node group is the system node group, which does not depend on the others.
        nodes = [plan.node_groups[0].name]
    return AddonWorkloads(
        name,
        AddonWorkloadsArgs(
            component=addon.component,
            provider=args.provider,
            workloads=addon.workloads(addon_target(plan, addon)),
            install_after=[args.ready[name] for name in nodes],
        ),
        pulumi.ResourceOptions(parent=parent),
    )
