"""The EKS control plane with its add-ons and log group, and access to it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws
import pulumi_eks as eks
import pulumi_kubernetes as kubernetes

from trainyard.components.config.provider_settings import provider_settings
from trainyard.components.eks.addons.eks_managed import POD_IDENTITY_AGENT
from trainyard.components.eks.plan import AddonPlan, AddonVersions, LogGroupPlan, PodIdentityPlan
from trainyard.components.identity.service_account_role import (
    OidcProvider,
    ServiceAccountRole,
    ServiceAccountRoleArgs,
)

# Prevent pulumi-eks from writing the `aws-auth` ConfigMap, which has other owners.
#
# In every authentication mode except `API`, the package creates a ConfigMap resource
# `<name>-nodeAccess` (kube-system/aws-auth). Its `data.mapRoles` holds only the package's own
# roles, or `[]`. It uses server-side apply with force, so each update replaces the whole string and
# removes every other role: those of EKS for managed node groups, of this program for self-managed
# ones, and of users. Passing the roles to the package does not keep the others. Ignoring changes of
# `data` works only until another property of the ConfigMap changes: then the old string is applied
# again.
#
# Therefore a transform, which also applies to children of a remote component, removes `data`. The
# package then owns the ConfigMap but none of its keys. In the mode `API` the package drops the
# resource. The ConfigMap stays but is not read.
#
# Source: https://github.com/pulumi/pulumi-eks, `nodejs/eks/cluster/cluster.ts`, `createCore`.


CONFIG_MAP_TYPE = "kubernetes:core/v1:ConfigMap"
NODE_ACCESS_SUFFIX = "-nodeAccess"


def leave_aws_auth_to_its_owners(
    args: pulumi.ResourceTransformArgs,
) -> pulumi.ResourceTransformResult | None:
    """Return the package's `aws-auth` without `data`, or None for every other resource.

    Deleting the resource keeps the ConfigMap, which is deleted with its cluster. Deleting it
    earlier would lock out every node and user that it lists.
    """
    if args.type_ != CONFIG_MAP_TYPE or not args.name.endswith(NODE_ACCESS_SUFFIX):
        return None
    props = {key: value for key, value in args.props.items() if key != "data"}
    opts = pulumi.ResourceOptions.merge(args.opts, pulumi.ResourceOptions(retain_on_delete=True))
    return pulumi.ResourceTransformResult(props=props, opts=opts)


# A log group of a cluster, new or adopted.
#
# Source: https://www.pulumi.com/registry/packages/aws/api-docs/cloudwatch/loggroup/


KEPT_BY_ADOPTED = ("tags", "kmsKeyId", "logGroupClass")
"""Settings of an adopted group that the stack leaves as they are. Another class would replace it.
"""


def make_log_group(
    plan: LogGroupPlan, tags: Mapping[str, str], parent: pulumi.Resource
) -> aws.cloudwatch.LogGroup:
    """Return the log group, which has the name of the resource.

    An adopted group is imported by the first update. It never gets the tags of the stack, so that
    later updates also know that it was adopted.
    """
    return aws.cloudwatch.LogGroup(
        plan.name,
        name=plan.name,
        retention_in_days=plan.retention_days,
        tags=dict(tags),
        opts=pulumi.ResourceOptions(
            parent=parent,
            import_=plan.name if plan.adopted else None,
            ignore_changes=[*KEPT_BY_ADOPTED] if plan.adopted else None,
        ),
    )


# EKS add-ons, each with the IAM role of its pods.
#
# Sources:
#     https://docs.aws.amazon.com/eks/latest/userguide/creating-an-add-on.html
#     https://docs.aws.amazon.com/eks/latest/userguide/add-ons-iam.html


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


# The EKS control plane with its default add-ons, and access to it.
#
# Sources:
#     https://www.pulumi.com/registry/packages/eks/api-docs/cluster/
#     https://github.com/pulumi/pulumi-eks, `nodejs/eks/cluster/cluster.ts` (v4)


@dataclass(frozen=True, slots=True, kw_only=True)
class EksClusterArgs:
    """Arguments of `EksCluster`."""

    cluster_name: str
    vpc_id: pulumi.Input[str]
    """VPC of the subnets. Without it, the package looks up the account's default VPC in every
    preview and update, and fails if there is none: `createCore` in `cluster.ts`."""
    subnet_ids: Sequence[pulumi.Input[str]]
    """Subnets of the control plane, in at least two zones that EKS supports."""
    kubernetes_version: str
    authentication_mode: str
    endpoint_public_access: bool
    endpoint_private_access: bool
    public_access_cidrs: tuple[str, ...]
    """CIDR blocks that can reach the public endpoint. Ignored without a public endpoint."""
    log_types: tuple[str, ...]
    log_group: LogGroupPlan | None = None
    """Of `log_types`. It comes before the cluster, and is deleted after it: EKS creates a missing
    group, also for the last events of a cluster that is deleted."""
    secrets_key_arn: str | None = None
    """KMS key that encrypts secrets. The provider adds a key in place, but replaces the cluster to
    remove one; `trainyard.components.eks.version_check` refuses that."""
    addon_versions: AddonVersions
    """`CoreDns` installs `coredns` later."""
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAccess:
    """What a node needs to find and trust its cluster."""

    cluster_name: pulumi.Output[str]
    endpoint: pulumi.Output[str]
    certificate_authority: pulumi.Output[str]
    """PEM, base64."""
    service_cidr: pulumi.Output[str]
    """IPv4 network of Kubernetes services."""
    security_group_id: pulumi.Output[str]
    """Cluster security group that EKS creates, for traffic between control plane and nodes."""


def _credentials() -> eks.KubeconfigOptionsArgs | None:
    """Return the role that the kubeconfig assumes; None without roles in the stack file.

    The role makes the cluster, so that it alone can log in to it. Without this argument, the
    package takes the profile of the stack file and no role: `createCluster` in `cluster.ts`.
    """
    settings = provider_settings(pulumi.runtime.get_config_env(), stack_file=pulumi.get_stack())
    if not settings.roles:
        return None
    return eks.KubeconfigOptionsArgs(
        role_arn=settings.roles[-1].role_arn, profile_name=settings.profile or None
    )


class EksCluster(pulumi.ComponentResource):
    """An EKS control plane with pinned `vpc-cni` and `kube-proxy`, and no nodes.

    The node groups and security groups of the package are disabled: its node groups cannot combine
    EFA with a reservation, and its security groups would have a `kubernetes.io/cluster` tag. Its
    CoreDNS is disabled too: the package would wait for an active add-on, which needs a node, and
    the nodes wait for the package (https://github.com/pulumi/pulumi-eks/issues/1819).

    Children: `<name>-eks` (`eks.Cluster`, which owns the rest of the control plane),
    `<name>-kubernetes` (`kubernetes.Provider`) and `<log group>` (`aws.cloudwatch.LogGroup`), if
    planned.
    """

    access: ClusterAccess
    arn: pulumi.Output[str]
    version: pulumi.Output[str]
    kubeconfig: pulumi.Output[str]
    """JSON, secret."""
    kubernetes_provider: kubernetes.Provider
    oidc_provider: OidcProvider
    """IAM identity provider for service accounts."""

    def __init__(
        self,
        name: str,
        args: EksClusterArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:eks:EksCluster", name, {}, opts)

        cluster = eks.Cluster(
            f"{name}-eks",
            name=args.cluster_name,
            version=args.kubernetes_version,
            vpc_id=args.vpc_id,
            subnet_ids=list(args.subnet_ids),
            authentication_mode=eks.AuthenticationMode(args.authentication_mode),
            endpoint_public_access=args.endpoint_public_access,
            endpoint_private_access=args.endpoint_private_access,
            public_access_cidrs=_public_access_cidrs(args),
            enabled_cluster_log_types=self._log_types(args),
            encryption_config_key_arn=args.secrets_key_arn,
            create_oidc_provider=True,
            skip_default_node_group=True,
            skip_default_security_groups=True,
            create_instance_role=False,
            vpc_cni_options=eks.VpcCniOptionsArgs(addon_version=args.addon_versions.vpc_cni),
            kube_proxy_addon_options=eks.KubeProxyAddonOptionsArgs(
                version=args.addon_versions.kube_proxy
            ),
            coredns_addon_options=eks.CoreDnsAddonOptionsArgs(enabled=False),
            provider_credential_opts=_credentials(),
            tags=dict(args.tags),
            opts=pulumi.ResourceOptions(parent=self, transforms=[leave_aws_auth_to_its_owners]),
        )

        self.access = _access(cluster)
        self.version = cluster.eks_cluster.apply(lambda made: made.version)
        self.arn = cluster.eks_cluster.apply(lambda made: made.arn)
        self.kubeconfig = pulumi.Output.secret(cluster.kubeconfig_json)
        self.kubernetes_provider = kubernetes.Provider(
            f"{name}-kubernetes",
            kubeconfig=self.kubeconfig,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.oidc_provider = OidcProvider(
            arn=cluster.oidc_provider_arn, url=cluster.oidc_provider_url
        )
        self.register_outputs(
            {
                "cluster_name": self.access.cluster_name,
                "endpoint": self.access.endpoint,
                "kubeconfig": self.kubeconfig,
            }
        )

    def _log_types(self, args: EksClusterArgs) -> pulumi.Input[list[pulumi.Input[str]]] | None:
        """Return the log types, once the cluster has a log group for them.

        The package passes the dependency of an argument on to the cluster, and not `depends_on`.
        """
        types: list[pulumi.Input[str]] = [*args.log_types]
        if args.log_group is None:
            return types or None
        return make_log_group(args.log_group, args.tags, self).name.apply(lambda _: types)


def _public_access_cidrs(args: EksClusterArgs) -> list[str] | None:
    # The package refuses the argument for a private endpoint.
    return list(args.public_access_cidrs) if args.endpoint_public_access else None


def _access(cluster: eks.Cluster) -> ClusterAccess:
    made = cluster.eks_cluster
    return ClusterAccess(
        cluster_name=made.apply(lambda c: c.name),
        endpoint=made.apply(lambda c: c.endpoint),
        certificate_authority=made.apply(_certificate_authority),
        service_cidr=made.apply(_service_cidr),
        security_group_id=cluster.cluster_security_group_id,
    )


def _certificate_authority(cluster: aws.eks.Cluster) -> pulumi.Output[str]:
    return cluster.certificate_authority.apply(
        lambda authority: _reported(authority.data, "certificate authority")
    )


def _service_cidr(cluster: aws.eks.Cluster) -> pulumi.Output[str]:
    return cluster.kubernetes_network_config.apply(
        lambda network: _reported(network.service_ipv4_cidr, "IPv4 network of services")
    )


def _reported(value: str | None, what: str) -> str:
    # A node without it in its user data boots, but never joins.
    if not value:
        raise ValueError(f"EKS reports no {what} for the cluster")
    return value


# The CoreDNS add-on, installed once there is a node to run it.
#
# Source: https://docs.aws.amazon.com/eks/latest/userguide/managing-coredns.html


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
