"""When an object has become what was asked for.

Source: https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from sandbox.providers._protocol.servicer import ProviderError
from sandbox.providers.kubernetes.cluster import Cluster, Object
from sandbox.providers.kubernetes.kinds import Kind

SKIP_AWAIT = "pulumi.com/skipAwait"
TIMEOUT_ANNOTATION = "pulumi.com/timeoutSeconds"
WAIT_VARIABLE = "TRAINYARD_WAIT_SECONDS"
"""Environment variable with which a user of the sandbox waits less; docs/faults.md."""
DEFAULT_DEADLINE_SECONDS = 600.0
"""https://www.pulumi.com/registry/packages/kubernetes/api-docs/apps/v1/daemonset/"""


def _daemon_set(found: Object) -> str | None:
    status: dict[str, Any] = found.get("status", {})
    # None wanted is done: a cluster without fitting nodes has nothing to roll out.
    wanted = status.get("desiredNumberScheduled", 0)
    for count, word in (("updatedNumberScheduled", "updated"), ("numberAvailable", "available")):
        if status.get(count, 0) < wanted:
            return f"{status.get(count, 0)} of {wanted} pods are {word}"
    return None


def _deployment(found: Object) -> str | None:
    status: dict[str, Any] = found.get("status", {})
    wanted = found["spec"].get("replicas", 1)
    for condition in status.get("conditions", []):
        if condition.get("reason") == "ProgressDeadlineExceeded":
            raise ProviderError(condition.get("message", "its progress deadline has passed"))
    for count, word in (("updatedReplicas", "updated"), ("availableReplicas", "available")):
        if status.get(count, 0) < wanted:
            return f"{status.get(count, 0)} of {wanted} pods are {word}"
    if status.get("replicas", 0) > wanted:
        return f"{status['replicas'] - wanted} old pods are still there"
    return None


WAITED_FOR: Mapping[str, Callable[[Object], str | None]] = {
    "DaemonSet": _daemon_set,
    "Deployment": _deployment,
}
"""By kind: what is still missing, None where nothing is."""


def wait_until_rolled_out(
    cluster: Cluster, kind: Kind, applied: Object, *, deadline_seconds: float
) -> Object:
    """Return the object once it has become what was asked for.

    Raises:
        ProviderError: it is not so at the deadline; the message says what is missing.
    """
    missing = WAITED_FOR.get(kind.name)
    annotations = applied["metadata"].get("annotations") or {}
    if missing is None or kind.is_patch or annotations.get(SKIP_AWAIT) == "true":
        return applied
    seconds = deadline_seconds or float(
        annotations.get(TIMEOUT_ANNOTATION, DEFAULT_DEADLINE_SECONDS)
    )
    seconds = min(seconds, float(os.environ.get(WAIT_VARIABLE) or seconds))
    deadline = time.monotonic() + seconds
    generation = applied["metadata"]["generation"]
    while True:
        found = cluster.read(kind, applied["metadata"])
        if found is None:
            raise ProviderError("somebody deleted it while it was waited for")
        said = "its controller has not seen it"
        if found.get("status", {}).get("observedGeneration", 0) >= generation:
            said = missing(found)
        if said is None:
            return found
        if time.monotonic() > deadline:
            raise ProviderError(f"not rolled out after {seconds:.0f} s: {said}")
        cluster.pause()
