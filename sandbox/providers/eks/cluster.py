"""The components of the provider: a cluster, and its managed node groups."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import pulumi

from trainyard.sandbox.providers.eks.arguments import TOKEN

# Resources and functions by token, without the packages that define them.
#
# Importing pulumi_aws a second time would add seconds to each preview.


AWS_VERSION = "7.51.1"
KUBERNETES_VERSION = "4.34.2"
"""Versions of the program's packages, so that both share default providers."""


class Child(pulumi.CustomResource):
    """A provider resource with its outputs by name."""

    def __init__(
        self,
        token: str,
        name: str,
        inputs: Mapping[str, Any],
        *,
        outputs: Iterable[str] = (),
        opts: pulumi.ResourceOptions,
    ) -> None:
        version = {"aws": AWS_VERSION, "kubernetes": KUBERNETES_VERSION}[token.partition(":")[0]]
        present = {key: value for key, value in inputs.items() if value is not None}
        super().__init__(
            token,
            name,
            {**dict.fromkeys(outputs), **present},
            pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(version=version)),
        )

    def output(self, name: str) -> pulumi.Output[Any]:
        """Return an input, or an output that was declared at creation."""
        return self.__dict__[name]


def call(token: str, parent: pulumi.Resource) -> pulumi.Output[Any]:
    """Return the result of a pulumi-aws function without arguments."""
    options = pulumi.InvokeOptions(parent=parent, version=AWS_VERSION)
    return pulumi.runtime.invoke_output(token, {}, options)


POLICY = "iam::aws:policy/AmazonEKSClusterPolicy"
HASH_DIGITS = 8
GET_PARTITION = "aws:index/getPartition:getPartition"
CNI_CONFIGURATION = {
    "env": {
        "AWS_VPC_ENI_MTU": "9001",
        "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "false",
        "AWS_VPC_K8S_CNI_EXTERNALSNAT": "false",
        "AWS_VPC_K8S_CNI_LOGLEVEL": "DEBUG",
        "AWS_VPC_K8S_CNI_LOG_FILE": "/host/var/log/aws-routed-eni/ipamd.log",
        "AWS_VPC_K8S_CNI_VETHPREFIX": "eni",
        "AWS_VPC_K8S_PLUGIN_LOG_FILE": "/var/log/aws-routed-eni/plugin.log",
        "AWS_VPC_K8S_PLUGIN_LOG_LEVEL": "DEBUG",
        "ENABLE_POD_ENI": "false",
        "WARM_ENI_TARGET": "1",
    },
    "init": {"env": {"DISABLE_TCP_EARLY_DEMUX": "false"}},
}
"""Defaults of the package: `computeEnv` in `nodejs/eks/addons/cni-addon.ts`."""
TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Action": ["sts:AssumeRole", "sts:TagSession"],
            "Effect": "Allow",
            "Principal": {"Service": ["eks.amazonaws.com"]},
        }
    ],
}


class ServiceRole(pulumi.ComponentResource):
    """The service role of the control plane.

    Children: `<name>-role` and its attachment, named after the policy's hash.
    """

    role: Child

    def __init__(
        self, name: str, tags: Mapping[str, str] | None, opts: pulumi.ResourceOptions
    ) -> None:
        super().__init__("eks:index:ServiceRole", name, {}, opts)
        inside = pulumi.ResourceOptions(parent=self)
        self.role = Child(
            "aws:iam/role:Role",
            f"{name}-role",
            {
                "description": "Allows EKS to manage clusters on your behalf.",
                "assumeRolePolicy": compact(TRUST),
                "tags": tags,
            },
            outputs=("arn", "name"),
            opts=inside,
        )
        digest = hashlib.sha1(f"arn:aws:{POLICY}".encode(), usedforsecurity=False).hexdigest()
        partition = call(GET_PARTITION, self)
        self.attachment = Child(
            "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
            f"{name}-{digest[:HASH_DIGITS]}",
            {
                "role": self.role.output("name"),
                "policyArn": partition.apply(lambda found: f"arn:{found['partition']}:{POLICY}"),
            },
            opts=inside,
        )
        attached = pulumi.Output.all(self.role.output("arn"), self.attachment.id)
        self.register_outputs(
            {"directRole": self.role, "resolvedRole": attached.apply(lambda _: self.role)}
        )


