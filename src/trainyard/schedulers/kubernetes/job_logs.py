"""`logs STACK JOB` for EKS: the logs of the pods of a job, by their completion index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kubernetes import client
from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from trainyard.cli import console, failures
from trainyard.diagnosis.pods import name_of, reason_of
from trainyard.jobs.training import PROCESSES
from trainyard.schedulers.job_wait import POLL_SECONDS
from trainyard.schedulers.kubernetes.pod_log import STARTED, PodLog, index_of, oldest_first
from trainyard.schedulers.kubernetes.workloads import Workload, find_workload
from trainyard.schedulers.listed_job import ListedJob
from trainyard.schedulers.log_request import LogRequest


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
