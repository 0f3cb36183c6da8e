"""The head nodes of a sandbox: when their Slurm starts and ends, and what programs find there."""

from __future__ import annotations

import shlex
import subprocess
import threading
import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.parallelcluster import rendered
from tests.support.processes import PATIENCE, until
from tests.support.stacks import stack_plan
from trainyard.sandbox.engine.slurm import ensure_slurm
from trainyard.sandbox.faults.schedule import FAULTS, parse_schedule
from trainyard.sandbox.parallelcluster.provider.account import Record, Records
from trainyard.sandbox.processes import Spawner
from trainyard.sandbox.slurm.blocks import BlockInstances
from trainyard.sandbox.slurm.cluster import SlurmError
from trainyard.sandbox.slurm.head_nodes import HeadNodes

pytestmark = pytest.mark.engine

NAME = "pc-gpu"


def sent(value: Any) -> Any:
    """Return a configuration as CloudFormation sends it: with text for every value."""
    if isinstance(value, dict):
        return {key: sent(each) for key, each in value.items()}
    if isinstance(value, list):
        return [sent(each) for each in value]
    return str(value).lower() if isinstance(value, bool | int) else value


@dataclass
class Place:
    """Head nodes with their records."""

    directory: Path
    records: Records
    nodes: HeadNodes
    configuration: dict[str, Any]
    programs: list[Path] = field(default_factory=list)

    def write(self, created: str = "2026-11-25T00:00:00.000Z", **changes: Any) -> None:
        self.records.write(
            Record(
                name=NAME,
                configuration=sent({**self.configuration, **changes}),
                stack_id="arn",
                created=created,
                updated=created,
                status="CREATE_COMPLETE",
            )
        )

    def resize(self, *, static: int, most: int) -> None:
        scheduling = deepcopy(self.configuration["Scheduling"])
        for resource in scheduling["SlurmQueues"][0]["ComputeResources"]:
            resource.update(MinCount=static, MaxCount=most)
        self.write(Scheduling=scheduling)

    def run(self, *commands: str) -> subprocess.CompletedProcess[str]:
        return self.nodes.run(NAME, commands, timeout_seconds=PATIENCE)

    def said(self, *commands: str) -> str:
        done = self.run(*commands)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def runs(self) -> bool:
        """Whether a Slurm runs."""
        mark = f"{self.directory / 'slurm'}/".encode()
        return any(
            mark in each.read_bytes()
            for each in Path("/proc").glob("[0-9]*/cmdline")
            if b"slurmctld" in each.read_bytes()
        )


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    spawner, records = Spawner(tmp_path / "processes"), Records(tmp_path / "clusters")
    programs: list[Path] = []
    nodes = HeadNodes(
        tmp_path / "slurm",
        records,
        BlockInstances(threading.RLock(), "us-west-2"),
        lambda: programs[0] if programs else None,
        spawner.spawn,
    )
    made = Place(tmp_path, records, nodes, rendered(stack_plan(NAME)), programs)
    stopped = threading.Event()
    thread = threading.Thread(target=nodes.follow, args=(stopped,))
    thread.start()
    yield made
    stopped.set()
    thread.join()
    nodes.stop_all()
    spawner.stop_all()


@pytest.fixture
def lost_nodes() -> Iterator[None]:
    """A schedule in which the second node of a job is lost, and the only node of another."""
    lost = {"happens": "node-lost", "after_seconds": 2}
    FAULTS.use(parse_schedule([lost | {"job": "train", "index": 1}, lost | {"job": "elastic"}]))
    yield
    FAULTS.use([])


def test_slurm_starts_with_the_first_command_and_ends_with_its_cluster(place: Place) -> None:
    place.write()
    assert not place.nodes.is_managed(NAME)
    with pytest.raises(SlurmError, match="the cluster pc-gpu has no head node"):
        place.run("true")
    place.programs.append(ensure_slurm(print))
    assert place.nodes.is_managed(NAME)
    assert not place.runs
    nodes = place.said("sinfo --noheader --Node --format=%N,%T,%G").split()
    assert nodes == [f"compute-gpu-st-distributed-ml-{n},idle,gpu:a100:8" for n in range(1, 5)]
    assert place.said("pwd; cd; pwd; date +%Z").split() == [
        "/",
        str(place.directory / "slurm" / NAME / "home"),
        "UTC",
    ]
    place.records.remove(NAME)
    until(lambda: not place.runs, "its end")
    until(lambda: not (place.directory / "slurm" / NAME).exists(), "the end of its files")


