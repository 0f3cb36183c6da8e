"""The training of an acceptance: the example `pretrain`, ended in the middle and continued.

No checkpoint is due before the end, so the second run continues only from the one that the program
has written on SIGTERM, and only if all nodes write to the file system and read from it.

- EKS: in the container of the example.
- Slurm: on the nodes, whose images have no PyTorch. A job installs it on the file system first.

AWS Batch stacks have no storage, and the example does not run on Trainium1: there, a program of
Bash takes its place, which says that it has received SIGTERM. Its second run begins again.

Sources:
    https://docs.astral.sh/uv/guides/integration/pytorch/ (`--torch-backend=auto`: the build for the
        driver of the node)
    https://docs.astral.sh/uv/reference/installer/ (`UV_UNMANAGED_INSTALL`)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from trainyard.components.catalog.neuron import NCCOM_TEST_IMAGE
from trainyard.components.package_data import data_text
from trainyard.jobs.slurm.bert_pretraining import UV_VERSION
from trainyard.stack_files.files import write_whole
from trainyard.stack_files.installation import INSTALLATION
from trainyard.stack_files.yaml_reader import read_yaml, yaml_text

if TYPE_CHECKING:
    from trainyard.schedulers.scheduler import Scheduler

EXAMPLE = INSTALLATION.programs / "pretrain"
_FILES = ("train.py", "model.py")
_RECORDED = Path(__file__).parent / "recorded"
JOB, INSTALL_JOB = "acceptance", "acceptance-install"
"""Names of the jobs."""
_STEPS = 600
"""About five minutes on two T4, whose bfloat16 has no tensor cores; ten seconds pass until the
interruption has arrived, and a faster GPU has not finished by then."""
_SIZE = "--global-batch 64 --layers 6 --width 512 --heads 8"
_TRAINING = f"train.py --steps {_STEPS} --checkpoint-every {_STEPS} {_SIZE}"
_LIMIT_MINUTES = 30
_SECONDS = 120
"""Time of the program of Bash."""
_TORCH, _NUMPY, _PYTHON = "2.13.0", "2.4.6", "3.12"
"""The versions with which tests run the example (`pyproject.toml`), and a Python for them."""
_INSTALL = """\
#!/bin/bash
# PyTorch for all nodes, on the file system that they share.
set -euo pipefail
directory=$1
mkdir -p "$directory"
curl --fail --silent --show-error --location --retry 5 \\
  https://astral.sh/uv/{uv}/install.sh | env UV_UNMANAGED_INSTALL="$directory/uv" sh
export UV_PYTHON_INSTALL_DIR=$directory/python UV_CACHE_DIR=$directory/cache
"$directory/uv/uv" venv --clear --managed-python --python {python} "$directory/venv"
"$directory/uv/uv" pip install --python "$directory/venv" --torch-backend=auto \\
  torch=={torch} numpy=={numpy}
"$directory/venv/bin/python" -c 'import torch; print("PyTorch", torch.__version__)'
"""
PROGRAM = f"""\
stopped() {{ echo "stopped after step $step"; exit 143; }}
trap stopped TERM
for ((step = 1; step <= {_SECONDS}; step++)); do
  echo "step $step of node $NODE_RANK"
  sleep 1 & wait $!
done
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """What the steps of the training run.

    Attributes:
        name: `pretrain` for the example, `program` for the program of Bash.
        run: Arguments of `run` after the stack.
        began: Matches a line of the program that has begun to train.
        continues: Matches the line of a second run that says from where it continues; empty if it
            begins again.
        install: Arguments of the `run` that installs what it needs; empty if nothing.
        files: Texts of the files that the arguments name, by path.
    """

    name: Literal["pretrain", "program"]
    run: tuple[str, ...]
    began: str
    continues: str = ""
    install: tuple[str, ...] = ()
    files: Mapping[Path, str] = field(default_factory=dict[Path, str])

    def write(self) -> None:
        """Write the files.

        Raises:
            OSError: they cannot be written.
        """
        for path, text in self.files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text)

    def recording(self, step: str) -> Path | None:
        """Return the schedule that plays the jobs of a step in a sandbox, which runs nothing.

        Its logs are those of this training, recorded on processors of a laptop.
        """
        path = _RECORDED / self.name / f"{step}.yaml"
        return path if path.is_file() else None


def training_of(
    scheduler: type[Scheduler[Any]], *, nvidia: bool, storage: str, directory: Path
) -> Training:
    """Return what the nodes of a stack train.

    Args:
        scheduler: Its scheduler.
        nvidia: Whether its nodes have NVIDIA GPUs, on which the example runs.
        storage: Directory of a shared file system as the job sees it; empty if it has none.
        directory: Directory of the files.
    """
    if not nvidia or not storage:
        image = ("--image", NCCOM_TEST_IMAGE) if scheduler.chooses_image else ()
        named = ("--name", JOB, "--launcher", "none", *image)
        run = (*named, "--", "bash", "-c", PROGRAM)
        return Training(name="program", run=run, began=r"step 5 of node 0")
    checkpoints = f"{storage.rstrip('/')}/{JOB}"
    files = {name: data_text(EXAMPLE / name) for name in _FILES}
    job = {
        "name": JOB,
        "files": [*_FILES],
        "command": _TRAINING,
        "checkpoint_directory": f"{checkpoints}/checkpoints",
        "time_limit_minutes": _LIMIT_MINUTES,
        **_pytorch_settings(scheduler, checkpoints),
    }
    installs = _install_files(checkpoints) if scheduler.node_path else {}
    texts = {**files, "job.yaml": yaml_text(job), **installs}
    return Training(
        name="pretrain",
        run=("--file", str(directory / "job.yaml")),
        began=r"step [1-9]\d* loss ",
        continues=rf"continues from /\S*/{JOB}/checkpoints/step-",
        install=("--file", str(directory / "install.yaml")) if installs else (),
        files={directory / name: text for name, text in texts.items()},
    )


def _install_files(checkpoints: str) -> dict[str, str]:
    versions = {"uv": UV_VERSION, "python": _PYTHON, "torch": _TORCH, "numpy": _NUMPY}
    job = {
        "name": INSTALL_JOB,
        "nodes": 1,
        "launcher": "none",
        "files": ["install.sh"],
        "command": ["bash", "install.sh", checkpoints],
    }
    return {"install.sh": _INSTALL.format(**versions), "install.yaml": yaml_text(job)}


def _pytorch_settings(scheduler: type[Scheduler[Any]], checkpoints: str) -> dict[str, Any]:
    """Return the keys of the job file with which the example finds PyTorch."""
    if scheduler.chooses_image:
        return {"image": read_yaml(EXAMPLE / "gpu.yaml")["image"]}
    if scheduler.node_path:
        return {"environment": {"PATH": f"{checkpoints}/venv/bin:{scheduler.node_path}"}}
    return {}
