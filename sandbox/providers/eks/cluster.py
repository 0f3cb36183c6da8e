"""The component `eks:index:Cluster`: the control plane, its add-ons and the way into it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pulumi

from sandbox.providers.eks.access import kubeconfig
from sandbox.providers.eks.arguments import TOKEN
from sandbox.providers.eks.child import KUBERNETES_VERSION, Child
from sandbox.providers.eks.components import ServiceRole, VpcCniAddon, addon

CLUSTER_OUTPUTS = (
    "arn",
    "certificateAuthority",
    "endpoint",
    "identities",
    "name",
    "version",
    "vpcConfig",
)
THUMBPRINT = "0" * 40
"""The sandbox's issuer has no certificate; IAM wants forty hexadecimal digits."""
CREATOR = "accessConfig.bootstrapClusterCreatorAdminPermissions"

Arguments = Mapping[str, Any]


class Cluster(pulumi.ComponentResource):
    """What pulumi-eks makes for a cluster without node groups of the package."""

    def __init__(self, name: str, arguments: Arguments, opts: pulumi.ResourceOptions) -> None:
        super().__init__(TOKEN, name, {}, opts)
        inside = pulumi.ResourceOptions(parent=self)
        tags = arguments.get("tags")
        self.role = ServiceRole(f"{name}-eksRole", tags, inside)
        self.cluster = _control_plane(name, arguments, self.role, inside)
        cluster_name = self.cluster.output("name")
        kube_proxy = {
            key.replace("version", "addonVersion"): value
            for key, value in arguments["kubeProxyAddonOptions"].items()
        }
        addon(f"{name}-kube-proxy", cluster_name, "kube-proxy", kube_proxy, tags, inside)
        self.kubeconfig = pulumi.Output.secret(_kubeconfig(self.cluster))
        self.kubeconfig_json = self.kubeconfig.apply(json.dumps)
        self.provider = pulumi.ProviderResource(
            "kubernetes",
            f"{name}-eks-k8s",
            {"kubeconfig": self.kubeconfig_json},
            pulumi.ResourceOptions(parent=self, version=KUBERNETES_VERSION),
        )
        self.node_access = _node_access(name, arguments, self.provider, inside)
        self.vpc_cni = VpcCniAddon(
            f"{name}-vpc-cni",
            cluster_name,
            arguments["vpcCniOptions"],
            tags,
            pulumi.ResourceOptions(
                parent=self, depends_on=[self.node_access] if self.node_access else None
            ),
        )
        self.oidc_provider = _oidc_provider(name, arguments, self.cluster, inside)
        self.register_outputs({})

    def outputs(self, arguments: Arguments) -> dict[str, Any]:
        """Return the outputs of the package's schema; empty where nothing of the kind is made."""
        group = _of(self.cluster.output("vpcConfig"), "clusterSecurityGroupId")
        issuer = _issuer(self.cluster)
        oidc = self.oidc_provider
        return {
            "autoModeNodeRoleName": "",
            "clusterIngressRuleId": "",
            "clusterSecurityGroupId": group,
            "core": self._core(arguments),
            "defaultNodeGroupAsgName": "",
            "eksCluster": self.cluster,
            "fargateProfileId": "",
            "fargateProfileStatus": "",
            "instanceRoles": [],
            "kubeconfig": self.kubeconfig,
            "kubeconfigJson": self.kubeconfig_json,
            "nodeSecurityGroupId": group,
            "oidcIssuer": issuer.apply(lambda url: url.removeprefix("https://")),
            "oidcProviderArn": oidc.output("arn") if oidc else "",
            "oidcProviderUrl": issuer,
        }

    def _core(self, arguments: Arguments) -> dict[str, Any]:
        core = {
            "cluster": self.cluster,
            "clusterIamRole": self.role.role,
            "eksNodeAccess": self.node_access,
            "endpoint": self.cluster.output("endpoint"),
            "instanceRoles": [],
            "kubeconfig": self.kubeconfig,
            "nodeGroupOptions": {},
            "oidcProvider": self.oidc_provider,
            "provider": self.provider,
            "subnetIds": arguments["subnetIds"],
            "tags": arguments.get("tags"),
            "vpcCni": self.vpc_cni,
            "vpcId": arguments["vpcId"],
        }
        return {key: value for key, value in core.items() if value is not None}


def _control_plane(
    name: str, arguments: Arguments, role: ServiceRole, inside: pulumi.ResourceOptions
) -> Child:
    network = ("subnetIds", "endpointPrivateAccess", "endpointPublicAccess", "publicAccessCidrs")
    mode = arguments.get("authenticationMode")
    access = {"authenticationMode": mode, "bootstrapClusterCreatorAdminPermissions": True}
    # AWS attaches the policy at once; it must be there before the control plane is.
    after = pulumi.ResourceOptions(depends_on=[role.attachment], ignore_changes=[CREATOR])
    return Child(
        "aws:eks/cluster:Cluster",
        f"{name}-eksCluster",
        {
            "name": arguments["name"],
            "roleArn": role.role.output("arn"),
            "version": arguments["version"],
            "vpcConfig": {key: arguments[key] for key in network if key in arguments},
            "enabledClusterLogTypes": arguments.get("enabledClusterLogTypes"),
            "encryptionConfig": _encryption(arguments),
            "accessConfig": access if mode else None,
            "tags": {"Name": f"{name}-eksCluster", **(arguments.get("tags") or {})},
        },
        outputs=CLUSTER_OUTPUTS,
        opts=pulumi.ResourceOptions.merge(inside, after),
    )


def _encryption(arguments: Arguments) -> dict[str, Any] | None:
    key = arguments.get("encryptionConfigKeyArn")
    return {"provider": {"keyArn": key}, "resources": ["secrets"]} if key else None


def _kubeconfig(cluster: Child) -> pulumi.Output[dict[str, Any]]:
    authority = _of(cluster.output("certificateAuthority"), "data")
    name, endpoint = cluster.output("name"), cluster.output("endpoint")
    # Not from the name alone: in a preview it is known before there is a control plane.
    return pulumi.Output.all(name, endpoint, authority).apply(
        lambda known: kubeconfig(
            cluster=known[0], endpoint=known[1], certificate_authority_data=known[2]
        )
    )


def _node_access(
    name: str, arguments: Arguments, provider: pulumi.ProviderResource, inside: Any
) -> Child | None:
    if arguments.get("authenticationMode") == "API":
        return None
    return Child(
        "kubernetes:core/v1:ConfigMap",
        f"{name}-nodeAccess",
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "immutable": False,
            "metadata": {
                "name": "aws-auth",
                "namespace": "kube-system",
                "annotations": {"pulumi.com/patchForce": "true"},
            },
            "data": {"mapRoles": "[]\n"},
        },
        opts=pulumi.ResourceOptions.merge(inside, pulumi.ResourceOptions(provider=provider)),
    )


def _oidc_provider(
    name: str, arguments: Arguments, cluster: Child, inside: pulumi.ResourceOptions
) -> Child | None:
    if not arguments.get("createOidcProvider"):
        return None
    return Child(
        "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
        f"{name}-oidcProvider",
        {
            "clientIdLists": ["sts.amazonaws.com"],
            "url": _issuer(cluster),
            "thumbprintLists": [THUMBPRINT],
        },
        outputs=("arn",),
        opts=inside,
    )


def _issuer(cluster: Child) -> pulumi.Output[str]:
    return cluster.output("identities").apply(lambda found: found[0]["oidcs"][0]["issuer"])


def _of(found: pulumi.Output[Any], key: str) -> pulumi.Output[Any]:
    return found.apply(lambda values: values[key])
