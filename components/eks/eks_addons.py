"""EKS add-ons, each with the IAM role of its pods.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/creating-an-add-on.html
    https://docs.aws.amazon.com/eks/latest/userguide/add-ons-iam.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from trainyard.components.eks.addons.eks_managed import POD_IDENTITY_AGENT
from trainyard.components.eks.log_group import make_log_group
from trainyard.components.eks.plan import AddonPlan, PodIdentityPlan
from trainyard.components.identity.service_account_role import (
    OidcProvider,
    ServiceAccountRole,
    ServiceAccountRoleArgs,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EksAddonsArgs:
    """Arguments of `EksAddons`."""

    cluster_name: pulumi.Input[str]
    cluster_arn: pulumi.Input[str]
    addons: Sequence[AddonPlan]
    """The Pod Identity agent, if any, comes first."""
    oidc_provider: OidcProvider
    """Provider of the cluster, for roles that do not use Pod Identity."""
    region: str
    """Region of the cluster."""
    runs_on: pulumi.Resource
    """The system nodes. An add-on whose pods cannot be scheduled is degraded, and the provider
    waits 20 minutes for it to become active."""
    tags: Mapping[str, str]


class EksAddons(pulumi.ComponentResource):
    """The planned add-ons, installed in parallel once there are nodes to run them.

    The Pod Identity agent is installed before the pods that use it: a pod that starts earlier keeps
    the role of its node until it restarts. The agent does not wait for nodes: the add-on of a
    DaemonSet is healthy without nodes, like VPC CNI and kube-proxy
    (https://github.com/terraform-aws-modules/terraform-aws-eks/pull/3218 installs all three before
    the nodes). Add-ons with a Deployment are degraded until a node runs its pods.

    Children: for each add-on `<name>-<add-on>` (`aws.eks.Addon`), `<name>-<add-on>-identity`
    (`ServiceAccountRole`) if it has a role, and `<log group>` (`aws.cloudwatch.LogGroup`)
    for its log groups.
    """

    def __init__(
        self,
        name: str,
        args: EksAddonsArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:eks:EksAddons", name, {}, opts)
        agents = [
            self._install(f"{name}-{addon.name}", addon, args, after=[])
            for addon in args.addons
            if addon.name == POD_IDENTITY_AGENT
        ]
        for addon in args.addons:
            if addon.name != POD_IDENTITY_AGENT:
                after = [args.runs_on, *agents]
                self._install(f"{name}-{addon.name}", addon, args, after=after)
        self.register_outputs({})

    def _install(
        self,
        name: str,
        addon: AddonPlan,
        args: EksAddonsArgs,
        *,
        after: Sequence[pulumi.Resource],
    ) -> aws.eks.Addon:
        identity = addon.identity
        role = self._role(f"{name}-identity", identity, args) if identity else None
        through_agent = identity is not None and identity.through == "pod-identity"
        logs = [make_log_group(group, args.tags, self) for group in addon.log_groups]
        return aws.eks.Addon(
            name,
            cluster_name=args.cluster_name,
            addon_name=addon.name,
            addon_version=addon.version,
            configuration_values=_configuration(addon),
            pod_identity_associations=(
                [
                    aws.eks.AddonPodIdentityAssociationArgs(
                        service_account=identity.service_account, role_arn=role.arn
                    )
                ]
                if identity and role and through_agent
                else None
            ),
            service_account_role_arn=role.arn if role and not through_agent else None,
            resolve_conflicts_on_create="OVERWRITE",
            resolve_conflicts_on_update="OVERWRITE",
            tags=dict(args.tags),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[*after, *logs]),
        )

    def _role(
        self, name: str, identity: PodIdentityPlan, args: EksAddonsArgs
    ) -> ServiceAccountRole:
        return ServiceAccountRole(
            name,
            ServiceAccountRoleArgs(
                namespace=identity.namespace,
                service_account=identity.service_account,
                policy=identity.policy,
                cluster_arn=args.cluster_arn,
                oidc_provider=args.oidc_provider if identity.through == "oidc" else None,
                region=args.region,
                tags=args.tags,
            ),
            pulumi.ResourceOptions(parent=self),
        )


def _configuration(addon: AddonPlan) -> str | None:
    # Sorted, because EKS compares the text: a different key order would be an update.
    return json.dumps(addon.configuration, sort_keys=True) if addon.configuration else None
