"""The EKS control plane with its add-ons, and the way into it.

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

from components.eks.node_access import leave_aws_auth_to_its_owners
from components.eks.plan import AddonVersions
from components.identity.service_account_role import OidcProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class EksClusterArgs:
    """Arguments of `EksCluster`."""

    cluster_name: str
    vpc_id: pulumi.Input[str]
    """VPC of the subnets. Without it the package looks up the default VPC of the account in every
    preview and update, and fails where there is none: `createCore` in `cluster.ts`."""
    subnet_ids: Sequence[pulumi.Input[str]]
    """Subnets of the control plane, in at least two zones that EKS serves."""
    kubernetes_version: str
    authentication_mode: str
    endpoint_public_access: bool
    endpoint_private_access: bool
    public_access_cidrs: tuple[str, ...]
    """Networks that reach the public endpoint; without one the argument means nothing."""
    log_types: tuple[str, ...]
    secrets_key_arn: str | None = None
    """KMS key that encrypts secrets. The provider adds one in place, and replaces the cluster to
    take one away, which `components.account.version_check` refuses."""
    addon_versions: AddonVersions
    """Of these, `coredns` is installed later, by `CoreDns`."""
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAccess:
    """What a node needs to find its cluster and to trust it."""

    cluster_name: pulumi.Output[str]
    endpoint: pulumi.Output[str]
    certificate_authority: pulumi.Output[str]
    """PEM, base64."""
    service_cidr: pulumi.Output[str]
    """IPv4 network of Kubernetes services."""
    security_group_id: pulumi.Output[str]
    """The group that EKS made: control plane and nodes reach one another through it."""


class EksCluster(pulumi.ComponentResource):
    """An EKS control plane with pinned `vpc-cni` and `kube-proxy`, and no nodes.

    Node groups and security groups of the package are off: its node groups cannot join EFA with
    a reservation, and its groups would carry a `kubernetes.io/cluster` tag. So is its CoreDNS:
    the package waits for the add-on to be active, which needs a node, which waits for the
    package (https://github.com/pulumi/pulumi-eks/issues/1819).

    Children: `<name>-eks` (`eks.Cluster`, which owns the rest of the control plane) and
    `<name>-kubernetes` (`kubernetes.Provider`).
    """

    access: ClusterAccess
    version: pulumi.Output[str]
    kubeconfig: pulumi.Output[str]
    """JSON, secret."""
    kubernetes_provider: kubernetes.Provider
    oidc_provider: OidcProvider
    """Vouches for the pods of service accounts, in IAM."""

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
            enabled_cluster_log_types=list(args.log_types) or None,
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


def _public_access_cidrs(args: EksClusterArgs) -> list[str] | None:
    # The package refuses the argument where the endpoint is private.
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
    # A node whose user data lacks it boots, and never joins.
    if not value:
        raise ValueError(f"EKS reports no {what} for the cluster")
    return value
