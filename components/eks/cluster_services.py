"""Cluster services of an EKS cluster, except CoreDNS and the device plugins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes

from trainyard.components.eks.addons.addon import SelfManagedAddon
from trainyard.components.eks.addons.registry import SELF_MANAGED_ADDONS, addon_target
from trainyard.components.eks.cluster import EksAddons, EksAddonsArgs
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.components.eks.plan import EksPlan
from trainyard.components.eks.scraper_plan import ScraperPlan
from trainyard.components.identity.service_account_role import OidcProvider
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsScraperArgs:
    """Arguments of `MetricsScraper`."""

    plan: ScraperPlan
    cluster_arn: pulumi.Input[str]
    security_group_id: pulumi.Input[str]
    """Security group of the cluster, which its nodes have too."""
    subnet_ids: Sequence[pulumi.Input[str]]
    tags: Mapping[str, str]


class MetricsScraper(pulumi.ComponentResource):
    """A collector that AWS runs: it reads the exporters and sends their metrics to a workspace.

    AWS creates its service-linked role and the access entry of this role. The collector is deleted
    before the cluster; one that outlived it would read the next cluster of the same name.

    Children: `<name>` (`aws.amp.Scraper`).

    Source:
        https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-collector-how-to.html
    """

    def __init__(
        self, name: str, args: MetricsScraperArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trainyard:eks:MetricsScraper", name, {}, opts)
        aws.amp.Scraper(
            name,
            alias=name,
            destination=aws.amp.ScraperDestinationArgs(
                amp=aws.amp.ScraperDestinationAmpArgs(workspace_arn=args.plan.workspace_arn)
            ),
            source=aws.amp.ScraperSourceArgs(
                eks=aws.amp.ScraperSourceEksArgs(
                    cluster_arn=args.cluster_arn,
                    security_group_ids=[args.security_group_id],
                    subnet_ids=list(args.subnet_ids),
                )
            ),
            scrape_configuration=args.plan.configuration,
            tags=dict(args.tags),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({})


HEARTBEAT_SECONDS = 300
"""The same time that EKS gives a node of a managed group. The handler polls the metadata every 2
seconds and gives pods 120 seconds, so the drain ends well before. Nodes of a Capacity Block have
twice this time: `DRAIN_TIME` of components/capacity/schedule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminationHookArgs:
    """Arguments of `TerminationHook`."""

    group_name: pulumi.Input[str]
    """Name of the Auto Scaling group."""
    drained_by: pulumi.Resource
    """The resource that drains the nodes; without it the hook would only delay termination."""


class TerminationHook(pulumi.ComponentResource):
    """A lifecycle hook that delays the termination of an instance by five minutes.

    While the instance waits, its metadata report the target lifecycle state `Terminated`, which the
    node termination handler watches for. The wait always runs to its end: in its metadata mode the
    handler has no AWS permissions.

    Children: `<name>-hook` (`aws.autoscaling.LifecycleHook`).

    Source:
        https://docs.aws.amazon.com/autoscaling/ec2/userguide/lifecycle-hooks.html
        https://docs.aws.amazon.com/autoscaling/ec2/userguide/retrieving-target-lifecycle-state-through-imds.html
        https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks.html
    """

    def __init__(
        self,
        name: str,
        args: TerminationHookArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:eks:TerminationHook", name, {}, opts)
        aws.autoscaling.LifecycleHook(
            f"{name}-hook",
            name="drain-before-termination",
            autoscaling_group_name=args.group_name,
            lifecycle_transition="autoscaling:EC2_INSTANCE_TERMINATING",
            default_result="CONTINUE",
            heartbeat_timeout=HEARTBEAT_SECONDS,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[args.drained_by]),
        )
        self.register_outputs({})


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesInService:
    """The nodes of one node group."""

    ready: pulumi.Resource
    """Exists once the nodes are in service."""
    group_name: pulumi.Input[str]
    """Name of the node group, or of the Auto Scaling group of a self-managed one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterServicesArgs:
    """Arguments of `ClusterServices`."""

    plan: EksPlan
    cluster_name: pulumi.Input[str]
    cluster_arn: pulumi.Input[str]
    oidc_provider: OidcProvider
    provider: kubernetes.Provider
    groups: Mapping[str, NodesInService]
    """By node group name."""


class ClusterServices(pulumi.ComponentResource):
    """EKS add-ons on the system nodes, and the self-managed add-ons without devices.

    Children: `<name>-addons` (`EksAddons`), `<name>-<add-on>` (`AddonWorkloads`) for each
    self-managed add-on, and for one that drains nodes `<name>-<group>-<add-on>`
    (`TerminationHook`) for each node group that it serves.
    """

    def __init__(
        self,
        name: str,
        args: ClusterServicesArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:architectures:ClusterServices", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        system = args.plan.node_groups[0]
        EksAddons(
            f"{name}-addons",
            EksAddonsArgs(
                cluster_name=args.cluster_name,
                cluster_arn=args.cluster_arn,
                addons=args.plan.addons,
                oidc_provider=args.oidc_provider,
                region=args.plan.region,
                runs_on=args.groups[system.name].ready,
                tags=args.plan.tags,
            ),
            child,
        )
        common = SelfManagedAddonsArgs(
            plan=args.plan,
            provider=args.provider,
            ready={group: nodes.ready for group, nodes in args.groups.items()},
        )
        for addon, groups in planned_addons(args.plan, "services"):
            installed = install_addon(f"{name}-{addon.name}", addon, groups, common, parent=self)
            for group in groups if addon.drains else []:
                hook = TerminationHookArgs(
                    group_name=args.groups[group.name].group_name, drained_by=installed
                )
                TerminationHook(f"{name}-{group.name}-{addon.name}", hook, child)
        self.register_outputs({})
