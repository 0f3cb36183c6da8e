"""Which scheduler knows the nodes of a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.parallelcluster import p4de_plan
from tests.tools.verify.test_inventory import shown, slurm_node
from tests.tools.verify.test_verdict import nodes
from tools.cli.verify_inventory import read_inventory
from tools.jobs.slurm.nodes import SlurmRequest, choose_slurm_nodes
from tools.verify.inventory import Inventory
from tools.verify.planned_nodes import PlannedTest
from tools.verify.slurm_inventory import SHOW_NODES

SLURM = choose_slurm_nodes(p4de_plan(), "nvidia", SlurmRequest(nodes=1))
FILE: Any = SimpleNamespace(stack="pc-gpu", profile=None)


def read(chosen: Any, *, sandbox: bool) -> Inventory:
    planned = PlannedTest(test="nccl-tests", nodes=nodes("p4de.24xlarge", 1), chosen=chosen)
    return read_inventory(FILE, p4de_plan(), planned, sandbox=sandbox)


def test_slurm_is_asked_on_the_head_node(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def run(script: str) -> str:
        said.append(script)
        return shown(slurm_node("n-1", "IDLE+CLOUD+DRAIN"))

    @contextmanager
    def reached(*_: object, sandbox: bool) -> Iterator[Any]:
        assert sandbox
        yield SimpleNamespace(run=run)

    monkeypatch.setattr("tools.cli.verify_inventory.reached_head_node", reached)
    stage = read(SLURM, sandbox=True).stage
    assert said == [SHOW_NODES]
    assert (stage.result, "n-1 is IDLE+CLOUD+DRAIN" in stage.reason) == ("fail", True)


def test_without_nodes_to_ask_it_is_skipped() -> None:
    stage = read(None, sandbox=True).stage
    assert stage.result == "skipped"
    assert stage.reason.startswith("AWS Batch launches the nodes for a job")
