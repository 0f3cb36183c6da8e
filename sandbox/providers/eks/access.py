"""The kubeconfig of a cluster: tokens come from `aws eks get-token`, as in pulumi-eks.

In the sandbox this is the `aws` in its `bin` directory (`sandbox.kubernetes.get_token`).

Source: `generateKubeconfig` in `nodejs/eks/cluster/cluster.ts` of
https://github.com/pulumi/pulumi-eks
"""

from __future__ import annotations

from typing import Any

EXEC_API = "client.authentication.k8s.io/v1beta1"


def kubeconfig(
    *, cluster: str, endpoint: str, region: str, certificate_authority_data: str
) -> dict[str, Any]:
    """Return the kubeconfig for the creator of the cluster."""
    command = ["--region", region, "eks", "get-token", "--cluster-name", cluster]
    token = {
        "apiVersion": EXEC_API,
        "command": "aws",
        "args": [*command, "--output", "json"],
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
