"""The EKS control plane with its default add-ons, and access to it.

Sources:
    https://www.pulumi.com/registry/packages/eks/api-docs/cluster/
    https://github.com/pulumi/pulumi-eks, `nodejs/eks/cluster/cluster.ts` (v4)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws
import pulumi_eks as eks
import pulumi_kubernetes as kubernetes

from trainyard.components.eks.log_group import make_log_group
from trainyard.components.eks.node_access import leave_aws_auth_to_its_owners
from trainyard.components.eks.plan import AddonVersions, LogGroupPlan
from trainyard.components.identity.service_account_role import OidcProvider


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
