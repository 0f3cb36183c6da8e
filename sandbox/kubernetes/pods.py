"""The pods of indexed Jobs, as the kubelets of their nodes run and report them."""

from __future__ import annotations

import datetime as dt
import ipaddress
import logging
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.faults.kinds import (
    SIGKILL_EXIT_CODE,
    SIGTERM_EXIT_CODE,
    Course,
    StartedContainer,
    course_of,
)
from trainyard.sandbox.faults.schedule import FAULTS
from trainyard.sandbox.kubernetes.api import (
    NOT_FOUND,
    STRATEGIC_MERGE_PATCH,
    ApiError,
    KubernetesApi,
    unless_gone,
)
from trainyard.sandbox.kubernetes.control_planes import COMPLETION_INDEX, ControlPlane
from trainyard.sandbox.kubernetes.kubelet import Kubelet

# The status of a pod as its kubelet reports it.
#
# Source: https://github.com/kubernetes/kubernetes/blob/v1.36.4/pkg/kubelet/status/generate.go and
# https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/


_ADDRESSES = "100.64.0.0"
"""First address of the pods; the emulated VPC has no route to them."""


def running_status(pod: Mapping[str, Any], node_address: str, number: int) -> dict[str, Any]:
    """Return the status of a pod whose containers run.

    Args:
        pod: The pod.
        node_address: Address of its node.
        number: Number of the pod in the cluster, from which its address is derived.
    """
    now, spec = _now(), pod["spec"]
    address = node_address if spec.get("hostNetwork") else _pod_address(number)
    done = {"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": now}}
    return {
        "phase": "Running",
        "startTime": now,
        "hostIP": node_address,
        "hostIPs": [{"ip": node_address}],
        "podIP": address,
        "podIPs": [{"ip": address}],
        "conditions": [
            {"type": kind, "status": "True", "lastTransitionTime": now}
            for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")
        ],
        "initContainerStatuses": [
            {**_container(each), "ready": True, "state": done}
            for each in spec.get("initContainers") or []
        ],
        "containerStatuses": [
            {
                **_container(each),
                "ready": True,
                "started": True,
                # `null` removes the state that a strategic merge would keep.
                "state": {"running": {"startedAt": now}, "waiting": None},
            }
            for each in spec["containers"]
        ],
    }


def unconfigured_status(pod: Mapping[str, Any], message: str) -> dict[str, Any]:
    """Return the status of a pod whose containers cannot be created, until the cause is gone.

    Args:
        pod: The pod.
        message: What is missing, in the words of the kubelet.
    """
    now = _now()
    waiting = {"reason": "CreateContainerConfigError", "message": message}
    not_ready = {"status": "False", "reason": "ContainersNotReady", "lastTransitionTime": now}
    return {
        "phase": "Pending",
        "startTime": (pod.get("status") or {}).get("startTime") or now,
        "conditions": [{"type": kind, **not_ready} for kind in ("Ready", "ContainersReady")],
        "containerStatuses": [
            {**_container(each), "ready": False, "started": False, "state": {"waiting": waiting}}
            for each in pod["spec"]["containers"]
        ],
    }


def ended_status(pod: Mapping[str, Any], exit_code: int) -> dict[str, Any]:
    """Return the status of a pod whose containers have ended with an exit code."""
    now, good = _now(), exit_code == 0
    not_ready = {
        "status": "False",
        "reason": "PodCompleted" if good else "PodFailed",
        "lastTransitionTime": now,
    }
    ended = {
        "exitCode": exit_code,
        "reason": "Completed" if good else "Error",
        "startedAt": (pod.get("status") or {}).get("startTime") or now,
        "finishedAt": now,
    }
    return {
        "phase": "Succeeded" if good else "Failed",
        "conditions": [{"type": kind, **not_ready} for kind in ("Ready", "ContainersReady")],
        "containerStatuses": [
            {
                **_container(each),
                "ready": False,
                "started": False,
                "state": {"running": None, "terminated": ended},
            }
            for each in pod["spec"]["containers"]
        ],
    }


def _container(container: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": container["name"],
        "image": container["image"],
        "imageID": "",
        "restartCount": 0,
    }


def _pod_address(number: int) -> str:
    return str(ipaddress.IPv4Address(_ADDRESSES) + number)


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


# Deadlines of Jobs by the clock of the sandbox.
#
# The Job controller is the real one, and has the time of the machine. When the clock is advanced,
# Jobs that have started get a deadline that is as much shorter; the controller applies a changed
# one at once:
# https://github.com/kubernetes/kubernetes/blob/v1.36.4/pkg/controller/job/job_controller.go
# (`updateJob`, `pastActiveDeadline`).


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


