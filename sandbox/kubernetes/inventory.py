"""User-created objects of a cluster, one per line, so that two points in time can be compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from trainyard.sandbox.kubernetes.api import KubernetesApi
from trainyard.sandbox.kubernetes.credentials import BOOTSTRAP_LABEL

_SELF_MADE_RESOURCES = frozenset(
    {
        "apiservices",
        "componentstatuses",
        "endpoints",
        "events",
        "flowschemas",
        "ipaddresses",
        "leases",
        "prioritylevelconfigurations",
    }
)
"""Resources that users do not create, or whose objects come and go with time."""

_OF_EVERY_CLUSTER = frozenset(
    {
        "ConfigMap kube-system/extension-apiserver-authentication",
        "ConfigMap kube-system/kube-apiserver-legacy-service-account-token-tracking",
        "Namespace default",
        "Namespace kube-node-lease",
        "Namespace kube-public",
        "Namespace kube-system",
        "PriorityClass system-cluster-critical",
        "PriorityClass system-node-critical",
        "Service default/kubernetes",
        "ServiceCIDR kubernetes",
    }
)
_OF_EVERY_NAMESPACE = frozenset({("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")})


def lines(kubeconfig: Path) -> list[str]:
    """Return a sorted line for each user-created object: `Kind namespace/name` or `Kind name`.

    Objects of a new and empty cluster, and objects that a controller created for another object
    (the pods of a DaemonSet), are omitted. Kinds outside Kubernetes itself end with their API
    group.

    Raises:
        ApiUnreachableError: the API server does not respond.
        ApiError: the API server denies a list; the kubeconfig's user lacks permissions.
    """
    api = _api(kubeconfig)
    try:
        return sorted(
            line
            for path, kind in _listable(api)
            for item in api.get(path)["items"]
            if not _made_by_cluster(kind, item["metadata"])
            and (line := _line(kind, item["metadata"])) not in _OF_EVERY_CLUSTER
        )
    finally:
        api.close()


def _api(kubeconfig: Path) -> KubernetesApi:
    document = yaml.safe_load(kubeconfig.read_text())
    cluster = document["clusters"][0]["cluster"]
    return KubernetesApi(
        cluster["server"],
        certificate_authority_data=cluster["certificate-authority-data"],
        token=document["users"][0]["user"]["token"],
    )


def _listable(api: KubernetesApi) -> Iterator[tuple[str, str]]:
    """Return path and kind of each list in the API, in each group's preferred version."""
    groups = api.get("/apis")["groups"]
    versions = [("/api/v1", "")] + [
        (f"/apis/{group['preferredVersion']['groupVersion']}", group["name"]) for group in groups
    ]
    for path, group in versions:
        built_in = "." not in group or group.endswith(".k8s.io")
        for resource in api.get(path)["resources"]:
            if "list" in resource["verbs"] and resource["name"] not in _SELF_MADE_RESOURCES:
                kind = resource["kind"] if built_in else f"{resource['kind']}.{group}"
                yield f"{path}/{resource['name']}", kind


def _made_by_cluster(kind: str, metadata: Mapping[str, Any]) -> bool:
    if (kind, metadata["name"]) in _OF_EVERY_NAMESPACE:
        return True
    if BOOTSTRAP_LABEL in (metadata.get("labels") or {}):
        return True
    return any(owner.get("controller") for owner in metadata.get("ownerReferences") or [])


def _line(kind: str, metadata: Mapping[str, Any]) -> str:
    namespace = metadata.get("namespace")
    return f"{kind} {namespace}/{metadata['name']}" if namespace else f"{kind} {metadata['name']}"
