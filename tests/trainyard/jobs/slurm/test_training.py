"""`run` for Slurm: the script starts the program on every node, with its rank and the address."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.parallelcluster import p4de_plan, trn1_plan
from tests.support.programs import render_training_directory
from tests.support.slurm_jobs import SCONTROL, Cluster, mixed_plan, on_disk
from trainyard.jobs.nodes import JobError
from trainyard.jobs.secret_source import HeadNodeFile
from trainyard.jobs.slurm.directory import write_directory
from trainyard.jobs.slurm.nodes import SlurmRequest
from trainyard.jobs.training import TrainingRequest

SRUN = """\
while [ "$1" != bash ]; do shift; done
for SLURM_NODEID in 0 1; do export SLURM_NODEID; "$@"; done"""
SHOW_SECRET = 'printf %s "$HF_TOKEN" | sha256sum; tr "\\0" " " < /proc/$$/cmdline'
SECRET = "hf_planted $(id) 'value'"
SHOW = 'echo "$PET_NODE_RANK of $PET_NNODES x $PET_NPROC_PER_NODE at $MASTER_ADDR: $*"'


def test_the_script_of_a_stack_stays_as_it_is(golden) -> None:
    request = TrainingRequest(command=("train.py", "a b"), name="llm", time_limit_minutes=90)
    job, _ = render_training_directory(p4de_plan(), request, SlurmRequest(nodes=2))
    golden("jobs/slurm/train-p4de/train.sbatch", job.files["train.sbatch"])
    assert job.submit == ("sbatch train.sbatch",)


def test_every_node_gets_its_rank_and_the_address_of_the_first(tmp_path: Path) -> None:
    """The script runs in a real Bash; `srun` starts its command once per node."""
    (tmp_path / "shared").mkdir()
    plan = replace(trn1_plan(), shared_storage=(on_disk(tmp_path / "shared"),))
    request = TrainingRequest(command=("train.py", "a b"))
    job, nodes = render_training_directory(plan, request, SlurmRequest(nodes=2))
    assert "#SBATCH --gpus-per-node" not in job.files["train.sbatch"]
    assert "export FI_EFA_USE_DEVICE_RDMA=1\n" in job.files["train.sbatch"]
    write_directory(job, tmp_path / "train", force=False)
    (tmp_path / "commands").mkdir()
    cluster = Cluster(tmp_path / "train", tmp_path / "commands", tmp_path / "calls.txt")
    for name, body in (("scontrol", SCONTROL), ("srun", SRUN), ("torchrun", SHOW)):
        cluster.command(name, body)
    done = cluster.run("train.sbatch", SLURM_JOB_NODELIST="n-[1-2]")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"{rank} of 2 x 32 at 10.0.0.1: train.py a b" for rank in (0, 1)
    ]
    assert nodes.count == 2


def test_a_container_mounts_the_shared_storage_and_begins_at_home() -> None:
    image = "nvcr.io#nvidia/pytorch:25.01-py3"
    request = TrainingRequest(command=("train.py",), image=image)
    job, _ = render_training_directory(p4de_plan(), request, SlurmRequest())
    script = job.files["train.sbatch"]
    assert f"srun --kill-on-bad-exit=1 '--container-image={image}' --container-mounts=" in script
    assert "\ncd\n" in script
    assert '--container-workdir="$PWD" \\' in script


@pytest.mark.parametrize(
    ("image", "option"),
    [
        ("nvcr.io/nvidia/pytorch:1", "'--container-image=nvcr.io#nvidia/pytorch:1'"),
        ("$oauthtoken@nvcr.io#a/b", "'--container-image=$oauthtoken@nvcr.io#a/b'"),
        ("docker.io/pytorch/pytorch:1", "--container-image=pytorch/pytorch:1"),
        ("./images/x.sqsh", "--container-image=./images/x.sqsh"),
        ("/fsx/x.sqsh", "--container-image=/fsx/x.sqsh"),
        ("~/x.sqsh", '--container-image="$HOME"/x.sqsh'),
    ],
)
def test_enroot_gets_an_image_in_its_own_spelling(image: str, option: str) -> None:
    """https://github.com/NVIDIA/pyxis#usage: `[USER@][REGISTRY#]IMAGE[:TAG]|PATH`."""
    request = TrainingRequest(command=("train.py",), image=image)
    job, _ = render_training_directory(p4de_plan(), request, SlurmRequest())
    assert f" {option} --container-mounts=" in job.files["train.sbatch"]


