"""Why a pod of a DaemonSet does not run, as its own status says.

Source: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#PodStatus
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PodState:
    """One pod that belongs on a node."""

    name: str
    node: str
    """Empty while it is scheduled to none."""
    ready: bool
    reason: str
    """Why it is not ready; empty where it is, or where nothing says it."""


def pods_by_daemon_set(pods: Iterable[Any]) -> dict[str, tuple[PodState, ...]]:
    """Return the pods of each DaemonSet; those that are being deleted are left out.

    Args:
        pods: As the Kubernetes client lists them.
    """
    found: dict[str, tuple[PodState, ...]] = {}
    for pod in pods:
        if pod.metadata.deletion_timestamp is not None:
            continue
        for owner in pod.metadata.owner_references or []:
            if owner.kind == "DaemonSet":
                found[owner.name] = (*found.get(owner.name, ()), _state(pod))
    return found


def ready_on(pods: Mapping[str, tuple[PodState, ...]]) -> dict[str, frozenset[str]]:
    """Return the nodes on which a pod of each DaemonSet is ready."""
    ready = {
        name: frozenset(p.node for p in each if p.ready and p.node) for name, each in pods.items()
    }
    return {name: nodes for name, nodes in ready.items() if nodes}


def _state(pod: Any) -> PodState:
    conditions = {each.type: each for each in pod.status.conditions or []}
    ready = "Ready" in conditions and conditions["Ready"].status == "True"
    return PodState(
        name=pod.metadata.name,
        node=pod.spec.node_name or _wanted_node(pod),
        ready=ready,
        reason="" if ready else _reason(pod, conditions),
    )


def _wanted_node(pod: Any) -> str:
    """Return the node that the DaemonSet's controller wants an unscheduled pod on."""
    affinity = pod.spec.affinity and pod.spec.affinity.node_affinity
    required = affinity and affinity.required_during_scheduling_ignored_during_execution
    for term in required.node_selector_terms if required else []:
        for field in term.match_fields or []:
            if field.key == "metadata.name" and field.values:
                return field.values[0]
    return ""


def _reason(pod: Any, conditions: Mapping[str, Any]) -> str:
    for status in [
        *(pod.status.init_container_statuses or []),
        *(pod.status.container_statuses or []),
    ]:
        state, last = status.state, status.last_state
        if state and state.waiting and state.waiting.reason:
            ended = last and last.terminated
            exit_code = f", its last run ended with {ended.exit_code}" if ended else ""
            return _said(state.waiting.reason, state.waiting.message) + exit_code
        if state and state.terminated:
            return f"{state.terminated.reason} with exit code {state.terminated.exit_code}"
    scheduled = conditions.get("PodScheduled")
    if scheduled is not None and scheduled.status == "False":
        return _said(scheduled.reason, scheduled.message)
    return _said(pod.status.reason or pod.status.phase or "Unknown", pod.status.message)


def _said(reason: str | None, message: str | None) -> str:
    return ": ".join(part for part in (reason, message) if part)
