"""The CoreDNS add-on, installed once there is a node to run it.

Source: https://docs.aws.amazon.com/eks/latest/userguide/managing-coredns.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreDnsArgs:
    """Arguments of `CoreDns`."""

    cluster_name: pulumi.Input[str]
    version: str
    """Add-on version, such as `v1.13.1-eksbuild.1`."""
    runs_on: pulumi.Resource
    """The node group that must exist first: the add-on is degraded until a pod runs, and the
    provider waits 20 minutes for that."""
    tags: Mapping[str, str]


class CoreDns(pulumi.ComponentResource):
    """CoreDNS as an EKS add-on with a pinned version.

    It takes over the CoreDNS that EKS installs in every new cluster. The pods keep running when the
    add-on is removed: a cluster without DNS cannot drain its nodes.

    Children: `<name>-addon` (`aws.eks.Addon`).
    """

    def __init__(
        self,
        name: str,
        args: CoreDnsArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:eks:CoreDns", name, {}, opts)
        aws.eks.Addon(
            f"{name}-addon",
            cluster_name=args.cluster_name,
            addon_name="coredns",
            addon_version=args.version,
            resolve_conflicts_on_create="OVERWRITE",
            resolve_conflicts_on_update="OVERWRITE",
            preserve=True,
            tags=dict(args.tags),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[args.runs_on]),
        )
        self.register_outputs({})
