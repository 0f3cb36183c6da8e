"""What `verify` does with the nodes that it has tested: labels, taints and results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from kubernetes import client
from kubernetes.client import ApiException

from trainyard.components.eks.label_plan import FAILURE_LABEL, RESULT_LABEL, TIME_LABEL, UNVERIFIED
from trainyard.verify.stages import Stage

OF_ONE_NODE = frozenset({"test", "values", "bandwidth"})
"""Stages of all nodes that one bad node can fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeResults:
    """The tested nodes, by result."""

    passed: tuple[str, ...]
    failed: tuple[str, ...]
    causes: tuple[str, ...]
    """The failed nodes that a stage names; empty if any node can be the cause."""
    failures: tuple[str, ...]
    """Names of the failed stages."""


def node_results(stages: Sequence[Stage], tested: Iterable[str]) -> NodeResults:
    """Return which nodes have passed.

    If failed stages name nodes, and these can be the cause of all failures, all other nodes pass.
    Otherwise no node passes.

    Args:
        stages: The stages of the verification.
        tested: Names of the tested nodes.
    """
    failed = [stage for stage in stages if stage.result == "fail"]
    causes = {node for stage in failed for node in stage.nodes}
    unexplained = {stage.name for stage in failed if not stage.nodes} - OF_ONE_NODE
    nodes = set(tested)
    if not failed:
        bad: set[str] = set()
    elif causes and causes <= nodes and not unexplained:
        bad = causes
    else:
        bad, causes = nodes, set()
    return NodeResults(
        passed=tuple(sorted(nodes - bad)),
        failed=tuple(sorted(bad)),
        causes=tuple(sorted(causes)),
        failures=tuple(stage.name for stage in failed),
    )


# Labels and taints of EKS nodes for the result of a verification.
#
# Source: https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions: a patch
# with another resource version than that of the object is refused with 409.


_LONGEST_LABEL = 63
_ATTEMPTS = 5
_GONE, _CHANGED = 404, 409


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The result of a verification on one node."""

    node: str
    passed: bool
    failures: tuple[str, ...] = ()
    """Names of the failed stages."""


def is_closed(taints: Iterable[Any]) -> bool:
    """Return whether the taints of a node keep jobs off it until it passes."""
    return any(taint.key == UNVERIFIED.key for taint in taints)


def verification_of(labels: Mapping[str, str]) -> str:
    """Return the result of the last verification of a node in words; empty without one."""
    result = labels.get(RESULT_LABEL)
    if not result:
        return ""
    failures = labels.get(FAILURE_LABEL, "").replace(".", ", ")
    when = f" at {labels[TIME_LABEL]}" if TIME_LABEL in labels else ""
    return f"verify {result}{f' ({failures})' if failures else ''}{when}"


def marks_of(results: NodeResults) -> Iterator[Mark]:
    """Yield the mark of each node."""
    for node in results.passed:
        yield Mark(node=node, passed=True)
    for node in results.failed:
        yield Mark(node=node, passed=False, failures=results.failures)


def mark_node(api: client.ApiClient, mark: Mark, *, at: datetime, required: bool) -> bool:
    """Label a node with its result, and open it for jobs or close it.

    A node that passes loses the taint. A node that fails has it afterwards if `required`, also if
    it had passed before.

    Args:
        api: Client of the cluster.
        mark: The result.
        at: Time of the result.
        required: Whether nodes must pass before jobs run on them.

    Returns:
        False if the node has left the cluster.

    Raises:
        ApiException: the API server refused a request.
    """
    core: Any = client.CoreV1Api(api)
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            node = core.read_node(mark.node)
            core.patch_node(mark.node, _patch(api, node, mark, at=at, required=required))
        except ApiException as error:
            if error.status == _GONE:
                return False
            # The kubelet or a controller has changed the node since it was read.
            if error.status != _CHANGED or attempt == _ATTEMPTS:
                raise
        else:
            break
    return True


def _patch(
    api: client.ApiClient, node: Any, mark: Mark, *, at: datetime, required: bool
) -> dict[str, Any]:
    failures = ".".join(mark.failures)[:_LONGEST_LABEL].rstrip(".-") or None
    labels = {
        RESULT_LABEL: "passed" if mark.passed else "failed",
        TIME_LABEL: f"{at.astimezone(UTC):%Y%m%dT%H%M%SZ}",
        FAILURE_LABEL: failures,
    }
    taints: Any = api.sanitize_for_serialization(node.spec.taints or [])
    wanted = [each for each in taints if each["key"] != UNVERIFIED.key]
    if required and not mark.passed:
        wanted.append(UNVERIFIED.model_dump())
    return {
        "metadata": {"labels": labels, "resourceVersion": node.metadata.resource_version},
        # The list has no merge key, so it is replaced.
        "spec": {"taints": wanted or None},
    }