def test_a_squashfs_file_of_the_home_directory_is_found_from_the_directory_of_the_job() -> None:
    files = {"train.py": "print(1)"}
    request = TrainingRequest(command=("train.py",), image="./x.sqsh", files=files)
    job, _ = render_training_directory(p4de_plan(), request, SlurmRequest())
    assert ' --container-image="$HOME"/x.sqsh --container' in job.files["train.sbatch"]
    assert [*job.needs] == ["x.sqsh"]


@pytest.mark.parametrize(
    ("command", "changes", "needs"),
    [
        (("train.py",), {}, ["train.py"]),
        (("python", "./src/train.py"), {}, ["src/train.py"]),
        (("/fsx/train.py",), {}, ["/fsx/train.py"]),
        (("/data/train.py",), {"image": "a/b", "mounts": {"fsx": "/data"}}, ["/fsx/train.py"]),
        (("/opt/train.py",), {"image": "a/b"}, []),
        (("python", "-m", "llm.train"), {}, []),
        (("bash", "-c", "python train.py"), {}, []),
        (("train.py",), {"files": {"train.py": ""}, "image": "/fsx/x.sqsh"}, ["/fsx/x.sqsh"]),
    ],
)
def test_the_head_node_must_have_what_the_nodes_share_with_it(
    command: tuple[str, ...], changes: dict[str, Any], needs: list[str]
) -> None:
    request = TrainingRequest(command=command, **changes)
    job, _ = render_training_directory(p4de_plan(), request, SlurmRequest())
    assert [*job.needs] == needs


