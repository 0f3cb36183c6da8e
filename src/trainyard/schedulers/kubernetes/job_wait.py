"""Waiting for jobs of EKS: follows them, explains why pods wait, and prints their logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from kubernetes import client
from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from trainyard.cli import console, failures
from trainyard.diagnosis.job_log import LOG_LINES, MOST_LOGS, error_in, sections
from trainyard.diagnosis.known_errors import KnownError
from trainyard.diagnosis.pods import name_of, read_pod_log, reason_of, why_it_is_queued
from trainyard.jobs.job_manifest import JOB, JOB_SET, JobManifest
from trainyard.schedulers.job_wait import NO_CONTAINERS, JobWait, look_again
from trainyard.schedulers.kubernetes.pod_log import STARTED, PodLog, index_of, oldest_first
from trainyard.schedulers.kubernetes.workloads import Workload, find_workload
from trainyard.workspace.target import Account

_BUSY = 429
"""https://kubernetes.io/docs/concepts/cluster-administration/flow-control/"""


@dataclass(slots=True)
class _Followed:
    """A job that is being followed."""

    manifest: JobManifest
    told: str = ""
    """What was last reported."""
    has_started: bool = False
    failure: str | None = None
    """Empty if it has succeeded; None while it runs."""
    exit_code: int | None = None
    """That of a program that has failed."""
    pods: list[Any] = field(default_factory=list[Any])
    nodes: dict[str, str] = field(default_factory=dict[str, str])
    """The node of the newest pod, by index. When the leader has ended, the other pods soon go."""
    logs: dict[str, PodLog] = field(default_factory=dict[str, PodLog])
    """What was printed of the logs, by name of the pod; after a restart, there is another one."""
    ended_logs: set[str] = field(default_factory=set[str])
    """The pods whose logs have no more lines."""

    @property
    def name(self) -> str:
        return self.manifest.name

    @property
    def namespace(self) -> str:
        return self.manifest.namespace

    @property
    def pods_with_results(self) -> list[Any]:
        """The pods whose logs have the result: that of the leader, or all pods."""
        leads = self.manifest.has_leader
        return [each for each in self.pods if not leads or index_of(each) == "0"]

    @property
    def pods_with_log(self) -> list[Any]:
        """Those of these pods that have started, oldest first."""
        return oldest_first(each for each in self.pods_with_results if each.status.phase in STARTED)


def wait_for(
    api: client.ApiClient,
    manifests: Sequence[JobManifest],
    wait: JobWait,
    account: Account,
) -> None:
    """Report the states of jobs until all have ended, and print the logs of their pods.

    Args:
        api: Client of the cluster.
        manifests: The submitted jobs.
        wait: Limits and clock.
        account: That of the cluster; the nodes of the sandbox run no containers.

    Raises:
        JobFailedError: a job failed.
        CommandError: its pods did not start within the limit; the job continues.
    """
    jobs = [_Followed(each) for each in manifests]
    began = wait.now()
    while True:
        running = [each for each in jobs if each.failure is None]
        for each in running:
            look_again(partial(_look, api, each), wait, transient)
            _show_log(api, each, wait)
        waiting = [each for each in running if each.failure is None and not each.has_started]
        if waiting and wait.now() - began >= wait.start_limit_minutes * 60:
            raise failures.CommandError(_gave_up(waiting, wait))
        if all(each.failure is not None for each in jobs):
            break
        wait.pause(wait.poll_seconds)
    wait.ran_on(node for job in jobs for node in job.nodes.values())
    _tell_end(api, jobs, account)


def _tell_end(api: client.ApiClient, jobs: Sequence[_Followed], account: Account) -> None:
    if account.is_sandbox and not any(log.until for each in jobs for log in each.logs.values()):
        console.progress(NO_CONTAINERS)
    failed = [each for each in jobs if each.failure]
    if failed:
        said = "\n".join(_failed(api, each) for each in failed)
        raise failures.JobFailedError(said, failed[0].exit_code)


def _failed(api: client.ApiClient, job: _Followed) -> str:
    reason = job.failure or ""
    more = sections(reason, "kubernetes", error_in_logs(api, job.namespace, job.pods))
    return "\n  ".join([f"the job {job.name} failed: {reason}", *more])


def error_in_logs(api: client.ApiClient, namespace: str, pods: Sequence[Any]) -> KnownError | None:
    """Return the error in the logs of the pods of a job, first of those that have failed.

    Args:
        api: Client of the cluster.
        namespace: Namespace of the pods.
        pods: The pods; a log that cannot be read has nothing.
    """
    core: Any = client.CoreV1Api(api)
    newest = reversed(oldest_first(each for each in pods if each.status.phase in STARTED))
    chosen = sorted(newest, key=lambda each: each.status.phase != "Failed")[:MOST_LOGS]
    logs: list[str] = []
    for pod in chosen:
        name = name_of(pod, "metadata", "name")
        try:
            logs.append(read_pod_log(core, name, namespace, tail_lines=LOG_LINES))
        except (ApiException, HTTPError):
            continue
    return error_in(*logs)


def transient(error: Exception) -> str:
    """Return the text of a transient error of the API server; empty for any other error."""
    if isinstance(error, HTTPError):
        return type(error).__name__
    if isinstance(error, ApiException) and (error.status == _BUSY or (error.status or 0) >= 500):
        return f"{error.status} {error.reason}"
    return ""


