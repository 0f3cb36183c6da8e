"""The kubeconfig of a cluster of the sandbox.

The official package writes one that asks `aws eks get-token`; the sandbox has no AWS credential
to ask with, so its kubeconfig carries the administrator's token of the control plane.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml

DIRECTORY_VARIABLE = "TRAINYARD_SANDBOX"


def kubeconfig(*, cluster: str, endpoint: str, certificate_authority_data: str) -> dict[str, Any]:
    """Return the kubeconfig with which an administrator reaches the cluster.

    Raises:
        LookupError: the sandbox has no control plane of that name.
    """
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "kubernetes",
                "cluster": {
                    "server": endpoint,
                    "certificate-authority-data": certificate_authority_data,
                },
            }
        ],
        "users": [{"name": "aws", "user": {"token": _administrator_token(cluster)}}],
        "contexts": [{"name": "aws", "context": {"cluster": "kubernetes", "user": "aws"}}],
        "current-context": "aws",
    }


def _administrator_token(cluster: str) -> str:
    directory = os.environ.get(DIRECTORY_VARIABLE)
    if not directory:
        raise LookupError(
            f"{DIRECTORY_VARIABLE} is not set, so the control plane of {cluster} cannot be found; "
            "start the engine with ./trainyard … --sandbox"
        )
    path = Path(directory) / "clusters" / cluster / "kubeconfig"
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LookupError(
            f"the sandbox has no control plane for the cluster {cluster} ({path} does not exist)"
        ) from None
    return content["users"][0]["user"]["token"]
