"""A flat Pulumi program: the resources of a plan, registered one after the other.

It represents a handwritten program in the benchmark: it imports the same SDKs and registers the
same resources through the SDKs' classes with literal inputs, without a schema, a plan, or reads of
the account.
"""

import json
import re
from pathlib import Path
from typing import Any

import pulumi
import pulumi.dynamic
import pulumi_aws
import pulumi_eks
import pulumi_kubernetes as kubernetes

plan = json.loads((Path(__file__).parent / "plan.json").read_text())
COMPONENTS = ("trainyard:", "eks:", "pulumi:")
DYNAMIC = "pulumi-python:dynamic"
CAPITAL = re.compile(r"(?<=[a-z0-9])[A-Z]")


def class_of(token: str) -> Any:
    """Return the SDK's class of a type."""
    package, module, name = token.split(":")
    if package == "aws":
        return getattr(getattr(pulumi_aws, module.partition("/")[0]), name)
    group, _, version = module.partition("/")
    # An SDK module has the first word of a group such as `rbac.authorization.k8s.io`.
    return getattr(getattr(getattr(kubernetes, group.partition(".")[0]), version), name)


def arguments(inputs: dict[str, object]) -> dict[str, object]:
    """Return the inputs under the names of the class arguments: `vpcId` becomes `vpc_id`."""
    return {CAPITAL.sub(lambda found: "_" + found[0], k).lower(): v for k, v in inputs.items()}


class NodeAccess(pulumi.dynamic.ResourceProvider):
    """Represents the merge into `aws-auth`, which a handwritten program also needs."""

    def create(self, props: dict[str, object]) -> pulumi.dynamic.CreateResult:
        """Return the entry as it is given."""
        return pulumi.dynamic.CreateResult("entry", props)


class Entry(pulumi.dynamic.Resource):
    """One entry of `aws-auth`."""


cluster = pulumi_eks.Cluster(
    "cluster",
    name="flat",
    version="1.36",
    subnet_ids=plan["subnet_ids"],
    authentication_mode=pulumi_eks.AuthenticationMode.API_AND_CONFIG_MAP,
    endpoint_public_access=True,
    endpoint_private_access=True,
    create_oidc_provider=True,
    skip_default_node_group=True,
    skip_default_security_groups=True,
    create_instance_role=False,
    vpc_cni_options=pulumi_eks.VpcCniOptionsArgs(addon_version="v1.22.4-eksbuild.3"),
    kube_proxy_addon_options=pulumi_eks.KubeProxyAddonOptionsArgs(version="v1.36.0-eksbuild.25"),
    coredns_addon_options=pulumi_eks.CoreDnsAddonOptionsArgs(enabled=False),
)
provider = kubernetes.Provider("kubernetes", kubeconfig=cluster.kubeconfig_json)
in_cluster = pulumi.ResourceOptions(provider=provider)
for resource in plan["resources"]:
    token = resource["type"]
    of_the_package = (resource["parent"] or "").startswith("eks:")
    if token.startswith(COMPONENTS) or of_the_package:
        continue
    inputs = {k: v for k, v in resource["inputs"].items() if not k.startswith("__")}
    if token.startswith(DYNAMIC):
        Entry(NodeAccess(), resource["name"], inputs)
        continue
    opts = in_cluster if token.startswith("kubernetes:") else None
    class_of(token)(resource["name"], opts=opts, **arguments(inputs))