def test_a_job_that_lost_nodes_starts_again_until_the_limit(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    plan = replace(trn1_plan(), shared_storage=(on_disk(tmp_path / "shared"),))
    request = TrainingRequest(command=("train.py",), restarts=1)
    job, _ = render_training_directory(plan, request, SlurmRequest(nodes=2))
    assert "#SBATCH --requeue\n" in job.files["train.sbatch"]
    write_directory(job, tmp_path / "train", force=False)
    (tmp_path / "commands").mkdir()
    cluster = Cluster(tmp_path / "train", tmp_path / "commands", tmp_path / "calls.txt")
    show = 'echo "$PET_RDZV_BACKEND at $PET_RDZV_ENDPOINT, $PET_MAX_RESTARTS restarts"'
    for name, body in (("scontrol", SCONTROL), ("srun", SRUN), ("torchrun", show)):
        cluster.command(name, body)
    again = cluster.run("train.sbatch", SLURM_JOB_NODELIST="n-[1-2]", SLURM_RESTART_COUNT="1")
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines() == ["c10d at 10.0.0.1:29500, 1 restarts"] * 2
    last = cluster.run("train.sbatch", SLURM_JOB_NODELIST="n-[1-2]", SLURM_RESTART_COUNT="2")
    assert last.returncode == 1
    assert "lost nodes more than 1 times" in last.stderr


def test_a_job_without_restarts_starts_again_only_after_lost_nodes() -> None:
    request = TrainingRequest(command=("train.py",))
    job, _ = render_training_directory(p4de_plan(), request, SlurmRequest())
    script = job.files["train.sbatch"]
    assert "#SBATCH --requeue\n" in script
    assert "if ((${SLURM_RESTART_COUNT:-0} > 3)); then\n" in script
    assert "PET_MAX_RESTARTS" not in script


@pytest.mark.parametrize(
    ("left_minutes", "limits"), [(100, []), (40, ["update JobId=7 TimeLimit=45"])]
)
def test_a_job_that_waited_has_less_time(
    tmp_path: Path, left_minutes: int, limits: list[str]
) -> None:
    cluster = stopping(tmp_path, left_minutes)
    done = cluster.run("train.sbatch", SLURM_JOB_NODELIST="n-[1-2]")
    assert done.returncode == 0, done.stderr
    assert [each for each in cluster.calls("scontrol") if each.startswith("update")] == limits
    script = (cluster.scripts / "train.sbatch").read_text(encoding="utf-8")
    assert "#SBATCH --time=65\n#SBATCH --signal=TERM@300\n" in script


def test_a_job_does_not_start_when_the_nodes_leave(tmp_path: Path) -> None:
    cluster = stopping(tmp_path, -5)
    done = cluster.run("train.sbatch", SLURM_JOB_NODELIST="n-[1-2]")
    assert done.returncode == 1
    assert "the nodes of the Capacity Block leave" in done.stderr
    assert not cluster.calls("srun")


def stopping(tmp_path: Path, left_minutes: int) -> Cluster:
    """Return a job of an hour whose nodes leave it less time; its clock does not advance."""
    (tmp_path / "shared").mkdir()
    plan = replace(trn1_plan(), shared_storage=(on_disk(tmp_path / "shared"),))
    stops_at = datetime.fromtimestamp(1000, UTC) + timedelta(minutes=left_minutes)
    request = TrainingRequest(command=("train.py",), time_limit_minutes=60, stops_at=stops_at)
    job, _ = render_training_directory(plan, request, SlurmRequest(nodes=2))
    write_directory(job, tmp_path / "train", force=False)
    (tmp_path / "commands").mkdir()
    cluster = Cluster(tmp_path / "train", tmp_path / "commands", tmp_path / "calls.txt")
    for name, body in (("scontrol", SCONTROL), ("srun", ""), ("date", "echo 1000")):
        cluster.command(name, body)
    return cluster


def test_a_program_with_files_runs_beside_them(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    plan = replace(trn1_plan(), shared_storage=(on_disk(tmp_path / "shared"),))
    request = TrainingRequest(command=("train.py",), files={"train.py": "the program"})
    job, _ = render_training_directory(plan, request, SlurmRequest(nodes=2))
    write_directory(job, tmp_path / "train", force=False)
    (tmp_path / "commands").mkdir()
    cluster = Cluster(tmp_path / "train", tmp_path / "commands", tmp_path / "calls.txt")
    for name, body in (("scontrol", SCONTROL), ("srun", SRUN), ("torchrun", 'cat "$1"')):
        cluster.command(name, body)
    done = cluster.run("train.sbatch", SLURM_JOB_NODELIST="n-[1-2]")
    assert done.stdout == "the program" * 2, done.stderr


def test_storage_has_the_path_in_the_container_that_the_job_names() -> None:
    plan = p4de_plan()
    storage = plan.shared_storage[0]
    path = f"/{storage.mount_directory.strip('/')}"
    wanted = TrainingRequest(command=("x",), image="i", mounts={storage.name: "/data"})
    job, _ = render_training_directory(plan, wanted, SlurmRequest())
    assert f"{path}:/data" in job.files["train.sbatch"]
    assert "/home:/home" in job.files["train.sbatch"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"mounts": {"other": "/x"}, "image": "i"}, "but the storage of"),
        ({"mounts": {"NAME": "/x"}}, "`mounts` is for containers"),
        ({"checkpoint_directory": "/tmp/x"}, "lost with its node; use a directory in"),
        ({"minimum_nodes": 1, "restarts": 1}, "`minimum_nodes` is for EKS"),
        ({"files": {"train.sbatch": ""}}, "the job has its own train.sbatch; rename yours"),
        ({"files": {"model.py": ""}}, "the job has no train.py: with `files`"),
        ({"files": {"train.py": ""}, "launcher": "none"}, "write `python train.py`"),
        ({"image": "/opt/x.sqsh"}, "the nodes do not share; copy it to .*/home"),
        ({"image": "x.sqsh"}, "write its path on the cluster: ./x.sqsh"),
    ],
)
def test_what_slurm_cannot_run_is_refused(changes: dict[str, Any], says: str) -> None:
    plan = p4de_plan()
    if "NAME" in changes.get("mounts", {}):
        changes = {"mounts": {plan.shared_storage[0].name: "/x"}}
    with pytest.raises(JobError, match=says):
        render_training_directory(
            plan, TrainingRequest(command=("train.py",), **changes), SlurmRequest()
        )


