"""The example program trains with a real torchrun: two nodes of one process each, on CPUs.

The command and the variables are those that `run` gives to the nodes of a job. The old torchrun
kills its processes 30 seconds after SIGTERM, whatever a variable says.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.processes import PATIENCE, descendants, free_port, until
from tests.support.tracked import ROOT
from tools.programs.pytorch import examples_python, old_examples_python
from trainyard.components.catalog.instance_types import instance_type
from trainyard.jobs.start import limit_environment, start_command
from trainyard.jobs.training import (
    MASTER_ADDRESS,
    NODE_RANK,
    TrainingRequest,
    node_environment,
    rendezvous,
)
from trainyard.sandbox.engine.progress import Progress

STEPS = 80
SMALL = (
    f"--steps={STEPS} --global-batch=8 --length=32 --vocabulary=64 --layers=2 --width=64 "
    "--heads=4 --checkpoint-every=10"
).split()
HELD = """\
import sys, time
from pathlib import Path
sys.path.insert(0, "{examples}")
import train

go_on, report = Path("{go_on}"), train.report

class Stop(train.Stop):
    def _receive(self, *_):
        super()._receive()
        go_on.touch()

def held(given, step, *more):
    report(given, step, *more)
    while step == {step} and not go_on.exists():
        time.sleep(0.01)

train.Stop, train.report = Stop, held
"""
"""The example, which stays at a step until a process gets SIGTERM or the test lets it go on: it
would else have finished before a test on a busy machine has sent a signal."""
SLOW = """\
class Checkpoints(train.Checkpoints):
    def save(self, step, model, optimizer):
        if step % 10:  # after SIGTERM
            print(f"saves step {{step}}", flush=True)
            time.sleep({seconds})
        super().save(step, model, optimizer)