# Pods that kwok has missed, and status updates that a kubelet would send.
#
# kwok runs the pods of a node whose lease it holds. It lists them when it has created the lease,
# and skips them while its own cache does not contain the lease yet, which may take a moment;
# afterwards it waits for events. A pod that was bound in that moment, such as one of a DaemonSet
# that is older than the node, then gets no further event and stays Pending on a Ready node. One
# that was deleted in that moment is never gone.
#
# Source: https://github.com/kubernetes-sigs/kwok/tree/v0.8.0/pkg/kwok/controllers: `sync` and
# `Held` of `node_lease_controller.go`, `watchResources` of `pod_controller.go`.


ANNOTATION = "sandbox.trainyard/looked-for"
"""A change of this annotation is an event without other effects."""
TIMEOUT_SECONDS = 3.0
"""Time that kwok may take for a pod; it takes less than a second."""
MOST_DOUBLINGS = 4
"""Each attempt doubles the time until the next one, this many times. There is no last attempt:
kwok may get a lease only after any number of them, and an event without need has no effect."""


class OverlookedPods:
    """Records since when the pods of a cluster have been waiting for kwok."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Start without pods; `now` is in seconds."""
        self._now = now
        self._due: dict[str, float] = {}
        self._attempts: dict[str, int] = {}

    def due(
        self, pods: Iterable[Mapping[str, Any]], nodes: Collection[str]
    ) -> list[tuple[Mapping[str, Any], int]]:
        """Return the pods of which kwok must be notified now, with the attempt number of each.

        Args:
            pods: All pods, as the API server lists them.
            nodes: Names of the nodes that have joined.
        """
        waiting = {pod["metadata"]["uid"]: pod for pod in pods if _waits(pod, nodes)}
        for uid in self._due.keys() - waiting.keys():
            del self._due[uid]
            self._attempts.pop(uid, None)
        now = self._now()
        found: list[tuple[Mapping[str, Any], int]] = []
        for uid, pod in waiting.items():
            if now < self._due.setdefault(uid, now + TIMEOUT_SECONDS):
                continue
            attempt = self._attempts[uid] = self._attempts.get(uid, 0) + 1
            self._due[uid] = now + TIMEOUT_SECONDS * 2 ** min(attempt, MOST_DOUBLINGS)
            found.append((pod, attempt))
        return found


def reminder(attempt: int) -> dict[str, Any]:
    """Return the patch of a pod that causes an event."""
    return {"metadata": {"annotations": {ANNOTATION: str(attempt)}}}


