"""Slurm jobs for tests: their directories, and commands of a cluster that record their calls."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.support.parallelcluster import (
    FSX,
    compute_resource,
    head_node,
    p4de_plan,
    plan,
    queue,
    trn1_plan,
)
from tests.support.pools import MANAGED_PLACEMENT
from trainyard.components.catalog.instance_types import instance_type
from trainyard.components.config.node_pool import RootVolume
from trainyard.components.parallelcluster.plan import ParallelClusterPlan, SharedStoragePlan
from trainyard.jobs.slurm.bert_pretraining import render_bert_directory
from trainyard.jobs.slurm.dcgm_diag import render_dcgm_directory
from trainyard.jobs.slurm.directory import write_directory
from trainyard.jobs.slurm.nccl_tests import render_nccl_directory, render_pairs_directory
from trainyard.jobs.slurm.nccom_tests import render_nccom_directory, render_nccom_pairs_directory
from trainyard.jobs.slurm.nodes import SlurmRequest

RENDERERS = {
    "nccl-tests": render_nccl_directory,
    "nccl-pairs": render_pairs_directory,
    "nccom-tests": render_nccom_directory,
    "nccom-pairs": render_nccom_pairs_directory,
    "bert-pretraining": render_bert_directory,
    "dcgm-diag": render_dcgm_directory,
}


SCONTROL = """\
case $2 in
  hostnames) printf 'n-%s\\n' 1 2 ;;
  node) echo "NodeName=$4 NodeAddr=10.0.0.${4#n-} NodeHostName=$4" ;;
esac"""
"""A `scontrol` for a job on two nodes."""


def on_disk(path: Path) -> SharedStoragePlan:
    """Return shared storage in a directory of this machine."""
    return replace(FSX, mount_directory=str(path))


def two_resources_plan(**changes: Any) -> ParallelClusterPlan:
    """Return Trainium in one queue of two compute resources, eight nodes each (PR-60)."""
    halves = (
        compute_resource(
            name,
            instance_type=instance_type("trn1.32xlarge"),
            maximum=8,
            efa_enabled=True,
            placement=MANAGED_PLACEMENT,
        )
        for name in ("queue-0", "queue-1")
    )
    return trn1_plan(queues=(queue("compute1", *halves),), **changes)


def mixed_plan() -> ParallelClusterPlan:
    """Return a queue of p4de for training and a queue of g5 for inference."""
    full = p4de_plan()
    g5 = compute_resource("inference-g5", instance_type=instance_type("g5.2xlarge"), maximum=10)
    return replace(full, queues=(*full.queues, queue("inference-gpu", g5)))


def private_plan() -> ParallelClusterPlan:
    """Return a cluster whose head node has no key pair."""
    return plan(
        operating_system="ubuntu2204",
        head_node=head_node(public=False, key_name=None, root_volume=RootVolume(size_gib=100)),
    )


@dataclass(frozen=True)
class Cluster:
    """A directory of scripts, and a PATH with recording commands of a cluster."""

    scripts: Path
    commands: Path
    calls_file: Path

    def command(self, name: str, body: str = "") -> None:
        """Put a command on the PATH that records its arguments and then runs `body`."""
        path = self.commands / name
        record = f'printf "%s\\n" "{name} $*" >> {shlex.quote(str(self.calls_file))}'
        path.write_text(f"#!/bin/bash\n{record}\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def calls(self, name: str) -> list[str]:
        """Return the recorded calls of a command."""
        if not self.calls_file.exists():
            return []
        lines = self.calls_file.read_text(encoding="utf-8").splitlines()
        return [line.removeprefix(f"{name} ") for line in lines if line.split(" ", 1)[0] == name]

    def run(
        self, script: str, *arguments: str, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run one of the scripts as Slurm would, from its directory."""
        bash = shutil.which("bash")
        assert bash is not None
        return subprocess.run(
            [bash, str(self.scripts / script), *arguments],
            cwd=self.scripts,
            env={
                "PATH": f"{self.commands}:{os.environ['PATH']}",
                "HOME": str(self.scripts),
                "TMPDIR": tempfile.gettempdir(),
                "SLURM_SUBMIT_DIR": str(self.scripts),
                "SLURM_JOB_ID": "7",
                **environment,
            },
            text=True,
            capture_output=True,
            check=False,
        )


def cluster(tmp_path: Path, job: str, of: ParallelClusterPlan, **request: Any) -> Cluster:
    """Write the directory of a job next to the shared storage, and return it."""
    shared = tmp_path / "shared"
    shared.mkdir()
    scripts = tmp_path / job
    stored = replace(of, shared_storage=(on_disk(shared),))
    made, _ = RENDERERS[job](stored, SlurmRequest(**request))
    write_directory(made, scripts, force=False)
    commands = tmp_path / "commands"
    commands.mkdir()
    return Cluster(scripts, commands, tmp_path / "calls.txt")


def files_of(job: str, of: ParallelClusterPlan, **request: Any) -> Mapping[str, str]:
    """Return the files of a job by name."""
    return RENDERERS[job](of, SlurmRequest(**request))[0].files
