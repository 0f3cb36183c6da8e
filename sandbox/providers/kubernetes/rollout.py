"""Await logic: when the official provider considers an object ready.

Sources: https://github.com/pulumi/pulumi-kubernetes/tree/v4.32.0/provider/pkg/await (`awaiters.go`,
`daemonset.go`, `deployment.go`) and, for a DaemonSet,
https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/status/core.go
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from trainyard.sandbox.providers.kubernetes.cluster import Cluster, Object
from trainyard.sandbox.providers.kubernetes.kinds import Kind

SKIP_AWAIT = "pulumi.com/skipAwait"
TIMEOUT_ANNOTATION = "pulumi.com/timeoutSeconds"
WAIT_VARIABLE = "TRAINYARD_WAIT_SECONDS"
"""Environment variable that shortens the wait in the sandbox; docs/faults.md."""
DEFAULT_DEADLINE_SECONDS = 600.0
"""https://www.pulumi.com/registry/packages/kubernetes/api-docs/apps/v1/daemonset/"""
VOLUME_DEADLINE_SECONDS = 300.0
"""Fixed limit for volumes and claims; `untilCoreV1PersistentVolumeClaimReady`."""
TIMED_OUT = "timed out waiting for the condition"
TIMED_OUT_BY_KIND = {
    "Deployment": "'{}' timed out waiting to be Ready",
    "PersistentVolume": "Timeout occurred polling for '{}'",
    "PersistentVolumeClaim": "Timeout occurred polling for '{}'",
}
NOT_LIVE = "Minimum number of live Pods was not attained"
TOO_FEW = "Minimum number of Pods to consider the application live was not attained"
ROLLED_OUT = "NewReplicaSetAvailable"
DELETED_UNAWAITED = frozenset(
    {"DaemonSet", "Deployment", "Job", "Namespace", "Pod", "ReplicationController", "StatefulSet"}
)
"""Kinds for which `skipAwait` also skips the wait for deletion; `allowsSkipAwaitWithDelete`."""


class NotReadyError(Exception):
    """An object is not in the requested state.

    Attributes:
        found: The object as last read.
        reasons: What is missing, as the provider words it.
    """

    def __init__(self, message: str, found: Object, reasons: list[str]) -> None:
        super().__init__(message)
        self.found = found
        self.reasons = reasons


def _seen(found: Object) -> bool:
    """Return whether the object's controller has observed its current generation."""
    return found.get("status", {}).get("observedGeneration", 0) >= found["metadata"]["generation"]


def _daemon_set(found: Object) -> list[str] | None:
    status: dict[str, Any] = found.get("status", {})
    # With 0 pods desired it is complete: a cluster without matching nodes has nothing to roll out.
    wanted = status.get("desiredNumberScheduled", 0)
    counts = ("currentNumberScheduled", "updatedNumberScheduled", "numberAvailable", "numberReady")
    enough = all(status.get(count, 0) >= wanted for count in counts)
    return None if _seen(found) and enough else []


def _deployment(found: Object) -> list[str] | None:
    conditions = {each["type"]: each for each in found.get("status", {}).get("conditions", [])}
    available, progressing = (conditions.get(key, {}) for key in ("Available", "Progressing"))
    lives = available.get("status") == "True"
    rolled_out = progressing.get("status") == "True" and progressing.get("reason") == ROLLED_OUT
    if _seen(found) and lives and rolled_out:
        return None
    said = [
        f"[{condition['reason']}] {condition['message']}"
        for condition in (progressing, available)
        if condition.get("status") == "False"
    ]
    return [*said, TOO_FEW if lives else NOT_LIVE]


def _volume(found: Object) -> list[str] | None:
    return None if found.get("status", {}).get("phase") in {"Available", "Bound"} else []


def _claim(found: Object) -> list[str] | None:
    return None if found.get("status", {}).get("phase") == "Bound" else []


WAITED_FOR: Mapping[str, Callable[[Object], list[str] | None]] = {
    "DaemonSet": _daemon_set,
    "Deployment": _deployment,
    "PersistentVolume": _volume,
    "PersistentVolumeClaim": _claim,
}
"""By kind: the missing part as the provider words it, or None if the object is ready."""
READ = frozenset({"DaemonSet", "Deployment"})
"""Kinds for which a refresh reports that they are not ready."""


def wait_until_rolled_out(
    cluster: Cluster, kind: Kind, applied: Object, *, deadline_seconds: float
) -> Object:
    """Return the object once it is in the requested state.

    Raises:
        NotReadyError: it is not ready at the deadline.
        ProviderError: the engine cancels, or the API server does not respond.
    """
    missing = WAITED_FOR.get(kind.name)
    if missing is None or skips(applied):
        return applied
    seconds = VOLUME_DEADLINE_SECONDS
    if kind.name in READ:
        seconds = deadline_of(applied, deadline_seconds)
    deadline = time.monotonic() + min(seconds, float(os.environ.get(WAIT_VARIABLE) or seconds))
    last = applied
    while True:
        last = cluster.read(kind, applied["metadata"]) or last
        reasons = missing(last)
        if reasons is None:
            return last
        if time.monotonic() > deadline:
            said = TIMED_OUT_BY_KIND.get(kind.name, TIMED_OUT)
            raise NotReadyError(said.format(applied["metadata"]["name"]), last, reasons)
        cluster.pause()


def check_read(kind: Kind, found: Object, inputs: Object) -> None:
    """Check an object as a refresh does, without a wait.

    Raises:
        NotReadyError: it is not ready.
    """
    if kind.name not in READ or skips(inputs):
        return
    reasons = WAITED_FOR[kind.name](found)
    if reasons is not None:
        name = found["metadata"]["name"]
        raise NotReadyError(
            f"Resource '{name}' was created but failed to initialize", found, reasons
        )


def skips(inputs: Object) -> bool:
    """Return whether a program requests `skipAwait` for the object."""
    return _annotations(inputs).get(SKIP_AWAIT) == "true"


def deadline_of(inputs: Object, asked_seconds: float) -> float:
    """Return the wait time for an object, in seconds."""
    annotated = _annotations(inputs).get(TIMEOUT_ANNOTATION, "")
    return (
        asked_seconds
        or (float(annotated) if annotated.isdecimal() else 0)
        or (DEFAULT_DEADLINE_SECONDS)
    )


def _annotations(value: Object) -> dict[str, Any]:
    return value.get("metadata", {}).get("annotations") or {}