def test_an_update_of_the_queues_starts_slurm_anew_and_keeps_home(place: Place) -> None:
    place.programs.append(ensure_slurm(print))
    place.write()
    place.said("touch ~/data", "sbatch --wrap 'sleep 600'")
    place.write(Tags=[{"Key": "a", "Value": "b"}])
    assert place.said("squeue --noheader --format=%i").split() == ["1"]
    place.resize(static=2, most=2)
    assert len(place.said("sinfo --noheader --Node").splitlines()) == 2
    assert place.said("squeue --noheader; ls ~").split() == ["data"]
    # Another cluster with the same name has another head node.
    place.write(created="2026-11-26T00:00:00.000Z")
    assert place.said("ls ~") == ""


# On its first start, the program only ends with its node.
PROGRAM = 'echo "start ${SLURM_RESTART_COUNT:-0}"; [ "$SLURM_RESTART_COUNT" ] || sleep 600'


STATIC, DYNAMIC = "compute-gpu-st-distributed-ml-", "compute-gpu-dy-distributed-ml-"


def test_a_job_starts_again_when_a_node_is_lost_and_the_node_is_replaced(
    place: Place, lost_nodes: None
) -> None:
    """A lost static node is replaced; a lost dynamic one is powered down, and waits for a job."""

    def states(*names: str) -> list[str]:
        return place.said(f"sinfo -hN --nodes={','.join(names)} --format=%T").split()

    place.programs.append(ensure_slurm(print))
    place.resize(static=3, most=5)
    dynamic = [f"{DYNAMIC}1", f"{DYNAMIC}2"]
    place.said(f"scontrol update nodename={','.join(dynamic)} state=power_up")
    until(lambda: states(*dynamic) == ["idle", "idle"], "the dynamic nodes are up")
    script = f"srun --kill-on-bad-exit=1 bash -c {shlex.quote(PROGRAM)}"
    options = f"--requeue --open-mode=append --wrap {shlex.quote(script)}"
    place.said(
        "cd",
        f"sbatch --nodes=2 --constraint=static --job-name=train --output=train.log {options}",
        f"sbatch --constraint=dynamic --job-name=elastic --output=elastic.log {options}",
        "sbatch --constraint=static --job-name=other --wrap 'sleep 600'",
    )
    reasons = "squeue --noheader --jobs=1,2 --format=%r"
    until(lambda: place.said(reasons).split() == ["BeginTime"] * 2, "their losses")
    # Slurm would wait until the credentials of the first start have expired. They are revoked: a
    # node refuses those of the same second as well.
    ended = time.time()
    until(lambda: time.time() > ended + 2, "the second of the loss to be over")
    place.said("scontrol update jobid=1,2 starttime=now")
    for job, lost in (("train", f"{STATIC}2"), ("elastic", dynamic[0])):
        until(lambda job=job: "start 1" in place.said(f"cat ~/{job}.log"), "its second start")
        assert f"Node failure on {lost}" in place.said(f"cat ~/{job}.log")
    until(lambda: states(f"{STATIC}2") == ["idle"], "the lost node is replaced")
    until(
        lambda: place.said("squeue --noheader --format=%j,%T") == "other,RUNNING\n",
        "both jobs have ended",
    )
    until(lambda: states(dynamic[0]) == ["idle~"], "the lost dynamic node is powered down")
    log = (place.directory / "slurm" / NAME / "slurmctld.log").read_text(encoding="utf-8")
    responses = [line for line in log.splitlines() if f"{dynamic[0]} now responding" in line]
    assert len(responses) == 1, "its instance is gone"
    drained = (f"{STATIC}3", dynamic[1])
    place.said(f"sudo scontrol update nodename={','.join(drained)} state=drain reason=repair")
    until(lambda: states(drained[1]) == ["idle~"], "the drained dynamic node is powered down")
    assert states(drained[0]) in (["draining"], ["drained"]), "its job runs to its end"
    place.said("scancel --name=other")
    until(lambda: states(drained[0]) == ["idle"], "the drained static node is replaced")


def test_systems_manager_reaches_only_head_nodes_with_its_policy(place: Place) -> None:
    place.programs.append(ensure_slurm(print))
    head = place.configuration["HeadNode"]
    place.write(HeadNode={**head, "Iam": {"AdditionalIamPolicies": []}})
    assert not place.nodes.is_managed(NAME)
    place.write()
    assert place.nodes.is_managed(NAME)
    assert not place.nodes.is_managed("another")
