"""Differences between an object and its inputs, and which of them require a replacement.

Source: https://github.com/pulumi/pulumi-kubernetes/tree/v4.32.0/provider/pkg/provider: `diff.go`,
`pruneMap` of `util.go`, `convertPatchToDiff` of `provider.go`
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pulumi.runtime.proto import provider_pb2

from trainyard.sandbox.providers.kubernetes.kinds import Kind

IDENTITY = ("metadata.name", "metadata.namespace")
FIXED: Mapping[str, tuple[str, ...]] = {
    "ClusterRoleBinding": ("roleRef",),
    "DaemonSet": ("spec.selector",),
    "Deployment": ("spec.selector",),
    "Job": ("spec.completions", "spec.parallelism", "spec.selector", "spec.template"),
    # The volume source identifies the storage.
    "PersistentVolume": ("spec.csi", "spec.hostPath", "spec.local", "spec.nfs"),
    # The API server allows or rejects an expansion in place; it does not replace the claim.
    "PersistentVolumeClaim": (
        "spec.accessModes",
        "spec.selector",
        "spec.storageClassName",
        "spec.volumeName",
    ),
    "RoleBinding": ("roleRef",),
    "Service": ("spec.clusterIP",),
    "StatefulSet": (
        "spec.podManagementPolicy",
        "spec.revisionHistoryLimit",
        "spec.selector",
        "spec.serviceName",
        "spec.volumeClaimTemplates",
    ),
    "StorageClass": ("parameters", "provisioner"),
}
"""Fields whose change makes the official provider replace the object, by kind; `forceNew`."""
CONTENT: Mapping[str, tuple[str, ...]] = {
    "ConfigMap": ("binaryData", "data"),
    "Secret": ("data", "stringData", "type"),
}
"""Fields that also replace the object, so that pods see a new name, unless the provider is
configured with `enableConfigMapMutable` or `enableSecretMutable` and the object is not `immutable`.
"""

Kinds = provider_pb2.PropertyDiff.Kind
REPLACING = {
    Kinds.ADD: Kinds.ADD_REPLACE,
    Kinds.DELETE: Kinds.DELETE_REPLACE,
    Kinds.UPDATE: Kinds.UPDATE_REPLACE,
}
REPLACEMENTS = frozenset(REPLACING.values())
DELETIONS = frozenset({Kinds.DELETE, Kinds.DELETE_REPLACE})
_ABSENT: Any = object()
_Path = tuple[str | int, ...]


def pruned(found: Any, wanted: Any) -> Any:
    """Return the parts of an object that are in the inputs.

    Other fields belong to the API server or other managers.
    """
    if isinstance(wanted, dict) and isinstance(found, dict):
        return {key: pruned(found[key], wanted[key]) for key in found if key in wanted}
    if isinstance(wanted, list) and isinstance(found, list) and wanted and found:
        return [pruned(*pair) for pair in zip(found, wanted, strict=False)]
    return [] if isinstance(wanted, list) and isinstance(found, list) else found


def fixed_fields(kind: Kind, inputs: Mapping[str, Any], mutable: Collection[str]) -> list[str]:
    """Return the dotted paths of fields whose change requires a replacement.

    Args:
        kind: Kind of the object.
        inputs: Inputs of the object.
        mutable: Kinds whose content the provider is configured to update in place.
    """
    fixed = [*IDENTITY]
    if kind.is_patch:
        return fixed
    fixed += FIXED.get(kind.name, ())
    if kind.name not in mutable or inputs.get("immutable") is True:
        fixed += CONTENT.get(kind.name, ())
    return fixed


def changes(before: Any, after: Any, fixed: list[str]) -> dict[str, Any]:
    """Return the difference of each property, by path, such as `spec.ports[0].port`.

    An added or removed object is one difference, at its own path.

    Args:
        before: The pruned object.
        after: The new inputs.
        fixed: Dotted paths of fields whose change requires a replacement.
    """
    forced = [tuple(path.split(".")) for path in fixed]
    found: dict[str, Any] = {}
    for path, kind, value in _changes((), before, after):
        forces = any(_holds(path, value, each) for each in forced)
        found[_written(path)] = REPLACING[kind] if forces else kind
    return found


def _changes(path: _Path, before: Any, after: Any) -> Iterator[tuple[_Path, Any, Any]]:
    if before is _ABSENT:
        yield path, Kinds.ADD, after
    elif after is _ABSENT:
        yield path, Kinds.DELETE, None
    elif isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            yield from _changes((*path, key), before.get(key, _ABSENT), after.get(key, _ABSENT))
    elif isinstance(before, list) and isinstance(after, list):
        for index in range(max(len(before), len(after))):
            pair = (each[index] if index < len(each) else _ABSENT for each in (before, after))
            yield from _changes((*path, index), *pair)
    elif before != after:
        yield path, Kinds.UPDATE, after


def _holds(path: _Path, value: Any, field: tuple[str, ...]) -> bool:
    """Return whether a change at `path` to `value` is inside the field or contains it."""
    if len(path) >= len(field):
        return path[: len(field)] == field
    if path != field[: len(path)]:
        return False
    for key in field[len(path) :]:
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
    return True


def _written(path: _Path) -> str:
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        elif any(character in key for character in '."[]'):
            text += '["{}"]'.format(key.replace('"', '\\"'))
        else:
            text += f".{key}" if text else key
    return text
