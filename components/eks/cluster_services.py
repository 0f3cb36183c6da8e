"""Cluster services of an EKS cluster, except CoreDNS and the device plugins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes

from trainyard.components.eks.eks_addons import EksAddons, EksAddonsArgs
from trainyard.components.eks.plan import EksPlan
from trainyard.components.eks.self_managed_addons import (
    SelfManagedAddonsArgs,
    install_addon,
    planned_addons,
)
from trainyard.components.identity.service_account_role import OidcProvider

HEARTBEAT_SECONDS = 300
"""The same time that EKS gives a node of a managed group. The handler polls the metadata every 2
seconds and gives pods 120 seconds, so the drain ends well before. Nodes of a Capacity Block are
scaled in 40 minutes before its end, and EC2 terminates them from 30 minutes on: 5 minutes fit."""


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