def _look(api: client.ApiClient, job: _Followed) -> None:
    core: Any = client.CoreV1Api(api)
    found = find_workload(api, job.namespace, job.name, job.manifest.kind)
    if found is None:
        raise failures.CommandError(f"the job {job.name} was deleted while the command waited")
    selector = job.manifest.pod_selector
    job.pods = core.list_namespaced_pod(job.namespace, label_selector=selector).items
    for pod in oldest_first(job.pods):
        if node := name_of(pod, "spec", "node_name"):
            job.nodes[index_of(pod) or name_of(pod, "metadata", "name")] = node
    phases = Counter(each.status.phase or "Pending" for each in job.pods)
    wanted = job.manifest.pods
    job.has_started = job.has_started or sum(phases[each] for each in STARTED) >= wanted
    if found.failure is not None:
        conditions = [found.failure, *_failure_of_job(api, found)]
        job.failure = _why_failed(conditions, job.pods)
        job.exit_code = _exit_code(conditions, job.pods)
        said = f"{job.name} has failed"
    elif found.end is not None:
        job.failure, said = "", f"{job.name} has completed"
    elif found.is_suspended:
        said = f"{job.name} is queued: {why_it_is_queued(api, found.namespace, found.uid)}"
    else:
        said = _state(job, phases, wanted, found.restarts)
    if said != job.told:
        job.told = said
        console.progress(said)


def _failure_of_job(api: client.ApiClient, found: Workload) -> Iterator[Mapping[str, Any]]:
    """Yield why the Job of a JobSet has failed; the JobSet only names the Job."""
    if found.kind == JOB_SET:
        job = find_workload(api, found.namespace, found.job_name, JOB)
        if job is not None and job.failure is not None:
            yield job.failure


def _state(job: _Followed, phases: Counter[str], wanted: int, restarts: int) -> str:
    counts = ", ".join(f"{count} {phase}" for phase, count in sorted(phases.items()))
    again = f", restarted {restarts} times" if restarts else ""
    lines = [f"{job.name}: {counts or 'no pods yet'}, of {wanted} pods{again}"]
    pending = [each for each in job.pods if (each.status.phase or "Pending") == "Pending"]
    reasons = Counter(map(reason_of, pending))
    lines += [f"{count} x {why}" for why, count in sorted(reasons.items()) if why != "Pending"]
    return "\n  ".join(lines)


def _why_failed(conditions: Sequence[Mapping[str, Any]], pods: Sequence[Any]) -> str:
    failed = [each for each in pods if each.status.phase == "Failed"]
    said = [f"{name_of(each, 'metadata', 'name')}: {reason_of(each)}" for each in failed]
    reasons = [f"{each.get('reason')}: {each.get('message')}" for each in conditions]
    return "\n  ".join([*reasons, *said])


def _exit_code(conditions: Sequence[Mapping[str, Any]], pods: Sequence[Any]) -> int | None:
    """Return the exit code of the first program that has failed, after the last restart.

    The time limit of a pod ends the program on all nodes, with other codes on some of them.
    https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-termination-and-cleanup
    """
    if any(each.get("reason") == "DeadlineExceeded" for each in conditions):
        return failures.TIMED_OUT
    latest: dict[str | None, Any] = {}
    for pod in oldest_first(pods):
        latest[index_of(pod)] = pod
    ends = [
        (str(ended.finished_at or ""), ended.exit_code)
        for pod in latest.values()
        for container in pod.status.container_statuses or []
        if (ended := container.state.terminated) is not None and ended.exit_code
    ]
    codes = [code for _, code in sorted(ends)]
    return failures.TIMED_OUT if failures.TIMED_OUT in codes else next(iter(codes), None)


def _show_log(api: client.ApiClient, job: _Followed, wait: JobWait) -> None:
    if job.manifest.has_leader:
        _print_new_lines(api, job, wait)
    elif job.failure is not None:
        _print_logs(api, job, wait)


def _print_new_lines(api: client.ApiClient, job: _Followed, wait: JobWait) -> None:
    """Print what the first pod and its replacements have written since the last look."""
    core: Any = client.CoreV1Api(api)
    for pod in job.pods_with_log:
        name = name_of(pod, "metadata", "name")
        if name in job.ended_logs:
            continue
        log = job.logs.get(name, PodLog())
        try:
            lines = log.new_lines(core, job.namespace, name, wait.now())
        except (ApiException, HTTPError) as error:
            if job.failure is not None:
                _tell_unreadable(name, error)
            continue
        if job.logs and name not in job.logs:
            console.progress(f"log of {name}:")
        job.logs[name] = log
        if pod.status.phase != "Running":
            job.ended_logs.add(name)
        for line in lines:
            wait.show(line)


def _tell_unreadable(pod: str, error: Exception) -> None:
    reason = getattr(error, "reason", None) or type(error).__name__
    console.progress(f"the log of {pod} cannot be read: {reason}")


def _print_logs(api: client.ApiClient, job: _Followed, wait: JobWait) -> None:
    core: Any = client.CoreV1Api(api)
    shown = job.pods_with_results
    for pod in shown:
        name = name_of(pod, "metadata", "name")
        try:
            text = read_pod_log(core, name, job.namespace)
        except (ApiException, HTTPError) as error:
            _tell_unreadable(name, error)
            continue
        if len(shown) > 1:
            console.progress(f"log of {name}:")
        if text:
            job.logs[name] = PodLog(until="the end")
            wait.show(text)


def _gave_up(waiting: Sequence[_Followed], wait: JobWait) -> str:
    told = "\n  ".join(each.told for each in waiting)
    return (
        f"after {wait.start_limit_minutes:g} minutes, pods have not started; the job stays in the "
        f"cluster until they do or it is deleted:\n  {told}\n  wait longer with --wait-minutes"
    )
