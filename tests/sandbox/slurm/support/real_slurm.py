"""A real Slurm with the nodes of a ParallelCluster stack, and `run` on it."""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.support.parallelcluster import rendered
from tests.support.processes import PATIENCE
from tests.support.programs import render_training_directory
from tests.support.stacks import stack_plan
from trainyard.cli import failures
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.jobs.slurm.directory import JobDirectory
from trainyard.jobs.slurm.nodes import SlurmRequest
from trainyard.jobs.training import TrainingRequest
from trainyard.sandbox.engine.slurm import ensure_slurm
from trainyard.sandbox.processes import Spawner
from trainyard.sandbox.slurm.cluster import SlurmCluster
from trainyard.sandbox.slurm.head_nodes import HeadNodeShell
from trainyard.schedulers.job_wait import JobWait
from trainyard.schedulers.slurm.job_wait import wait_for
from trainyard.schedulers.slurm.submission import job_ids, submission

_POLL_SECONDS = 0.1


@dataclass(slots=True)
class RealSlurm:
    """A Slurm that runs, with the head node of its cluster."""

    plan: ParallelClusterPlan
    slurm: SlurmCluster
    shell: HeadNodeShell
    programs: Path
    """Directory on the PATH of jobs."""
    shown: list[str] = field(default_factory=list[str])
    """Lines of logs that `wait` has printed."""

    def run(self, script: str) -> str:
        """Run a script as `HeadNode.run` does, and return its standard output.

        Raises:
            CommandError: it fails.
        """
        encoded = base64.b64encode(script.encode()).decode()
        done = self.shell.run(
            [f"echo {encoded} | base64 -d | sudo -iu ec2-user bash"],
            timeout_seconds=PATIENCE,
        )
        if done.returncode:
            raise failures.CommandError(done.stderr.strip())
        return done.stdout

    def program(self, name: str, body: str) -> None:
        """Put a program on the PATH of the nodes."""
        path = self.programs / name
        path.write_text(f"#!/bin/bash\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def submit(self, *command: str, nodes: int = 1, **request: Any) -> str:
        """Submit a program as `run` does, and return the id of its job."""
        training = TrainingRequest(command=command, **{"launcher": "none", **request})
        job, _ = render_training_directory(self.plan, training, SlurmRequest(nodes=nodes))
        return self.submit_directory(job, training.name)

    def submit_directory(self, job: JobDirectory, name: str, *, before: str = "") -> str:
        """Submit a directory of scripts, and return the id of its last job.

        `before` are commands that run first.
        """
        directory = f"trainyard-jobs/{name}-{time.monotonic_ns():x}"
        return job_ids(self.run(f"{before}\n{submission(job, directory)}"))[-1]

    def wait(self, job: str) -> None:
        """Wait for a job, and keep its log in `shown`.

        Raises:
            JobFailedError: it fails.
        """
        self.shown.clear()
        pause = threading.Event()
        wait = JobWait(pause=lambda _: pause.wait(_POLL_SECONDS), show=self._show)
        wait_for(self.run, job, wait)

    def _show(self, text: object) -> None:
        self.shown.extend(str(text).splitlines())

    def job(self, job: str) -> Mapping[str, str]:
        """Return the fields of a job."""
        words = self.slurm.run("scontrol", "--oneliner", "show", "job", job).split()
        return dict(word.split("=", 1) for word in words if "=" in word)


@contextmanager
def real_slurm(stack: str, directory: Path, **changes: Any) -> Iterator[RealSlurm]:
    """Run a Slurm with the nodes of a stack, whose shared storage is a directory here."""
    plan = stack_plan(stack, **changes)
    spawner = Spawner(directory / "processes")
    slurm = SlurmCluster(
        plan.name,
        rendered(plan),
        programs=ensure_slurm(print),
        directory=directory / "slurm",
        spawn=spawner.spawn,
    )
    try:
        slurm.start()
        shell = HeadNodeShell(slurm)
        storage = directory / "shared"
        storage.mkdir()
        shared = replace(plan.shared_storage[0], mount_directory=str(storage))
        yield RealSlurm(
            replace(plan, shared_storage=(shared,)), slurm, shell, shell.programs_directory
        )
    finally:
        slurm.stop()
        spawner.stop_all()
