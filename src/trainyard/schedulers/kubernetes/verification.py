"""The parts of `verify` for EKS: the test and its nodes in the cluster, and their labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from kubernetes import client

from trainyard.cli import console
from trainyard.components import clock
from trainyard.components.eks.plan import EksPlan
from trainyard.jobs.nodes import JobNodes, JobRequest, choose_nodes
from trainyard.schedulers.kubernetes.cluster import reached_cluster
from trainyard.stack_files.stack_config import config_of
from trainyard.verify.inventory import Inventory, kubernetes_inventory, node_selector
from trainyard.verify.node_marks import Mark, mark_node, marks_of, node_results
from trainyard.verify.planned_nodes import PlannedTest, listed_test
from trainyard.verify.verified import Verified
from trainyard.workspace.target import Target

_SYSTEM = "kube-system"


def planned_test(
    plan: EksPlan, *, nodes: int | None, options: Mapping[str, Any]
) -> PlannedTest[JobNodes]:
    """Return the test of the accelerators of a stack.

    Raises:
        JobError: the stack has no such nodes, several groups that match, or too few.
    """
    request = JobRequest(group=options.get("--group"), nodes=nodes)
    chosen = choose_nodes(plan, None, request)
    return listed_test(chosen, chosen.group)


def verifiable_pools(plan: EksPlan) -> list[Mapping[str, str]]:
    """Return the options that select each node group with accelerators that has nodes now."""
    return [
        {"--group": group.name}
        for group in plan.node_groups
        if group.instance_type.accelerators and group.schedule.desired
    ]


def read_inventory(plan: EksPlan, target: Target, planned: PlannedTest[JobNodes]) -> Inventory:
    """Compare the nodes of a test in the cluster with the plan.

    Raises:
        WrongUseError: there are no credentials.
        CommandError: the stack has no cluster, or it cannot be reached.
    """
    nodes = planned.chosen
    with reached_cluster(target) as api:
        core: Any = client.CoreV1Api(api)
        found = core.list_node(label_selector=node_selector(nodes)).items
        pods = core.list_namespaced_pod(_SYSTEM).items
        # The JSON of the API, as the documentation and `kubectl get -o json` show it.
        read: Any = api.sanitize_for_serialization([found, pods])
    return kubernetes_inventory(plan, nodes, *read)


def mark_nodes(target: Target, marks: Iterable[Mark], *, at: datetime, required: bool) -> list[str]:
    """Label nodes with their results; return the names of those that are gone.

    Raises:
        CommandError: the API server cannot be reached, or refuses a request.
    """
    with reached_cluster(target) as api:
        return [mark.node for mark in marks if not mark_node(api, mark, at=at, required=required)]


def use_results(
    result: Verified, target: Target, mark: Callable[..., Sequence[str]] = mark_nodes
) -> None:
    """Label the nodes, and remove or set the taint of nodes that have not passed.

    Args:
        result: The test.
        target: The stack and its account.
        mark: Labels the nodes.

    Raises:
        CommandError: the API server cannot be reached, or refuses a request.
    """
    results = node_results(result.stages, result.tested)
    if not results.passed and not results.failed:
        console.progress("the nodes of the test are unknown, so none is labelled")
        return
    required = config_of(target.stack_file).verification.required
    # The same time for all nodes: `repair` compares nodes that were tested together.
    gone = mark(target, marks_of(results), at=clock.now(), required=required)
    closed = ", and closed to jobs" if required else ""
    _tell("passed", "", results.passed, gone)
    _tell("failed", closed, results.failed, gone)


def _tell(result: str, more: str, nodes: Sequence[str], gone: Sequence[str]) -> None:
    there = [node for node in nodes if node not in gone]
    if there:
        console.progress(f"labelled as {result}{more}: {', '.join(there)}")
    left = [node for node in nodes if node in gone]
    if left:
        console.progress(f"no longer in the cluster: {', '.join(left)}")
