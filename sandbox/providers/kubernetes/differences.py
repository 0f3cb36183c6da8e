"""What differs between two versions of a resource's inputs, and what of it means a new object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sandbox.providers.kubernetes.kinds import Kind

IDENTITY = ("apiVersion", "kind", "metadata.name", "metadata.namespace")
FIXED: Mapping[str, tuple[str, ...]] = {
    "ClusterRoleBinding": ("roleRef",),
    "DaemonSet": ("spec.selector",),
    "Deployment": ("spec.selector",),
    # The driver's part of a volume is who holds its data.
    "PersistentVolume": ("spec.csi", "spec.hostPath", "spec.nfs"),
    # More room in place is what the API server grants or refuses, not what replaces a claim.
    "PersistentVolumeClaim": (
        "spec.accessModes",
        "spec.selector",
        "spec.storageClassName",
        "spec.volumeName",
    ),
    "Job": ("spec.completions", "spec.parallelism", "spec.selector", "spec.template"),
    "ReplicaSet": ("spec.selector",),
    "RoleBinding": ("roleRef",),
    "StatefulSet": (
        "spec.podManagementPolicy",
        "spec.revisionHistoryLimit",
        "spec.selector",
        "spec.serviceName",
        "spec.volumeClaimTemplates",
    ),
    "StorageClass": ("parameters", "provisioner"),
}
"""Fields for whose change the official provider makes a new object, by kind.

https://github.com/pulumi/pulumi-kubernetes/blob/master/provider/pkg/provider/diff.go, `forceNew`"""
CONTENT: Mapping[str, tuple[str, ...]] = {
    "ConfigMap": ("binaryData", "data"),
    "Secret": ("data", "stringData", "type"),
}
"""Pulumi replaces these on a change, so that pods see a new name, unless `immutable` is false.
https://www.pulumi.com/registry/packages/kubernetes/api-docs/core/v1/configmap/"""


def changed_paths(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Yield the path of every value that differs, such as `spec.template.spec.volumes[0].name`."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            yield from changed_paths(
                before.get(key), after.get(key), f"{path}.{key}" if path else key
            )
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, pair in enumerate(zip(before, after, strict=True)):
            yield from changed_paths(*pair, f"{path}[{index}]")
    elif before != after:
        yield path


def replacing(kind: Kind, inputs: Mapping[str, Any], paths: list[str]) -> list[str]:
    """Return those of the changed paths that only a new object can have."""
    fixed = (*IDENTITY, *FIXED.get(kind.name, ()))
    if inputs.get("immutable") is not False:
        fixed += CONTENT.get(kind.name, ())
    return [path for path in paths if any(_within(path, field) for field in fixed)]


def as_found(wanted: Any, found: Any) -> Any:
    """Return what the live object has in place of what was asked for.

    Fields that nobody asked for are the API server's or other managers', and no inputs.
    """
    if isinstance(wanted, dict) and isinstance(found, dict):
        return {k: as_found(v, found[k]) for k, v in wanted.items() if k in found}
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        return [as_found(*pair) for pair in zip(wanted, found, strict=True)]
    return found


def _within(path: str, field: str) -> bool:
    return path == field or path.startswith((f"{field}.", f"{field}["))