class VpcCniAddon(pulumi.ComponentResource):
    """The add-on that assigns pod IP addresses. Child: the add-on, with the same name."""

    def __init__(
        self,
        name: str,
        cluster: pulumi.Input[str],
        options: Mapping[str, Any],
        tags: Mapping[str, str] | None,
        opts: pulumi.ResourceOptions,
    ) -> None:
        super().__init__("eks:index:VpcCniAddon", name, {}, opts)
        self.addon = addon(
            name,
            cluster,
            "vpc-cni",
            {**options, "configurationValues": compact(CNI_CONFIGURATION)},
            tags,
            pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({"addon": self.addon})


def compact(value: object) -> str:
    """Return JSON in JavaScript's formatting."""
    return json.dumps(value, separators=(",", ":"))


def addon(
    name: str,
    cluster: pulumi.Input[str],
    addon_name: str,
    options: Mapping[str, Any],
    tags: Mapping[str, str] | None,
    opts: pulumi.ResourceOptions,
) -> Child:
    """Register an EKS add-on as the package does."""
    return Child(
        "aws:eks/addon:Addon",
        name,
        {
            "clusterName": cluster,
            "addonName": addon_name,
            "preserve": True,
            "resolveConflictsOnCreate": "OVERWRITE",
            "resolveConflictsOnUpdate": "OVERWRITE",
            "tags": tags,
            **options,
        },
        opts=opts,
    )


EXEC_API = "client.authentication.k8s.io/v1beta1"


def kubeconfig(
    *,
    cluster: str,
    endpoint: str,
    region: str,
    certificate_authority_data: str,
    role_arn: str = "",
) -> dict[str, Any]:
    """Return the kubeconfig for the creator of the cluster: tokens come from `aws eks get-token`.

    In the sandbox this is the `aws` in its `bin` directory
    (`trainyard.sandbox.kubernetes.get_token`).

    Source: `generateKubeconfig` in `nodejs/eks/cluster/cluster.ts` of
    https://github.com/pulumi/pulumi-eks
    """
    command = ["--region", region, "eks", "get-token", "--cluster-name", cluster]
    token = {
        "apiVersion": EXEC_API,
        "command": "aws",
        "args": [*command, "--output", "json", *(["--role", role_arn] if role_arn else [])],
        "env": [{"name": "KUBERNETES_EXEC_INFO", "value": f'{{"apiVersion": "{EXEC_API}"}}'}],
    }
    reached = {"server": endpoint, "certificate-authority-data": certificate_authority_data}
    return {
        "apiVersion": "v1",
        "clusters": [{"cluster": reached, "name": "kubernetes"}],
        "contexts": [{"context": {"cluster": "kubernetes", "user": "aws"}, "name": "aws"}],
        "current-context": "aws",
        "kind": "Config",
        "users": [{"name": "aws", "user": {"exec": token}}],
    }


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
"""A placeholder in the form that IAM requires: forty hexadecimal digits. AWS ignores the thumbprint
if a well-known authority signed the issuer's certificate:
https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_providers_create_oidc_verify-thumbprint.html
"""
ARN_REGION = 3
"""Index of the region in an ARN."""
CREATOR = "accessConfig.bootstrapClusterCreatorAdminPermissions"

Arguments = Mapping[str, Any]


class Cluster(pulumi.ComponentResource):
    """The resources that pulumi-eks creates for a cluster without its own node groups."""

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
        options = arguments.get("providerCredentialOpts") or {}
        self.kubeconfig = _kubeconfig(self.cluster, options.get("roleArn") or "")
        self.kubeconfig_json = self.kubeconfig.apply(compact)
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
                parent=self,
                depends_on=[self.node_access] if self.node_access else None,
                providers={"kubernetes": self.provider},
            ),
        )
        self.oidc_provider = _oidc_provider(name, self.cluster, self)
        self.outputs = self._outputs(arguments)
        self.register_outputs(self.outputs)

    def _outputs(self, arguments: Arguments) -> dict[str, Any]:
        """Return the outputs in the package's schema; empty for resources that are not created."""
        group = _of(self.cluster.output("vpcConfig"), "clusterSecurityGroupId")
        issuer = _issuer(self.cluster)
        return {
            "autoModeNodeRoleName": "",
            "clusterIngressRuleId": "",
            "clusterSecurityGroupId": group,
            "core": pulumi.Output.from_input(self._core(arguments)),
            "defaultNodeGroupAsgName": "",
            "eksCluster": self.cluster,
            "fargateProfileId": "",
            "fargateProfileStatus": "",
            "instanceRoles": [],
            "kubeconfig": self.kubeconfig,
            "kubeconfigJson": self.kubeconfig_json,
            "nodeSecurityGroupId": group,
            "oidcIssuer": issuer.apply(lambda url: url.removeprefix("https://")),
            "oidcProviderArn": self.oidc_provider.output("arn"),
            "oidcProviderUrl": issuer,
        }

    def _core(self, arguments: Arguments) -> dict[str, Any]:
        core = {
            "accessEntries": [],
            "autoModeNodeRoleName": "",
            "cluster": self.cluster,
            "clusterIamRole": self.role.role,
            "eksNodeAccess": self.node_access,
            "encryptionConfig": _encryption(arguments),
            "endpoint": self.cluster.output("endpoint"),
            "instanceRoles": [],
            "kubeconfig": self.kubeconfig,
            "nodeGroupOptions": {"version": arguments["version"]},
            "oidcProvider": self.oidc_provider,
            "provider": self.provider,
            "storageClasses": {},
            "subnetIds": arguments["subnetIds"],
            "tags": arguments["tags"],
            "vpcCni": self.vpc_cni,
            "vpcId": arguments["vpcId"],
        }
        return {key: value for key, value in core.items() if value is not None}


