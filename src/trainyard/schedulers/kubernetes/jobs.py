"""The jobs of an EKS stack in its cluster: what there is, their logs, and how a job is ended.

Source: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/job-v1/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kubernetes import client
from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from trainyard.cli import console, failures
from trainyard.diagnosis.pods import name_of, reason_of
from trainyard.jobs.training import PROCESSES
from trainyard.schedulers.job_wait import POLL_SECONDS
from trainyard.schedulers.kubernetes.cluster import reached_cluster
from trainyard.schedulers.kubernetes.pod_log import STARTED, PodLog, index_of, oldest_first
from trainyard.schedulers.kubernetes.submission import MANAGED_SELECTOR
from trainyard.schedulers.kubernetes.workloads import (
    Workload,
    delete_workload,
    find_workload,
    list_workloads,
)
from trainyard.schedulers.listed_job import ListedJob, sorted_jobs
from trainyard.schedulers.log_request import LogRequest, newest_of
from trainyard.workspace.target import Target


def kubernetes_log(api: client.ApiClient, job: ListedJob, asked: LogRequest) -> Iterator[str]:
    """Yield the lines of the wanted pods; of several, each with the number of its node.

    Args:
        api: Client of the cluster.
        job: The job.
        asked: What is wanted.

    Raises:
        WrongUseError: the job has no such node or process.
        CommandError: the job was deleted, there is no previous pod, or the log cannot be read.
    """
    namespace, _, name = job.id.partition("/")
    found = _present(api, namespace, name)
    nodes = asked.nodes_of(found.job_spec["completions"], _processes(found.job_spec))
    logs: dict[str, PodLog] = {}
    told: set[str] = set()
    while True:
        # Read first: what a pod writes before the job ends is printed in the last round.
        ended = _present(api, namespace, name).end is not None
        for node in nodes:
            pod = _pod(api, found, node, asked)
            if pod is None or pod.status.phase not in STARTED:
                said = f"node {node}: {reason_of(pod) if pod else 'no pod yet'}"
                if said not in told:
                    told.add(said)
                    console.progress(said)
                continue
            pod_name = name_of(pod, "metadata", "name")
            log = logs.setdefault(pod_name, PodLog())
            for line in _new_lines(api, namespace, pod_name, log, asked):
                yield f"{node}: {line}" if asked.every_node else line
        if ended or not asked.follow:
            return
        asked.wait.pause(POLL_SECONDS)


def _present(api: client.ApiClient, namespace: str, name: str) -> Workload:
    found = find_workload(api, namespace, name)
    if found is None:
        raise failures.CommandError(f"the job {namespace}/{name} was deleted")
    return found


def _processes(spec: Mapping[str, Any]) -> int | None:
    variables = spec["template"]["spec"]["containers"][0].get("env") or []
    found = [each["value"] for each in variables if each["name"] == PROCESSES]
    return int(found[0]) if found else None


def _pod(api: client.ApiClient, job: Workload, node: int, asked: LogRequest) -> Any | None:
    """Return the newest pod of a node, or the one before it."""
    core: Any = client.CoreV1Api(api)
    listed = core.list_namespaced_pod(
        job.namespace, label_selector=f"batch.kubernetes.io/job-name={job.job_name}"
    ).items
    pods = oldest_first(each for each in listed if index_of(each) == str(node))
    if not asked.previous:
        return pods[-1] if pods else None
    if len(pods) < 2:
        raise failures.CommandError(
            f"node {node} of the job {asked.job} has no previous pod: it was not replaced, or the "
            "pod is deleted. torchrun restarts programs in the same pod, in one log"
        )
    return pods[-2]


def _new_lines(
    api: client.ApiClient, namespace: str, pod: str, log: PodLog, asked: LogRequest
) -> list[str]:
    core: Any = client.CoreV1Api(api)
    try:
        return log.new_lines(core, namespace, pod, asked.wait.now())
    except (ApiException, HTTPError) as error:
        if asked.follow:
            return []
        reason = getattr(error, "reason", None) or type(error).__name__
        raise failures.CommandError(f"the log of {pod} cannot be read: {reason}") from error


@contextmanager
def kubernetes_jobs(target: Target) -> Iterator[KubernetesJobs]:
    """Give the jobs of a cluster.

    Raises:
        WrongUseError: there are no credentials.
        CommandError: the stack has no cluster, or its API server refuses a request or does not
            respond.
    """
    with reached_cluster(target) as api:
        yield KubernetesJobs(api)


@dataclass(frozen=True, slots=True)
class KubernetesJobs:
    """The jobs that `job` and `run` have created in a cluster, in all namespaces."""

    api: client.ApiClient

    def jobs(self) -> list[ListedJob]:
        """Return the jobs."""
        listed = list_workloads(self.api, MANAGED_SELECTOR)
        return sorted_jobs([_listed(each) for each in listed])

    def log(self, asked: LogRequest) -> Iterator[str]:
        """Yield the lines of the logs of its pods."""
        return kubernetes_log(self.api, newest_of(asked.job, self.jobs()), asked)

    def cancel(self, job: ListedJob) -> None:
        """Delete a job with its pods and objects."""
        namespace, _, name = job.id.partition("/")
        found = find_workload(self.api, namespace, name)
        if found is not None:
            delete_workload(self.api, found)


def _listed(job: Workload) -> ListedJob:
    end = job.end
    if end is not None:
        state = "Complete" if job.failure is None else "Failed"
    elif job.is_being_deleted:
        state = "Terminating"
    elif job.is_suspended:
        state = "Queued"
    else:
        state = "Running" if job.is_ready else "Pending"
    return ListedJob(
        id=f"{job.namespace}/{job.name}",
        name=job.name,
        state=state,
        nodes=job.job_spec["completions"],
        started=job.started_at,
        ended=job.ended_at,
        has_ended=end is not None or state == "Terminating",
    )
