"""Failed pods: faults of nodes are told from errors of the program."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.eks import P5
from trainyard.jobs.eks_training import pod_failures
from trainyard.jobs.nodes import JobNodes
from trainyard.jobs.training import TrainingRequest

LOST = [{"type": "DisruptionTarget"}]
LATE = {
    "action": "FailJob",
    "onExitCodes": {"containerName": "program", "operator": "In", "values": [124]},
}
EXITED = {"containerName": "program", "operator": "NotIn", "values": [128]}


@pytest.mark.parametrize(
    ("restarts", "nodes", "policy", "limits", "lost", "exited"),
    [
        (0, 1, {}, {"backoffLimit": 3}, "FailJob", "FailJob"),
        (0, 2, {}, {"backoffLimit": 3}, "FailJob", "FailJob"),
        (0, 1, None, {"backoffLimit": 3}, "Ignore", "FailJob"),
        (0, 2, None, {"backoffLimit": 3}, "FailJob", "FailJob"),
        (2, 1, None, {"backoffLimitPerIndex": 2, "maxFailedIndexes": 0}, "Ignore", "FailIndex"),
        (2, 2, None, {"backoffLimitPerIndex": 2, "maxFailedIndexes": 0}, "Ignore", None),
    ],
)
def test_a_lost_node_and_an_exit_code_are_different_failures(
    restarts: int,
    nodes: int,
    policy: dict[str, str] | None,
    limits: dict[str, int],
    lost: str,
    exited: str | None,
) -> None:
    """In a JobSet, which has a failure policy, every failed pod ends the Job."""
    request = TrainingRequest(command=("train.py",), restarts=restarts)
    rules: list[Any] = [{"action": lost, "onPodConditions": LOST}, LATE]
    if exited:
        rules.append({"action": exited, "onExitCodes": EXITED})
    assert pod_failures(request, JobNodes(group=P5, count=nodes, failure_policy=policy)) == {
        **limits,
        "podFailurePolicy": {"rules": rules},
        "podReplacementPolicy": "Failed",
    }
