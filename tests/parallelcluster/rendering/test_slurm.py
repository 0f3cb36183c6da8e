"""Slurm's settings in the cluster file."""

import pytest

from tests.support.parallelcluster import p4de_plan, plan, queue
from trainyard.components.config.parallelcluster import Slurm
from trainyard.components.parallelcluster.rendering import render_scheduling


def settings(**changes):
    return render_scheduling(plan(slurm=Slurm(**changes)))["SlurmSettings"]


def test_the_scheduler_is_slurm():
    """PC-08."""
    assert render_scheduling(plan())["Scheduler"] == "slurm"


def test_idle_nodes_go_after_the_minutes_asked_for():
    """PC-09."""
    assert settings(idle_minutes=60)["ScaledownIdletime"] == 60


def test_job_completions_are_recorded():
    """PC-10: one mapping for each parameter, as ParallelCluster reads them."""
    rendered = render_scheduling(p4de_plan())["SlurmSettings"]["CustomSlurmSettings"]
    assert rendered == [
        {"JobCompType": "jobcomp/filetxt"},
        {"JobCompLoc": "/home/slurm/slurm-job-completions.txt"},
        {"JobAcctGatherType": "jobacct_gather/linux"},
    ]


@pytest.mark.parametrize("strategy", ["DRAIN", "TERMINATE", "COMPUTE_FLEET_STOP"])
def test_what_an_update_does_to_nodes_is_always_said(strategy):
    """PR-04: without it, an update that removes nodes is refused while the fleet runs."""
    assert settings(queue_update_strategy=strategy)["QueueUpdateStrategy"] == strategy


def test_how_jobs_get_nodes_and_memory():
    rendered = render_scheduling(
        plan(slurm=Slurm(scaling_strategy="best-effort", memory_based_scheduling=True))
    )
    assert rendered["ScalingStrategy"] == "best-effort"
    assert rendered["SlurmSettings"]["EnableMemoryBasedScheduling"] is True


def test_queues_keep_their_order():
    """PCx-09: the first is the default partition."""
    queues = (queue("zeta"), queue("alpha"))
    rendered = render_scheduling(plan(queues=queues))
    assert [each["Name"] for each in rendered["SlurmQueues"]] == ["zeta", "alpha"]