def reported_again(pod: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the status that a kubelet would report again; None if it is correct.

    The node lifecycle controller marks every pod as not ready while a node is not Ready, also just
    after it has joined. A kubelet then reports its pods again; kwok does not.
    https://github.com/kubernetes/kubernetes/blob/v1.36.4/pkg/controller/util/node/controller_utils.go,
    `MarkPodsNotReady`
    """
    status = pod.get("status") or {}
    conditions = {each["type"]: each["status"] for each in status.get("conditions") or []}
    containers = status.get("containerStatuses") or []
    runs = status.get("phase") == "Running" and containers and all(c["ready"] for c in containers)
    if not runs or conditions.get("Ready") != "False":
        return None
    return {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}


def _waits(pod: Mapping[str, Any], nodes: Collection[str]) -> bool:
    """Return whether a pod is bound to a node that can run it, and must be started or removed."""
    status = pod.get("status") or {}
    to_start = status.get("phase", "Pending") == "Pending" and not status.get("startTime")
    return pod["spec"].get("nodeName") in nodes and (
        to_start or "deletionTimestamp" in pod["metadata"]
    )


# The pods of indexed Jobs on the nodes of a cluster, run according to the schedule of faults.
#
# A pod whose variables name a Secret or a key that does not exist waits, as with a kubelet:
# https://github.com/kubernetes/kubernetes/blob/v1.36.4/pkg/kubelet/kubelet_pods.go
# (`makeEnvironmentVariables`).
#
# kwok runs all other pods. It would complete these at once, and cannot decide which of them fails.
# Of the programs in containers, only the time limits of a script for Bash are emulated, as the
# script in the pod's manifest reads them from its variables: `_time_limit`.


_LOG = logging.getLogger(__name__)

_JOB_NAME = "batch.kubernetes.io/job-name"
"""https://kubernetes.io/docs/reference/labels-annotations-taints/#batch-kubernetes-io-job-name"""
_TERMINAL = ("Succeeded", "Failed")

_LONGEST_RUN = re.compile(r"^\s*left=\$\{(?P<variable>\w+)-\}$", re.MULTILINE)
"""Line of a script that reads how many seconds the program has."""
_LATEST_END = re.compile(r"^\s*left=\$\(\((?P<variable>\w+) - now\)\)$", re.MULTILINE)
"""Line of a script that reads the time at which the program must end."""
_LATE_EXIT = re.compile(r'\[ -n "\$late" \].*?\bexit (?P<code>\d+)', re.DOTALL)
"""Lines of a script that end it after the time limit."""
_TIMEOUT = re.compile(r"\btimeout -k ")
_EXIT_CODE_OF_TIMEOUT = 124
"""https://www.gnu.org/software/coreutils/manual/html_node/timeout-invocation.html"""

Pod = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _TimeLimit:
    """When the script of a container sends SIGTERM to its program, and how it then ends."""

    stops_at: dt.datetime
    exit_code: int


@dataclass(slots=True)
class _Run:
    """A pod that runs or has ended."""

    namespace: str
    name: str
    course: Course
    started: dt.datetime | None = None
    """By the clock of the sandbox; None until the API server knows that it runs."""
    limit: _TimeLimit | None = None
    """That of its program; None without one."""
    killed: dt.datetime | None = None
    """When it ends after SIGTERM; None before SIGTERM."""
    is_late: bool = False
    """Whether it got SIGTERM at its time limit."""
    exit_code: int | None = None
    """None while it runs."""

    def next_exit_code(self, now: dt.datetime) -> int | None:
        """Return the exit code if the program has ended by now."""
        assert self.started is not None  # noqa: S101 - for the type checker
        if self.killed is not None and now >= self.killed:
            late = self.limit if self.is_late else None
            return late.exit_code if late else SIGTERM_EXIT_CODE
        ends_after = self.course.ends_after
        if ends_after is not None and now >= self.started + ends_after:
            return self.course.exit_code
        return None

    def loses_node(self, now: dt.datetime) -> bool:
        """Return whether the node is lost by now."""
        after = self.course.node_lost_after
        return after is not None and self.started is not None and now >= self.started + after


class JobPods:
    """The pods of indexed Jobs of a cluster."""

    def __init__(self, control_plane: ControlPlane, lose: Callable[[Kubelet], None]) -> None:
        """Start without pods.

        Args:
            control_plane: The cluster.
            lose: Lets the node of a kubelet fail.
        """
        self._administrator = control_plane.administrator()
        self._logs = control_plane.logs
        self._lose = lose
        self._runs: dict[str, _Run] = {}
        self._addresses = 0

    def step(self, pods: Iterable[Pod], kubelets: Mapping[str, Kubelet]) -> None:
        """Start, end and remove the pods that are due.

        Args:
            pods: All pods, as the API server lists them.
            kubelets: The kubelets of the joined nodes, by name of the node.

        Raises:
            ApiError, ApiUnreachableError: the step is incomplete; the next one retries.
        """
        mine = {each["metadata"]["uid"]: each for each in pods if _is_indexed(each)}
        for uid in self._runs.keys() - mine.keys():
            run = self._runs.pop(uid)
            self._logs.remove(run.namespace, run.name)
        for uid, pod in mine.items():
            kubelet = kubelets.get(pod["spec"].get("nodeName", ""))
            if kubelet is not None:
                self._attend_to(uid, pod, kubelet)

    def close(self) -> None:
        """Close the connection."""
        self._administrator.close()

    def _attend_to(self, uid: str, pod: Pod, kubelet: Kubelet) -> None:
        run, is_deleted = self._runs.get(uid), "deletionTimestamp" in pod["metadata"]
        has_ended = (pod.get("status") or {}).get("phase") in _TERMINAL
        if is_deleted and (run is None or run.started is None or has_ended):
            with unless_gone():
                self._administrator.delete(f"{_path(pod)}?gracePeriodSeconds=0")
        elif has_ended or (run is not None and run.exit_code is not None):
            return
        elif run is None or run.started is None:
            self._start(uid, pod, kubelet)
        else:
            if is_deleted and run.killed is None:
                self._stop(run, _grace(pod))
            elif run.killed is None and run.limit and CLOCK.now() >= run.limit.stops_at:
                run.is_late = True
                self._stop(run, _own_grace(pod))
            self._go_on(run, pod, kubelet)

    def _start(self, uid: str, pod: Pod, kubelet: Kubelet) -> None:
        metadata, missing = pod["metadata"], self._missing_secret(pod)
        if missing:
            if missing not in _waits_for(pod):
                self._report(pod, unconfigured_status(pod, missing))
            return
        if uid not in self._runs:  # else the API server did not answer the last time
            container = StartedContainer(
                job=metadata["labels"].get(_JOB_NAME, ""),
                index=int(metadata["annotations"][COMPLETION_INDEX]),
                labels=metadata["labels"],
            )
            course = course_of(FAULTS, container) or Course()
            self._runs[uid] = _Run(metadata["namespace"], metadata["name"], course)
        run = self._runs[uid]
        self._logs.start(run.namespace, run.name)
        self._logs.write(run.namespace, run.name, run.course.lines)
        self._addresses += 1
        self._report(pod, running_status(pod, kubelet.address, self._addresses))
        run.started = CLOCK.now()
        run.limit = _time_limit(pod, run.started)

    def _missing_secret(self, pod: Pod) -> str:
        """Return which Secret or key of the variables does not exist; empty if all do."""
        namespace = pod["metadata"]["namespace"]
        for variable in _variables(pod):
            reference = (variable.get("valueFrom") or {}).get("secretKeyRef")
            if reference is None or reference.get("optional"):
                continue
            name, key = reference["name"], reference["key"]
            try:
                found = self._administrator.get(f"/api/v1/namespaces/{namespace}/secrets/{name}")
            except ApiError as error:
                if error.status != NOT_FOUND:
                    raise
                return f'secret "{name}" not found'
            if key not in (found.get("data") or {}):
                return f"couldn't find key {key} in Secret {namespace}/{name}"
        return ""

    def _stop(self, run: _Run, grace: dt.timedelta) -> None:
        """Send SIGTERM: the program prints its last lines, and takes its time to end."""
        self._logs.write(run.namespace, run.name, run.course.stop_lines)
        run.killed = CLOCK.now() + min(run.course.stops_after, grace)

    def _go_on(self, run: _Run, pod: Pod, kubelet: Kubelet) -> None:
        now = CLOCK.now()
        if run.loses_node(now):
            _LOG.info("node %s is lost, according to the schedule of faults", kubelet.node_name)
            self._lose(kubelet)
            run.exit_code = SIGKILL_EXIT_CODE  # never reported: the kubelet is gone
            return
        exit_code = run.next_exit_code(now)
        if exit_code is None:
            return
        if run.killed is not None and not run.is_late and run.course.stops_after > _grace(pod):
            exit_code = SIGKILL_EXIT_CODE
        self._report(pod, ended_status(pod, exit_code))
        run.exit_code = exit_code
        self._logs.end(run.namespace, run.name)

    def _report(self, pod: Pod, status: dict[str, Any]) -> None:
        with unless_gone():
            self._administrator.patch(
                f"{_path(pod)}/status", {"status": status}, STRATEGIC_MERGE_PATCH
            )


def _is_indexed(pod: Pod) -> bool:
    return COMPLETION_INDEX in (pod["metadata"].get("annotations") or {})


def _path(pod: Pod) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def _variables(pod: Pod) -> list[dict[str, Any]]:
    return [each for container in pod["spec"]["containers"] for each in container.get("env") or []]


def _waits_for(pod: Pod) -> list[str]:
    """Return why the containers of a pod are not created, as it was last reported."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    return [
        ((each.get("state") or {}).get("waiting") or {}).get("message", "") for each in statuses
    ]


def _time_limit(pod: Pod, started: dt.datetime) -> _TimeLimit | None:
    """Return the earlier of the limits that the script of a pod reads; None without one.

    A script that reads them otherwise than in these lines has no limit in the sandbox.
    """
    values = {each["name"]: each["value"] for each in _variables(pod) if each.get("value")}
    script = "\n".join(_words(pod))

    def read(pattern: re.Pattern[str]) -> list[int]:
        names = (found["variable"] for found in pattern.finditer(script))
        return [int(values[name]) for name in names if name in values]

    ends = [
        *(started + dt.timedelta(seconds=each) for each in read(_LONGEST_RUN)),
        *(dt.datetime.fromtimestamp(each, dt.UTC) for each in read(_LATEST_END)),
    ]
    return _TimeLimit(min(ends), _late_exit_code(script)) if ends else None


def _late_exit_code(script: str) -> int:
    """Return how a script ends whose program got SIGTERM at its time limit."""
    found = _LATE_EXIT.search(script)
    if found is not None:
        return int(found["code"])
    return _EXIT_CODE_OF_TIMEOUT if _TIMEOUT.search(script) else SIGTERM_EXIT_CODE


def _words(pod: Pod) -> list[str]:
    """Return the words of the commands of the containers.

    Two dollar signs become one:
    https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container/
    """
    return [
        word.replace("$$", "$")
        for container in pod["spec"]["containers"]
        for word in (*(container.get("command") or ()), *(container.get("args") or ()))
    ]


def _own_grace(pod: Pod) -> dt.timedelta:
    return dt.timedelta(seconds=pod["spec"].get("terminationGracePeriodSeconds") or 0)


def _grace(pod: Pod) -> dt.timedelta:
    return dt.timedelta(seconds=pod["metadata"].get("deletionGracePeriodSeconds") or 0)