train.Checkpoints = Checkpoints
"""
"""For the example with a last checkpoint that takes its time."""
LEAVE = "train.leave(train.main())\n"
OLD_SECONDS = 30
"""What a torchrun before PyTorch 2.12 gives its processes:
https://github.com/pytorch/pytorch/blob/v2.11.0/torch/distributed/elastic/multiprocessing/api.py"""
TORCHRUN = """\
#!{python}
import sys
from torch.distributed.run import main
if __name__ == "__main__":
    sys.exit(main())
"""
"""The script that pip installs; that of the cache has the Python of another directory."""
STEP = re.compile(r"^step (\d+) loss ([\d.]+) ", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """A run on several nodes."""

    nodes: list[subprocess.Popen[bytes]]
    logs: list[Path]
    """Output of each node."""

    def text(self) -> str:
        """Return the output of the node with the first process, which alone prints steps.

        With restarts, torchrun sorts nodes by their host name and process id, and torchrun of the
        second node can be started first.
        """
        return max((log.read_text() for log in self.logs), key=lambda text: len(STEP.findall(text)))

    def losses(self) -> dict[int, float]:
        return {int(step): float(loss) for step, loss in STEP.findall(self.text())}

    def reaches(self, step: int) -> None:
        until(lambda: step in self.losses(), f"step {step}")

    def exit_codes(self) -> list[int]:
        return [each.wait(timeout=PATIENCE) for each in self.nodes]


@contextmanager
def training(
    directory: Path,
    *command: str,
    nodes: int = 2,
    restarts: int = 0,
    time_limit_minutes: int | None = None,
    python: Callable[[Progress], Path] = examples_python,
) -> Iterator[Run]:
    """Start the program on some nodes; what still runs at the end is killed."""
    port = free_port()
    ports = {"PET_MASTER_PORT": str(port), "MASTER_PORT": str(port)}
    endpoint = {"PET_RDZV_ENDPOINT": f"127.0.0.1:{port}"} if restarts else {}
    request = TrainingRequest(
        command=(*(command or ("train.py",)), *SMALL),
        restarts=restarts,
        time_limit_minutes=time_limit_minutes,
        checkpoint_directory=str(directory / "checkpoints"),
        environment={**ports, **endpoint},
    )
    accelerators = instance_type("p5.48xlarge").accelerators
    assert accelerators is not None
    same = {
        "PATH": f"{directory}:{os.environ['PATH']}",
        "TMPDIR": str(directory),
        **dict.fromkeys(MASTER_ADDRESS, "127.0.0.1"),
        **rendezvous(request, "127.0.0.1"),
        **node_environment(request, accelerators, devices=1, nodes=nodes, efa_interfaces=0),
        **limit_environment(request),
    }
    torchrun = directory / "torchrun"
    torchrun.write_text(TORCHRUN.format(python=python(print)), encoding="utf-8")
    torchrun.chmod(0o755)
    earlier = len([*directory.glob("*.log")])
    logs = [directory / f"{earlier}-{rank}.log" for rank in range(nodes)]
    started: list[subprocess.Popen[bytes]] = []
    try:
        for rank in range(nodes):
            with logs[rank].open("wb") as output:
                started.append(
                    subprocess.Popen(
                        start_command(request),
                        cwd=ROOT / "examples" / "pretrain",
                        env={**same, **dict.fromkeys(NODE_RANK, str(rank))},
                        stdout=output,
                        stderr=subprocess.STDOUT,
                        start_new_session=True,
                    )
                )
        yield Run(started, logs)
    finally:
        for each in started:
            if each.poll() is None:
                for process in (each.pid, *descendants(each.pid)):
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
                each.wait()


def held_at(directory: Path, step: int, more: str = "") -> str:
    """Write the example that stays at a step until there is a file `go-on`; return its path."""
    examples = ROOT / "examples" / "pretrain"
    held = HELD.format(examples=examples, go_on=directory / "go-on", step=step)
    (directory / "held.py").write_text(held + more + LEAVE, encoding="utf-8")
    return str(directory / "held.py")


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
    with training(tmp_path, held_at(tmp_path, 15), restarts=1) as run:
        run.reaches(15)
        *_, process = descendants(run.nodes[1].pid)
        os.kill(process, signal.SIGKILL)
        (tmp_path / "go-on").touch()
        assert run.exit_codes() == [0, 0], run.text()
    assert re.search(r"continues from \S+/step-00000010", run.text())
    assert run.losses() == undisturbed


def test_the_program_ends_with_its_exit_code_and_output_and_without_finalizing_python() -> None:
    program = """
import atexit, sys
import train
atexit.register(print, "finalized")
print("a step")
print("a warning", file=sys.stderr)
train.leave(143)
"""
    done = subprocess.run(
        [examples_python(print), "-c", program],
        cwd=ROOT / "examples" / "pretrain",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (143, "a step\n")
    assert done.stderr.endswith("a warning\n")


def test_a_drained_node_saves_a_checkpoint_and_fewer_nodes_continue(
    tmp_path: Path, undisturbed: dict[int, float]
) -> None:
    with training(tmp_path, held_at(tmp_path, 5)) as run:
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


@pytest.mark.parametrize(
    "python",
    [pytest.param(examples_python, id="new"), pytest.param(old_examples_python, id="old")],
)
def test_a_last_checkpoint_has_the_time_that_the_scheduler_gives(
    tmp_path: Path, undisturbed: dict[int, float], python: Callable[[Progress], Path]
) -> None:
    """All nodes end, as at the end of a Capacity Block; the first one notices it by itself.

    With restarts, torchrun would start processes again that end with another code than 0.
    """
    slow = SLOW.format(seconds=OLD_SECONDS + 1)
    with training(tmp_path, held_at(tmp_path, 5, slow), restarts=3, python=python) as run:
        run.reaches(5)
        for node in run.nodes:
            node.send_signal(signal.SIGTERM)
        assert 0 not in run.exit_codes()
    last = max(run.losses())
    assert last < STEPS
    assert run.text().count("saves step") == 1, run.text()
    assert f"checkpoint {tmp_path}/checkpoints/step-{last:08d}" in run.text()
    with training(tmp_path, nodes=1) as rest:
        rest.reaches(last + 1)
    assert f"continues from {tmp_path}/checkpoints/step-{last:08d}" in rest.text()
    assert next(iter(rest.losses())) == last + 1
    for step, loss in (run.losses() | rest.losses()).items():
        assert loss == pytest.approx(undisturbed[step], rel=1e-2)