def _control_plane(
    name: str, arguments: Arguments, role: ServiceRole, inside: pulumi.ResourceOptions
) -> Child:
    network = ("subnetIds", "endpointPrivateAccess", "endpointPublicAccess", "publicAccessCidrs")
    # AWS attaches the policy at once, but it must exist before the control plane.
    after = pulumi.ResourceOptions(
        depends_on=[role.attachment], ignore_changes=[CREATOR, "bootstrapSelfManagedAddons"]
    )
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
            "accessConfig": {
                "authenticationMode": arguments["authenticationMode"],
                "bootstrapClusterCreatorAdminPermissions": True,
            },
            "bootstrapSelfManagedAddons": True,
            "tags": {"Name": f"{name}-eksCluster", **arguments["tags"]},
        },
        outputs=CLUSTER_OUTPUTS,
        opts=pulumi.ResourceOptions.merge(inside, after),
    )


def _encryption(arguments: Arguments) -> dict[str, Any] | None:
    key = arguments.get("encryptionConfigKeyArn")
    return {"provider": {"keyArn": key}, "resources": ["secrets"]} if key else None


def _kubeconfig(cluster: Child, role_arn: str) -> pulumi.Output[dict[str, Any]]:
    authority = _of(cluster.output("certificateAuthority"), "data")
    needed = (cluster.output(name) for name in ("name", "endpoint", "arn"))
    return pulumi.Output.all(*needed, authority).apply(
        lambda known: kubeconfig(
            cluster=known[0],
            endpoint=known[1],
            region=known[2].split(":")[ARN_REGION],
            certificate_authority_data=known[3],
            role_arn=role_arn,
        )
    )


def _node_access(
    name: str, arguments: Arguments, provider: pulumi.ProviderResource, inside: Any
) -> Child | None:
    if arguments["authenticationMode"] == "API":
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


def _oidc_provider(name: str, cluster: Child, component: pulumi.Resource) -> Child:
    # The package takes the region from it, and connects to the issuer over TLS for the thumbprint.
    region = call("aws:index/getRegion:getRegion", component)
    return Child(
        "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
        f"{name}-oidcProvider",
        {
            "clientIdLists": ["sts.amazonaws.com"],
            "url": _issuer(cluster),
            "thumbprintLists": [region.apply(lambda _: THUMBPRINT)],
        },
        outputs=("arn",),
        opts=pulumi.ResourceOptions(parent=component),
    )


def _issuer(cluster: Child) -> pulumi.Output[str]:
    return cluster.output("identities").apply(lambda found: found[0]["oidcs"][0]["issuer"])


def _of(found: pulumi.Output[Any], key: str) -> pulumi.Output[Any]:
    return found.apply(lambda values: values[key])
