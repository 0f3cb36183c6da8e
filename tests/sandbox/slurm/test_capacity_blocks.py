"""Nodes of a real Slurm in two Capacity Blocks: they come, run jobs, and go with their block."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.parallelcluster import rendered
from tests.support.processes import PATIENCE, until
from tests.support.sandbox_aws import BLOCK, PRIVATE_B, SCHEDULED, Account, p5_block
from tests.support.stacks import stack_plan
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.server import AwsServer
from trainyard.sandbox.engine.slurm import ensure_slurm
from trainyard.sandbox.parallelcluster.provider import model
from trainyard.sandbox.parallelcluster.provider.account import Record, Records
from trainyard.sandbox.processes import Spawner
from trainyard.sandbox.slurm.blocks import BlockInstances
from trainyard.sandbox.slurm.head_nodes import HeadNodes

pytestmark = pytest.mark.engine

NAME, QUEUE = "pc-gpu", "compute-gpu"
RESOURCES = {"p5": BLOCK, "p5-next": SCHEDULED}
"""The compute resources of `further_blocks`, with their blocks."""
BLOCKS = {
    name: {"kind": "capacity-block", "reservation_id": reservation_id}
    for name, reservation_id in (("block", BLOCK), ("next", SCHEDULED))
}
NODES = {
    "instance_type": "p5.48xlarge",
    "minimum": 2,
    "maximum": 2,
    "further_blocks": ["next"],
}


class Cluster:
    """A cluster whose parts are in the account."""

    def __init__(self, account: Account, directory: Path, nodes: HeadNodes) -> None:
        self._account = account
        self._nodes = nodes
        queues = {QUEUE: {"purchase_option": "block", "compute_resources": {"p5": NODES}}}
        plan = stack_plan(NAME, reservations=BLOCKS, architecture__queues=queues)
        group = account.group()
        for resource, reservation_id in RESOURCES.items():
            data = _template(group, reservation_id)
            data["TagSpecifications"] = [model.tagged("instance", _tags(resource))]
            account.template(f"{NAME}-{QUEUE}-{resource}", **data)
        at = "2026-11-25T00:00:00.000Z"
        Records(directory).write(
            Record(
                name=NAME,
                configuration=rendered(plan),
                stack_id="arn",
                created=at,
                updated=at,
                status="CREATE_COMPLETE",
            )
        )

    def said(self, *commands: str) -> list[str]:
        done = self._nodes.run(NAME, commands, timeout_seconds=PATIENCE)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    def submit(self, resource: str, program: str) -> str:
        """Submit a program for the nodes of a compute resource; return the id of the job."""
        options = f"--parsable --constraint={resource} --output=$HOME/%j"
        return self.said(f"cd && sbatch {options} --wrap {shlex.quote(program)}")[0]

    def log(self, job: str) -> str:
        return "".join(self.said(f"cat ~/{job} || true"))

    def running(self) -> set[str]:
        return {*self.said("squeue --noheader --states=running --format=%A")}

    def states(self, resource: str) -> set[str]:
        """Return the states of the nodes of a compute resource."""
        nodes = f"{QUEUE}-st-{resource}-[1-2]"
        return {*self.said(f"sinfo --noheader --Node --nodes={nodes} --format=%t")}

    def reserved(self) -> list[str]:
        """Return the reservations of Slurm."""
        lines = self.said("scontrol --oneliner show reservation")
        return [each.partition("=")[2] for each in lines if each.startswith("ReservationName=")]

    def used(self, reservation_id: str) -> int:
        block = self._account.reservation(reservation_id)
        return block["TotalInstanceCount"] - block["AvailableInstanceCount"]

    def end(self, reservation_id: str) -> datetime:
        return self._account.reservation(reservation_id)["EndDate"]


def _tags(resource: str) -> dict[str, str]:
    return {
        model.CLUSTER_NAME: NAME,
        model.QUEUE_NAME: QUEUE,
        model.COMPUTE_RESOURCE_NAME: resource,
    }


def _template(group: str, reservation_id: str) -> dict[str, Any]:
    data = p5_block(group, reservation_id)
    interfaces = [{**each, "SubnetId": PRIVATE_B} for each in data["NetworkInterfaces"]]
    return {**data, "NetworkInterfaces": interfaces}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    spawner, stopped = Spawner(tmp_path / "processes"), threading.Event()
    with AwsServer() as server:
        nodes = HeadNodes(
            tmp_path / "slurm",
            Records(tmp_path / "clusters"),
            BlockInstances(server.application.lock, "us-west-2"),
            lambda: ensure_slurm(print),
            spawner.spawn,
        )
        made = Cluster(Account(server), tmp_path / "clusters", nodes)
        thread = threading.Thread(target=nodes.follow, args=(stopped,))
        thread.start()
        yield made
        stopped.set()
        thread.join()
        nodes.stop_all()
    spawner.stop_all()


def test_each_block_has_its_nodes_while_it_is_active(cluster: Cluster) -> None:
    """`CapacityBlockManager` of ParallelCluster, and rule D8."""
    assert cluster.states("p5") == {"idle"}
    until(lambda: cluster.states("p5-next") == {"maint"}, "the maintenance of the second block")
    assert cluster.reserved() == [f"pcluster-{SCHEDULED}"]
    waits = cluster.submit("p5-next", "date +%s")
    assert cluster.said(f"squeue --noheader --jobs={waits} --format=%t") == ["PD"]

    CLOCK.advance(timedelta(days=2, minutes=1))
    until(lambda: cluster.states("p5-next") == {"idle"}, "the nodes of the second block")
    assert (cluster.used(BLOCK), cluster.used(SCHEDULED)) == (2, 2)
    assert cluster.reserved() == []
    until(lambda: cluster.log(waits), "the job that waited")
    assert abs(int(cluster.log(waits)) - CLOCK.now().timestamp()) < 60

    lost, stays = (cluster.submit(each, "sleep 600") for each in ("p5", "p5-next"))
    until(lambda: cluster.running() == {lost, stays}, "both jobs to run")
    CLOCK.advance(cluster.end(BLOCK) - CLOCK.now() - timedelta(minutes=29))
    until(lambda: cluster.used(BLOCK) == 0, "EC2 to terminate the instances of the first block")
    until(lambda: cluster.running() == {stays}, "the end of the job in the first block")
    until(lambda: cluster.states("p5") == {"down"}, "the end of the nodes")
    CLOCK.advance(timedelta(minutes=30))
    until(lambda: cluster.reserved() == [f"pcluster-{BLOCK}"], "the reservation of the first block")
    assert cluster.used(SCHEDULED) == 2
