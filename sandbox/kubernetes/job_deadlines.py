"""Deadlines of Jobs by the clock of the sandbox.

The Job controller is the real one, and has the time of the machine. When the clock is advanced,
Jobs that have started get a deadline that is as much shorter; the controller applies a changed one
at once: https://github.com/kubernetes/kubernetes/blob/v1.36.4/pkg/controller/job/job_controller.go
(`updateJob`, `pastActiveDeadline`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.kubernetes.api import KubernetesApi, unless_gone


class JobDeadlines:
    """The deadlines of the Jobs of a cluster."""

    def __init__(self, administrator: KubernetesApi) -> None:
        """Start at the present time; the time that passed before counts for no Job."""
        self._administrator = administrator
        self._ahead = CLOCK.ahead
        self._due: dict[str, int] = {}

    def step(self) -> None:
        """Shorten the deadlines by the time by which the clock was advanced.

        Raises:
            ApiError, ApiUnreachableError: the step is incomplete; the next one continues.
        """
        self._change()
        ahead = CLOCK.ahead
        if ahead > self._ahead:
            jobs = self._administrator.get("/apis/batch/v1/jobs")["items"]
            self._due = dict(_shortened(jobs, ahead - self._ahead))
        self._ahead = ahead
        self._change()

    def _change(self) -> None:
        for path, seconds in list(self._due.items()):
            with unless_gone():
                self._administrator.patch(path, {"spec": {"activeDeadlineSeconds": seconds}})
            del self._due[path]


def _shortened(jobs: list[Mapping[str, Any]], passed: timedelta) -> Iterator[tuple[str, int]]:
    """Yield the path and the new deadline of each Job that runs."""
    for job in jobs:
        metadata, status = job["metadata"], job.get("status") or {}
        seconds = job["spec"].get("activeDeadlineSeconds")
        has_ended = any(
            each["type"] in ("Complete", "Failed") and each["status"] == "True"
            for each in status.get("conditions", [])
        )
        if seconds and status.get("startTime") and not has_ended:
            path = f"/apis/batch/v1/namespaces/{metadata['namespace']}/jobs/{metadata['name']}"
            yield path, max(0, seconds - int(passed.total_seconds()))
