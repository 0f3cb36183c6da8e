"""The log of a pod, which is read line by line as it grows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from trainyard.diagnosis.pods import read_pod_log

_OVERLAP_SECONDS = 10
"""Lines that are read twice, because the clocks of nodes differ and a request takes time."""
STARTED = ("Running", "Succeeded", "Failed")
"""Phases of a pod that has a log.
https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-phase"""
INDEX = "batch.kubernetes.io/job-completion-index"
"""https://kubernetes.io/docs/reference/labels-annotations-taints/#batch-kubernetes-io-job-completion-index"""


def oldest_first(pods: Iterable[Any]) -> list[Any]:
    """Return pods in the order in which they were created: the last one has replaced the others."""
    return sorted(pods, key=lambda each: str(each.metadata.creation_timestamp or ""))


def index_of(pod: Any) -> str | None:
    """Return the completion index of a pod of an indexed Job."""
    return (pod.metadata.annotations or {}).get(INDEX)


@dataclass(slots=True)
class PodLog:
    """What has been read of a log.

    `sinceSeconds` has whole seconds, so lines are compared by their time, which has nanoseconds and
    a fixed width. https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
    """

    until: str = ""
    """Time of the last line; empty before the first one."""
    read_at: float = 0.0
    """When it was read last, in seconds on the caller's clock."""

    def new_lines(self, core: Any, namespace: str, pod: str, now: float) -> list[str]:
        """Return the lines that are new.

        Args:
            core: The API with pods.
            namespace: Namespace of the pod.
            pod: Name of the pod.
            now: Seconds on a monotonic clock.

        Raises:
            ApiException, HTTPError: the log cannot be read.
        """
        since = {"since_seconds": int(now - self.read_at) + _OVERLAP_SECONDS} if self.until else {}
        text = read_pod_log(core, pod, namespace, timestamps=True, **since)
        self.read_at = now
        found: list[str] = []
        for line in text.splitlines():
            at, _, said = line.partition(" ")
            if at > self.until:
                self.until = at
                found.append(said)
        return found
