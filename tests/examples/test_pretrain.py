"""The example program trains with a real torchrun: two nodes of one process each, on CPUs.

The command and the variables are those that `run` gives to the nodes of a job.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from components.catalog.instance_types import instance_type
from tests.support.processes import PATIENCE, descendants, free_port, until
from tests.support.tracked import ROOT
from tools.engine.pytorch import examples_python
from tools.jobs.training import (
    MASTER_ADDRESS,
    NODE_RANK,
    TrainingRequest,
    launch_command,
    node_environment,
    rendezvous,
)

STEPS = 80
SMALL = (
    f"--steps={STEPS} --global-batch=8 --length=32 --vocabulary=64 --layers=2 --width=64 "
    "--heads=4 --checkpoint-every=10"
).split()
STEP = re.compile(r"^step (\d+) loss ([\d.]+) ", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """A run on several nodes."""

    nodes: list[subprocess.Popen[bytes]]
    log: Path
    """Output of the first node, which has the first process."""

    def text(self) -> str:
        return self.log.read_text()

    def losses(self) -> dict[int, float]:
        return {int(step): float(loss) for step, loss in STEP.findall(self.text())}

    def reaches(self, step: int) -> None:
        until(lambda: step in self.losses(), f"step {step}")

    def exit_codes(self) -> list[int]:
        return [each.wait(timeout=PATIENCE) for each in self.nodes]


@contextmanager
def training(directory: Path, *, nodes: int = 2, restarts: int = 0) -> Iterator[Run]:
    """Start the program on some nodes; what still runs at the end is killed."""
    port = free_port()
    ports = {"PET_MASTER_PORT": str(port), "MASTER_PORT": str(port)}
    endpoint = {"PET_RDZV_ENDPOINT": f"127.0.0.1:{port}"} if restarts else {}
    request = TrainingRequest(
        command=("train.py", *SMALL),
        restarts=restarts,
        checkpoint_directory=str(directory / "checkpoints"),
        environment={**ports, **endpoint},
    )
    accelerators = instance_type("p5.48xlarge").accelerators
    assert accelerators is not None
    same = {
        "PATH": os.environ["PATH"],
        **dict.fromkeys(MASTER_ADDRESS, "127.0.0.1"),
        **rendezvous(request, "127.0.0.1"),
        **node_environment(request, accelerators, devices=1, nodes=nodes, efa_interfaces=0),
    }
    torchrun, *arguments = launch_command(request)
    assert torchrun == "torchrun"
    log = directory / f"{len([*directory.glob('*.log')])}.log"
    started: list[subprocess.Popen[bytes]] = []
    try:
        for rank in range(nodes):
            with (log if rank == 0 else log.with_suffix(f".{rank}")).open("wb") as output:
                started.append(
                    subprocess.Popen(
                        [examples_python(print), "-m", "torch.distributed.run", *arguments],
                        cwd=ROOT / "examples" / "pretrain",
                        env={**same, **dict.fromkeys(NODE_RANK, str(rank))},
                        stdout=output,
                        stderr=subprocess.STDOUT,
                        start_new_session=True,
                    )
                )
        yield Run(started, log)
    finally:
        for each in started:
            if each.poll() is None:
                os.killpg(each.pid, signal.SIGKILL)
                each.wait()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[int, float]:
    """The losses of a run without a failure."""
    with training(tmp_path_factory.mktemp("undisturbed")) as run:
        assert run.exit_codes() == [0, 0], run.text()
    return run.losses()


def test_the_loss_falls(undisturbed: dict[int, float]) -> None:
    assert [*undisturbed] == [*range(1, STEPS + 1)]
    assert undisturbed[STEPS] < undisturbed[1] / 2


def test_after_the_kill_of_a_process_the_job_goes_on_from_the_newest_checkpoint(
    tmp_path: Path, undisturbed: dict[int, float]
) -> None:
    with training(tmp_path, restarts=1) as run:
        run.reaches(15)
        (process,) = descendants(run.nodes[1].pid)
        os.kill(process, signal.SIGKILL)
        assert run.exit_codes() == [0, 0], run.text()
    assert re.search(r"continues from \S+/step-000000[1-7]0", run.text())
    assert run.losses() == undisturbed


def test_a_drained_node_saves_a_checkpoint_and_fewer_nodes_continue(
    tmp_path: Path, undisturbed: dict[int, float]
) -> None:
    with training(tmp_path) as run:
        run.reaches(5)
        run.nodes[1].send_signal(signal.SIGTERM)
        assert 0 not in run.exit_codes()
    last = max(run.losses())
    assert last < STEPS
    assert run.text().count(f"checkpoint {tmp_path}/checkpoints/step-{last:08d}") == 1
    with training(tmp_path, nodes=1) as rest:
        assert rest.exit_codes() == [0], rest.text()
    assert [*rest.losses()] == [*range(last + 1, STEPS + 1)]
    joined = run.losses() | rest.losses()
    assert joined == pytest.approx(undisturbed, rel=1e-2)
