"""Which scheduler knows the nodes of a test."""

from __future__ import annotations

from typing import Any

from tests.support.parallelcluster import p4de_plan
from tests.support.recorded_stack import RecordedStack
from tests.trainyard.verify.test_inventory import shown, slurm_node
from tests.trainyard.verify.test_verdict import nodes
from trainyard.jobs.slurm.nodes import SlurmRequest, choose_slurm_nodes
from trainyard.schedulers.batch.verification import read_inventory as batch_inventory
from trainyard.schedulers.slurm.verification import read_inventory as slurm_inventory
from trainyard.verify.inventory import SHOW_NODES
from trainyard.verify.planned_nodes import PlannedTest

SLURM = choose_slurm_nodes(p4de_plan(), "nvidia", SlurmRequest(nodes=1))


def test_slurm_is_asked_on_the_head_node() -> None:
    planned = PlannedTest(test="nccl-tests", nodes=nodes("p4de.24xlarge", 1), chosen=SLURM)
    stack = RecordedStack(head_node_says=shown(slurm_node("n-1", "IDLE+CLOUD+DRAIN")))
    target: Any = None
    stage = slurm_inventory(p4de_plan(), target, planned, stack.reached).stage
    assert stack.scripts == [SHOW_NODES]
    assert (stage.result, "n-1 is IDLE+CLOUD+DRAIN" in stage.reason) == ("fail", True)


def test_without_nodes_to_ask_it_is_skipped() -> None:
    stage = batch_inventory().stage
    assert stage.result == "skipped"
    assert stage.reason.startswith("AWS Batch launches the nodes for a job")