def test_several_compute_resources_need_a_name() -> None:
    request = TrainingRequest(command=("train.py",))
    with pytest.raises(JobError, match="several compute resources with accelerators"):
        render_training_directory(mixed_plan(), request, SlurmRequest())
    job, nodes = render_training_directory(
        mixed_plan(), request, SlurmRequest(queue="inference-gpu", nodes=1)
    )
    assert nodes.resource.instance_type.name == "g5.2xlarge"
    assert "NCCL_NET=Socket" in job.files["train.sbatch"]


def with_secret(tmp_path: Path, **changes: Any) -> Cluster:
    """Return a job whose program gets HF_TOKEN from a file in the home directory."""
    (tmp_path / "shared").mkdir()
    plan = replace(trn1_plan(), shared_storage=(on_disk(tmp_path / "shared"),))
    secrets = {"HF_TOKEN": HeadNodeFile("~/.secrets/hf")}
    request = TrainingRequest(**{"command": ("train.py",), "secrets": secrets, **changes})
    job, _ = render_training_directory(plan, request, SlurmRequest(nodes=2))
    assert job.submit == (
        "source ./secrets.sh",
        "secret_in ~/.secrets/hf > /dev/null",
        "sbatch train.sbatch",
    )
    write_directory(job, tmp_path / "train", force=False)
    (tmp_path / "commands").mkdir()
    cluster = Cluster(tmp_path / "train", tmp_path / "commands", tmp_path / "calls.txt")
    for name, body in (("scontrol", SCONTROL), ("srun", SRUN), ("torchrun", SHOW_SECRET)):
        cluster.command(name, body)
    return cluster


def secret_file(home: Path, mode: int = 0o600, text: str = f"{SECRET}\n") -> Path:
    path = home / ".secrets" / "hf"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def test_the_program_gets_a_secret_that_no_file_and_no_command_of_the_job_has(
    tmp_path: Path,
) -> None:
    cluster = with_secret(tmp_path)
    secret_file(tmp_path / "home")
    nodes = {"SLURM_JOB_NODELIST": "n-[1-2]", "HOME": str(tmp_path / "home")}
    done = cluster.run("train.sbatch", **nodes)
    assert done.returncode == 0, done.stderr
    digest = hashlib.sha256(SECRET.encode()).hexdigest()
    assert done.stdout.count(digest) == 2
    written = [each.read_text(encoding="utf-8") for each in cluster.scripts.iterdir()]
    calls = cluster.calls_file.read_text(encoding="utf-8")
    for text in (*written, calls, done.stdout, done.stderr):
        assert "hf_planted" not in text


@pytest.mark.parametrize(
    ("mode", "text", "says"),
    [
        (0o640, "x", "has the mode 640, so that others may read the secret; run: chmod 600"),
        (0o604, "x", "has the mode 604"),
        (0o600, "", "is empty"),
        (None, "", "(umask 077; mkdir -p "),
    ],
)
def test_a_job_with_a_secret_that_others_can_read_does_not_start(
    tmp_path: Path, mode: int | None, text: str, says: str
) -> None:
    cluster = with_secret(tmp_path)
    (tmp_path / "home").mkdir()
    if mode is not None:
        secret_file(tmp_path / "home", mode, text)
    nodes = {"SLURM_JOB_NODELIST": "n-[1-2]", "HOME": str(tmp_path / "home")}
    done = cluster.run("train.sbatch", **nodes)
    assert done.returncode == 1
    assert says in done.stderr
    assert not cluster.calls("srun")
