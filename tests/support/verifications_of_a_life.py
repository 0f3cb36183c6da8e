"""Verifications in the life of a stack: a bad node, and a good run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kubernetes import client

from tests.support.collective_logs import pair_lines, whole_log
from tests.support.sandbox import Done, Sandbox
from trainyard.components.eks.label_plan import FAILURE_LABEL, RESULT_LABEL
from trainyard.verify.node_marks import is_closed

MINIMUM_GB_PER_SECOND = 3.0
"""The threshold in the stack file."""
_FAULTS = """\
- {happens: container-succeeds, job: nccl-build}
- {happens: container-succeeds, job: 'nccl-tests*', index: 0, log: slow.log}
- {happens: container-succeeds, job: 'nccl-pairs*', index: 0, log: pairs.log}
- {happens: container-succeeds, job: 'nccl-tests*', index: 0, nth: 2, log: good.log}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """A verification, and the nodes after it."""

    done: Done
    labels: dict[str, tuple[str | None, str | None]]
    """Result and failed stages in the labels, by node."""
    closed: set[str]
    """Nodes that take no jobs."""


def verifications(sandbox: Sandbox, stack: str, stack_file: Path) -> list[Verification]:
    """Verify a stack with three nodes of one EFA interface: the last one is slow, and then good."""
    nodes = [*_accelerated(sandbox, stack)]
    schedule_of_a_bad_node(sandbox, stack_file.parent, nodes, efa=1, gpus=1)
    verify = ("verify", stack, "--sandbox", "--stack-file", stack_file)
    found = [_seen(sandbox, stack, sandbox.run(*verify)) for _ in range(2)]
    sandbox.must("sandbox", "faults", "--clear")
    return found


def schedule_of_a_bad_node(
    sandbox: Sandbox, directory: Path, nodes: Sequence[str], *, efa: int, gpus: int
) -> None:
    """Give logs to two verifications: the last node is slow, and then good."""
    pairs = zip(nodes, [*nodes[1:], nodes[0]], strict=True)
    logs = {
        "slow": whole_log(nodes, gpus, efa, 1.25),
        "good": whole_log(nodes, gpus, efa, 5.75),
        "pairs": "".join(
            pair_lines(" ".join(pair), 1.5 if nodes[-1] in pair else 5.5) for pair in pairs
        ),
    }
    schedule = directory / "bad-node.yaml"
    for name, text in logs.items():
        (directory / f"{name}.log").write_text(text, encoding="utf-8")
    schedule.write_text(_FAULTS, encoding="utf-8")
    sandbox.must("sandbox", "faults", schedule)


def _seen(sandbox: Sandbox, stack: str, done: Done) -> Verification:
    nodes = _accelerated(sandbox, stack)
    return Verification(
        done=done,
        labels={
            name: (each.metadata.labels.get(RESULT_LABEL), each.metadata.labels.get(FAILURE_LABEL))
            for name, each in nodes.items()
        },
        closed={name for name, each in nodes.items() if is_closed(each.spec.taints or [])},
    )


def _accelerated(sandbox: Sandbox, stack: str) -> dict[str, client.V1Node]:
    with sandbox.kubernetes(stack) as api:
        nodes = client.CoreV1Api(api).list_node().items
    return {each.metadata.name: each for each in nodes if "nvidia.com/gpu" in each.status.capacity}
