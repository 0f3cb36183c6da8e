"""Nodes of a cluster that run and never register with Slurm."""

from __future__ import annotations

import pytest

from tests.support.sandbox_aws import Account
from trainyard.sandbox.parallelcluster.provider.clusters import never_registers


@pytest.mark.parametrize(
    ("queue", "name", "outside"),
    [("gpu", "g4dn", True), ("cpu", "gpu", True), ("cpu", "c5", False), ("gpus", "c5", False)],
)
def test_the_schedule_names_a_queue_or_a_compute_resource(
    account: Account, queue: str, name: str, outside: bool
) -> None:
    account.server.use_faults("[{happens: node-never-joins, node_group: gpu}]")
    assert never_registers(queue, name) is outside


@pytest.mark.usefixtures("account")
def test_without_a_schedule_every_node_registers() -> None:
    assert not never_registers("gpu", "g4dn")
