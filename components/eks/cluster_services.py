"""Cluster services of an EKS cluster, except CoreDNS and the device plugins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.eks.addons import EksAddons, EksAddonsArgs
from components.eks.plan import EksPlan, NodeTerminationPlan
from components.eks.termination_hook import TerminationHook, TerminationHookArgs
from components.identity.service_account_role import OidcProvider
from components.runtime.node_termination_handler import (
    NodeTerminationHandler,
    NodeTerminationHandlerArgs,
)


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
    oidc_provider: OidcProvider
    provider: kubernetes.Provider
    groups: Mapping[str, NodesInService]
    """By node group name."""


class ClusterServices(pulumi.ComponentResource):
    """EKS add-ons on the system nodes, and draining of self-managed nodes.

    Children: `<name>-addons` (`EksAddons`), and for node groups to drain `<name>-termination`
    (`NodeTerminationHandler`) and `<name>-<group>-termination` (`TerminationHook`) for each of
    them.
    """

    def __init__(
        self,
        name: str,
        args: ClusterServicesArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:architectures:ClusterServices", name, {}, opts)
        self._child = pulumi.ResourceOptions(parent=self)
        system = args.plan.node_groups[0]
        EksAddons(
            f"{name}-addons",
            EksAddonsArgs(
                cluster_name=args.cluster_name,
                addons=args.plan.addons,
                oidc_provider=args.oidc_provider,
                region=args.plan.region,
                runs_on=args.groups[system.name].ready,
                tags=args.plan.tags,
            ),
            self._child,
        )
        if args.plan.node_termination is not None:
            self._drain(name, args, args.plan.node_termination)
        self.register_outputs({})

    def _drain(self, name: str, args: ClusterServicesArgs, plan: NodeTerminationPlan) -> None:
        drained = [group for group in args.plan.node_groups if group.name in plan.node_groups]
        handler = NodeTerminationHandler(
            f"{name}-termination",
            NodeTerminationHandlerArgs(
                provider=args.provider,
                instance_types=[group.instance_type.name for group in drained],
                install_after=[
                    args.groups[group.name].ready for group in drained if group.schedule.desired > 0
                ],
            ),
            self._child,
        )
        for group in drained:
            TerminationHook(
                f"{name}-{group.name}-termination",
                TerminationHookArgs(
                    group_name=args.groups[group.name].group_name, drained_by=handler
                ),
                self._child,
            )
