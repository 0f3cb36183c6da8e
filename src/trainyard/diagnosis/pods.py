"""Why a pod or a queued job does not run, from its status and its log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kubernetes import client

from trainyard.components.catalog.kueue import JOB_UID_LABEL, KUEUE_API, KUEUE_GROUP
from trainyard.components.plain_text import shortened


def read_pod_log(core: Any, name: str, namespace: str, **options: Any) -> str:
    """Return the log of the container of a pod.

    The client would return the representation of the bytes of the response, `b'…'`: since version
    36 it does not decode responses of type `str` (`call_api` in `kubernetes/client/api_client.py`).

    Args:
        core: `CoreV1Api` of the official client.
        name: Name of the pod.
        namespace: Its namespace.
        options: Arguments of `read_namespaced_pod_log`, such as `tail_lines`.

    Raises:
        ApiException: the API server or the kubelet refused the request.
        HTTPError: the API server does not respond.
    """
    answer = core.read_namespaced_pod_log(name, namespace, _preload_content=False, **options)
    return answer.data.decode("utf-8", errors="replace")


# Why a pod does not run, from its status.
#
# Source: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#PodStatus


LONGEST_MESSAGE = 500
"""Number of characters of a Kubernetes message to show; `kubectl describe` shows the rest."""
LONGEST_NAME = 253
"""Maximum length of an object name.
https://kubernetes.io/docs/concepts/overview/working-with-objects/names/"""


@dataclass(frozen=True, slots=True)
class PodState:
    """A pod that belongs on a node."""

    name: str
    namespace: str
    node: str
    """Empty while it is not scheduled."""
    ready: bool
    reason: str
    """Why it is not ready; empty if it is ready, or if the reason is unknown."""


def pods_by_daemon_set(pods: Iterable[Any]) -> dict[str, tuple[PodState, ...]]:
    """Return the pods of each DaemonSet, without those that are being deleted.

    Args:
        pods: Pods as the Kubernetes client lists them.
    """
    found: dict[str, tuple[PodState, ...]] = {}
    for pod in pods:
        if at(pod, "metadata", "deletion_timestamp") is not None:
            continue
        for owner in at(pod, "metadata", "owner_references") or []:
            if owner.kind == "DaemonSet" and owner.name:
                found[owner.name] = (*found.get(owner.name, ()), _state(pod))
    return found


def at(value: Any, *names: str) -> Any:
    """Return a nested attribute of a response; None if an attribute is missing."""
    for name in names:
        value = getattr(value, name, None)
    return value


def name_of(value: Any, *names: str) -> str:
    """Return a name in a response; empty if it is missing."""
    return shortened(at(value, *names) or "", LONGEST_NAME)


def said(reason: str | None, message: str | None) -> str:
    """Return reason and message of Kubernetes; a long message is truncated."""
    return shortened(": ".join(part for part in (reason, message) if part), LONGEST_MESSAGE)


def ready_on(pods: Mapping[str, tuple[PodState, ...]]) -> dict[str, frozenset[str]]:
    """Return the nodes with a ready pod of each DaemonSet."""
    ready = {
        name: frozenset(p.node for p in each if p.ready and p.node) for name, each in pods.items()
    }
    return {name: nodes for name, nodes in ready.items() if nodes}


def _state(pod: Any) -> PodState:
    conditions = {each.type: each for each in at(pod, "status", "conditions") or []}
    ready = "Ready" in conditions and conditions["Ready"].status == "True"
    return PodState(
        name=name_of(pod, "metadata", "name"),
        namespace=name_of(pod, "metadata", "namespace"),
        node=name_of(pod, "spec", "node_name") or _wanted_node(pod),
        ready=ready,
        reason="" if ready else reason_of(pod),
    )


def _wanted_node(pod: Any) -> str:
    """Return the node that the DaemonSet controller selected for an unscheduled pod."""
    affinity = at(pod, "spec", "affinity", "node_affinity")
    required = at(affinity, "required_during_scheduling_ignored_during_execution")
    for term in at(required, "node_selector_terms") or []:
        for field in term.match_fields or []:
            if field.key == "metadata.name" and field.values:
                return shortened(field.values[0], LONGEST_NAME)
    return ""


def reason_of(pod: Any) -> str:
    """Return why a pod is not ready, from its containers, its scheduling or its phase."""
    for status in [
        *(at(pod, "status", "init_container_statuses") or []),
        *(at(pod, "status", "container_statuses") or []),
    ]:
        state, last = status.state, status.last_state
        if state and state.waiting and state.waiting.reason:
            ended = last and last.terminated
            exit_code = f", its last run ended with {ended.exit_code}" if ended else ""
            return said(state.waiting.reason, state.waiting.message) + exit_code
        if state and state.terminated:
            return said(
                f"{state.terminated.reason} with exit code {state.terminated.exit_code}", ""
            )
    for condition in at(pod, "status", "conditions") or []:
        if condition.type == "PodScheduled" and condition.status == "False":
            return said(condition.reason, condition.message)
    reason = at(pod, "status", "reason") or at(pod, "status", "phase") or "Unknown"
    return said(reason, at(pod, "status", "message"))


# Why Kueue does not start a job.
#
# Kueue makes a `Workload` for each job of a queue, and writes its reasons into the conditions.
#
# Source:
#     https://kueue.sigs.k8s.io/docs/concepts/workload/
#     https://kueue.sigs.k8s.io/docs/tasks/troubleshooting/troubleshooting_jobs/


_NOT_SEEN = "Kueue has not looked at it yet"


def why_it_is_queued(api: client.ApiClient, namespace: str, uid: str) -> str:
    """Return why a suspended job has not started, in the words of Kueue.

    Args:
        api: Client of the cluster.
        namespace: Namespace of the job.
        uid: Its uid.

    Raises:
        ApiException: the API server refuses the request; 404 if the cluster has no Kueue.
    """
    objects: Any = client.CustomObjectsApi(api)
    found = objects.list_namespaced_custom_object(
        KUEUE_GROUP,
        KUEUE_API,
        namespace,
        "workloads",
        label_selector=f"{JOB_UID_LABEL}={uid}",
    )
    return reason_of_workload(found["items"][0]) if found["items"] else _NOT_SEEN


def reason_of_workload(workload: dict[str, Any]) -> str:
    """Return why a `Workload` is not admitted.

    One that was started and did not get all of its pods ready in time says so; its own waiting is
    the consequence.
    """
    conditions = {each["type"]: each for each in workload.get("status", {}).get("conditions", [])}
    for kind, status in (("Evicted", "True"), ("QuotaReserved", "False")):
        condition = conditions.get(kind)
        if condition and condition["status"] == status:
            return said("", condition.get("message"))
    return _NOT_SEEN
