"""`run --launcher mpi`: one process per accelerator on all nodes, under each scheduler."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.eks import P5, SHARED_LUSTRE, eks_plan, nodes_of
from tests.support.parallelcluster import p4de_plan, trn1_plan
from tests.support.programs import (
    manifests_of,
    render_training,
    render_training_directory,
    training_submission,
)
from tests.support.slurm_jobs import SCONTROL, Cluster, on_disk
from tests.support.stacks import prepared
from trainyard.components.catalog.open_mpi import mpirun_script
from trainyard.jobs.batch_request import BatchRequest
from trainyard.jobs.mpi import _SERVE
from trainyard.jobs.nodes import JobError, JobRequest
from trainyard.jobs.slurm.directory import write_directory
from trainyard.jobs.slurm.nodes import SlurmRequest
from trainyard.jobs.training import TrainingRequest


def mpi(*command: str, **changes: Any) -> TrainingRequest:
    return TrainingRequest(command=command or ("bench", "-x"), launcher="mpi", **changes)


def bash(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    found = shutil.which("bash")
    assert found is not None
    words = [found, "-euo", "pipefail", "-c", script]
    environment = {"TMPDIR": tempfile.gettempdir(), **environment}
    return subprocess.run(words, env=environment, text=True, capture_output=True, check=False)


def command(directory: Path, name: str, body: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_text(f"#!/bin/bash\n{body}\n", encoding="utf-8")
    (directory / name).chmod(0o755)


def test_mpirun_starts_one_process_per_accelerator_on_the_hosts_of_the_plan(
    tmp_path: Path,
) -> None:
    """The script runs in a real Bash; `mpirun` notes its hosts and arguments."""
    show = 'for last; do [ "$before" = --hostfile ] && cat "$last"; before=$last; done; echo "$*"'
    command(tmp_path / "mpi" / "bin", "mpirun", show)
    script = mpirun_script(
        ["bench", "a b"],
        ranks="16",
        processes=8,
        hosts="train-0.train train-1.train",
        variables=["NCCL_NET"],
        grace_seconds=300,
    )
    path = f"{tmp_path / 'mpi' / 'bin'}:{os.environ['PATH']}"
    done = bash(script, PATH=path, HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    first, second, *_, said = done.stdout.splitlines()
    assert (first, second) == ("train-0.train slots=8", "train-1.train slots=8")
    for words in (
        f"--prefix {tmp_path / 'mpi'} -np 16",
        "--map-by ppr:8:node",
        "-x PATH -x NCCL_NET",
        "--mca odls_base_sigkill_timeout 270 bench a b",
    ):
        assert words in said


@pytest.mark.parametrize(
    ("type_name", "ranks", "network"),
    [("p5.48xlarge", "-np 16 ", "NCCL_NET"), ("trn1.32xlarge", "-np 64 ", "FI_PROVIDER")],
)
def test_a_job_of_eks_has_a_rank_for_each_accelerator(
    type_name: str, ranks: str, network: str
) -> None:
    asked = mpi(image="i", name="llm", environment={"MINE": "1"}, time_limit_minutes=90)
    text = render_training(eks_plan(nodes_of(type_name)), asked, JobRequest(nodes=2))
    (manifest,) = manifests_of(text)
    spec = manifest.job["spec"]
    assert manifest.name == "llm"
    assert [rule["action"] for rule in spec["podFailurePolicy"]["rules"]] == ["FailJob"] * 3
    pod = spec["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] == 300
    (container,) = pod["containers"]
    script = container["command"][-1]
    assert ranks in script
    assert 'exec timeout -k 300 "$left" ' in script
    assert f"-x {network} " in script
    assert "-x MINE " in script
    variables = {each["name"]: each["value"] for each in container["env"]}
    assert (variables["MASTER_ADDR"], variables["TIME_LIMIT_SECONDS"]) == ("llm-0.llm", "5400")
    assert (variables["OMPI_MCA_btl"], variables["MINE"]) == ("tcp,self", "1")
    assert "PET_NNODES" not in variables


def test_a_job_of_eks_has_files_and_file_systems() -> None:
    plan = replace(eks_plan(P5), file_systems=(SHARED_LUSTRE,))
    asked = mpi(image="i", files={"a.py": "1"}, checkpoint_directory="/mnt/data/x")
    *others, job = yaml.safe_load_all(render_training(plan, asked, JobRequest()))
    (files,) = [each["data"] for each in others if each["kind"] == "ConfigMap"]
    assert files == {"a.py": "1"}
    (container,) = job["spec"]["template"]["spec"]["containers"]
    mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    assert (mounts["data"], mounts["files"]) == ("/mnt/data", container["workingDir"])
    with pytest.raises(JobError, match="its own authorized_keys"):
        render_training(plan, mpi(image="i", files={"authorized_keys": ""}), JobRequest())


def test_the_other_pods_end_after_the_programs(tmp_path: Path) -> None:
    """mpirun gives the programs time for a checkpoint; `orted` is their parent on each node."""
    sleep = shutil.which("sleep")
    assert sleep is not None
    shutil.copy(sleep, tmp_path / "orted")
    (trap,) = [line for line in _SERVE.splitlines() if line.lstrip().startswith("trap")]
    script = f"{tmp_path / 'orted'} 0.4 &\n{trap}\nkill -TERM $$\nwait\n"
    began = time.monotonic()
    done = bash(script, PATH=os.environ["PATH"])
    assert (done.returncode, done.stderr) == (0, "")
    assert time.monotonic() - began >= 0.4


def test_slurm_starts_a_task_per_accelerator(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    plan = replace(trn1_plan(), shared_storage=(on_disk(tmp_path / "shared"),))
    job, _ = render_training_directory(plan, mpi("bench", "a b"), SlurmRequest(nodes=2))
    assert "#SBATCH --ntasks-per-node=32\n" in job.files["train.sbatch"]
    write_directory(job, tmp_path / "train", force=False)
    (tmp_path / "commands").mkdir()
    cluster = Cluster(tmp_path / "train", tmp_path / "commands", tmp_path / "calls.txt")
    show = 'echo "$LD_LIBRARY_PATH"; echo "$MASTER_ADDR $OMPI_MCA_pml"'
    for name, body in (("scontrol", SCONTROL), ("srun", show)):
        cluster.command(name, body)
    done = cluster.run("train.sbatch", SLURM_JOB_NODELIST="n-[1-2]", LD_LIBRARY_PATH="/own")
    assert done.returncode == 0, done.stderr
    path, said = done.stdout.splitlines()
    assert path.startswith("/opt/amazon/openmpi/lib:/opt/amazon/openmpi/lib64:/own:/opt/amazon/")
    assert path.endswith("/opt/amazon/efa/lib:/opt/amazon/efa/lib64")
    assert said == "10.0.0.1 ^cm,ucx"
    assert cluster.calls("srun") == ["--mpi=pmix --cpu-bind=none --kill-on-bad-exit=1 bench a b"]


def test_a_container_has_its_own_mpi() -> None:
    job, _ = render_training_directory(p4de_plan(), mpi(image="i"), SlurmRequest())
    script = job.files["train.sbatch"]
    assert "srun --mpi=pmix --cpu-bind=none --kill-on-bad-exit=1 --container-image=i " in script
    assert "LD_LIBRARY_PATH" not in script


@pytest.mark.parametrize(("name", "processes"), [("batch-p5", 8), ("batch-trn1", 32)])
def test_the_main_node_of_batch_starts_all_processes(
    tmp_path: Path, name: str, processes: int
) -> None:
    """Its script runs in a real Bash, as the container of the main node runs it."""
    plan: Any = prepared(name).plan
    made = training_submission(plan, mpi(time_limit_minutes=5), BatchRequest(nodes=2)).request
    (everywhere,) = made["nodeOverrides"]["nodePropertyOverrides"]
    python, _, _, script = everywhere["containerOverrides"]["command"]
    assert python == "python3"
    assert len(json.dumps(everywhere["containerOverrides"])) < 8192
    for each in ("mpirun", "timeout"):
        command(tmp_path, each, f'echo "{each} $*"')
    limit = {"TIME_LIMIT_SECONDS": "300"}
    given = {**limit, "NODES": "2", "HOSTS": "10.0.0.1 10.0.0.2", "INTERFACE": "ens5"}
    done = bash(script, PATH=f"{tmp_path}:{os.environ['PATH']}", **given)
    assert done.returncode == 0, done.stderr
    first, second, said = done.stdout.splitlines()
    assert (first, second) == (f"10.0.0.1 slots={processes}", f"10.0.0.2 slots={processes}")
    assert said.startswith(f"timeout -k 300 300 {tmp_path}/mpirun ")
    assert f"-np {2 * processes} " in said
    assert "--mca oob_tcp_if_include ens5 -x NCCL_SOCKET_IFNAME bench -x" in said
