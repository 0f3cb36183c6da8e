"""`eks:index:Cluster` with the real engine, a moto account and a real control plane."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.support.pulumi_workspace import Workspace
from tests.support.sandbox_aws import PRIVATE_A, PRIVATE_B, VPC
from trainyard.components.catalog.versions import DEFAULT_KUBERNETES_VERSION, EKS_VERSIONS
from trainyard.sandbox.kubernetes.control_planes import ControlPlanes

pytestmark = [pytest.mark.engine, pytest.mark.kubernetes]

RELEASE = EKS_VERSIONS[DEFAULT_KUBERNETES_VERSION]
PROGRAM = f"""
import os

import pulumi


def without_data(args):
    if args.type_ != "kubernetes:core/v1:ConfigMap":
        return None
    props = {{key: value for key, value in args.props.items() if key != "data"}}
    return pulumi.ResourceTransformResult(props=props, opts=args.opts)


outputs = ("clusterSecurityGroupId", "eksCluster", "kubeconfigJson", "oidcProviderArn")
options = {{"resolveConflictsOnCreate": "OVERWRITE", "resolveConflictsOnUpdate": "OVERWRITE"}}
cluster = pulumi.ComponentResource(
    os.environ.get("TYPE", "eks:index:Cluster"),
    "c-eks",
    {{
        **dict.fromkeys(outputs),
        "name": "c",
        "version": {RELEASE.minor!r},
        "vpcId": {VPC!r},
        "subnetIds": [{PRIVATE_A!r}, {PRIVATE_B!r}],
        "authenticationMode": "API_AND_CONFIG_MAP",
        "endpointPrivateAccess": True,
        "endpointPublicAccess": True,
        "publicAccessCidrs": ["0.0.0.0/0"],
        "createInstanceRole": False,
        "createOidcProvider": True,
        "skipDefaultNodeGroup": True,
        "skipDefaultSecurityGroups": True,
        "corednsAddonOptions": {{**options, "enabled": False}},
        "kubeProxyAddonOptions": {{
            **options, "version": os.environ.get("KUBE_PROXY", {RELEASE.kube_proxy!r})
        }},
        "vpcCniOptions": {{**options, "addonVersion": {RELEASE.vpc_cni!r}}},
        "tags": {{"team": os.environ.get("TEAM", "a")}},
        **({{"fargate": True}} if "FARGATE" in os.environ else {{}}),
    }},
    pulumi.ResourceOptions(transforms=[without_data]),
    remote=True,
)
for output in ("clusterSecurityGroupId", "kubeconfigJson", "oidcProviderArn"):
    pulumi.export(output, getattr(cluster, output))
"""
CHILDREN = {
    ("eks:index:ServiceRole", "c-eks-eksRole", "c-eks"),
    ("aws:iam/role:Role", "c-eks-eksRole-role", "c-eks-eksRole"),
    (
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        "c-eks-eksRole-4b490823",
        "c-eks-eksRole",
    ),
    ("aws:eks/cluster:Cluster", "c-eks-eksCluster", "c-eks"),
    ("aws:eks/addon:Addon", "c-eks-kube-proxy", "c-eks"),
    ("pulumi:providers:kubernetes", "c-eks-eks-k8s", "c-eks"),
    ("kubernetes:core/v1:ConfigMap", "c-eks-nodeAccess", "c-eks"),
    ("eks:index:VpcCniAddon", "c-eks-vpc-cni", "c-eks"),
    ("aws:eks/addon:Addon", "c-eks-vpc-cni", "c-eks-vpc-cni"),
    ("aws:iam/openIdConnectProvider:OpenIdConnectProvider", "c-eks-oidcProvider", "c-eks"),
}
"""Type, name and parent's name, as in pulumi-eks 4."""


def resources(workspace: Workspace) -> list[dict[str, Any]]:
    exported = json.loads(workspace.run("stack", "export"))
    return exported["deployment"].get("resources", [])


def children(workspace: Workspace) -> set[tuple[str, str, str]]:
    def name(urn: str) -> str:
        return urn.rpartition("::")[2]

    return {
        (each["type"], name(each["urn"]), name(each["parent"]))
        for each in resources(workspace)
        if name(each.get("parent", "")).startswith("c-eks")
    }


def update(workspace: Workspace, *arguments: str) -> str:
    return workspace.run("up", "--yes", "--skip-preview", *arguments)


def test_a_cluster_lives_from_up_to_destroy(
    workspace: Workspace, control_planes: ControlPlanes
) -> None:
    workspace.write("__main__.py", PROGRAM)
    assert "c-eks-nodeAccess" in workspace.run("preview")
    update(workspace)
    assert children(workspace) == CHILDREN
    plane = control_planes.get("c")
    assert plane is not None

    # The kubeconfig authenticates with `aws eks get-token`, and no state contains the token.
    outputs = json.loads(workspace.run("stack", "output", "--json"))
    assert outputs["clusterSecurityGroupId"].startswith("sg-")
    assert plane.endpoint in outputs["kubeconfigJson"]
    assert "get-token" in outputs["kubeconfigJson"]
    assert plane.admin_token not in workspace.run("stack", "export", "--show-secrets")

    # The program's transform was applied to the child: it has no content (EKN-09).
    [access] = [each for each in resources(workspace) if each["urn"].endswith("::c-eks-nodeAccess")]
    assert "data" not in access["inputs"]
    administrator = plane.administrator()
    path = "/api/v1/namespaces/kube-system/configmaps/aws-auth"
    administrator.patch(path, {"data": {"mapRoles": "- rolearn: theirs\n"}})

    update(workspace, "--expect-no-changes")
    workspace.run("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    workspace.variables["TEAM"] = "b"
    assert "c-eks-eksCluster" in update(workspace)
    assert administrator.get(path)["data"] == {"mapRoles": "- rolearn: theirs\n"}
    administrator.close()

    workspace.run("destroy", "--yes", "--skip-preview")
    assert resources(workspace) == []
    assert control_planes.names() == []


def test_what_the_sandbox_does_not_know_is_refused_before_anything_is_made(
    workspace: Workspace,
) -> None:
    workspace.write("__main__.py", PROGRAM)
    workspace.variables["FARGATE"] = "true"
    said = workspace.run("up", "--yes", "--skip-preview", code=1)
    assert "the sandbox does not know the argument fargate of eks:index:Cluster" in said
    del workspace.variables["FARGATE"]
    workspace.variables["TYPE"] = "eks:index:NodeGroupV2"
    said = workspace.run("up", "--yes", "--skip-preview", code=1)
    assert "the sandbox does not know the type eks:index:NodeGroupV2" in said
    assert children(workspace) == set()


@pytest.mark.usefixtures("control_planes")
def test_a_child_that_fails_is_the_only_thing_reported_and_goes_with_destroy(
    workspace: Workspace,
) -> None:
    workspace.write("__main__.py", PROGRAM)
    workspace.variables["KUBE_PROXY"] = "v1.0.0-eksbuild.1"
    said = workspace.run("up", "--yes", "--skip-preview", code=1)
    refusal = r"kube-proxy\): operation error EKS: CreateAddon.*InvalidParameterException"
    assert re.search(refusal, said)
    assert "exited prematurely" not in said
    workspace.run("destroy", "--yes", "--skip-preview")
    assert resources(workspace) == []
