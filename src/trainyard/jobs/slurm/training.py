"""`run` for Slurm: a batch script that starts a program on every node of a compute resource.

Source:
    https://slurm.schedmd.com/sbatch.html (`--requeue`, `--open-mode`, `SLURM_RESTART_COUNT`,
        `--signal`)
    https://slurm.schedmd.com/slurm.conf.html: `RequeueExit` is empty by default, so that a program
        that fails is not requeued
    https://slurm.schedmd.com/scontrol.html: `TimeLimit`; users can decrease that of their jobs
    https://slurm.schedmd.com/srun.html (`SLURM_NODEID`, `--kill-on-bad-exit`, `--mpi`)
    https://github.com/aws/aws-parallelcluster, tests/integration-tests/tests/common/mpi_common.py:
        Slurm starts programs of Open MPI with `srun --mpi=pmix`
    https://github.com/awslabs/awsome-distributed-ai, micro-benchmarks/nccl-tests/slurm: the same in
        containers, without binding to CPUs
    https://github.com/NVIDIA/pyxis#usage (`--container-image`, `--container-mounts`;
        `--container-env` names the variables that override those of the image)
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from trainyard.components.catalog.image_references import ImageFile, ImageReference
from trainyard.components.catalog.nccl import MPI
from trainyard.components.catalog.open_mpi import OPEN_MPI_ENVIRONMENT
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.jobs.nodes import JobError
from trainyard.jobs.program_files import named_file
from trainyard.jobs.secret_source import files_on_head_node
from trainyard.jobs.slurm.directory import LIBRARY_PATH, JobDirectory, exports, render_script
from trainyard.jobs.slurm.neuron import ADDRESSES, efa_environment
from trainyard.jobs.slurm.nodes import (
    HOME,
    SlurmNodes,
    SlurmRequest,
    choose_slurm_nodes,
)
from trainyard.jobs.start import start_command
from trainyard.jobs.time_limit import GRACE_SECONDS, TimeLimit
from trainyard.jobs.training import (
    INFRASTRUCTURE_RETRIES,
    TrainingRequest,
    launch_command,
    node_environment,
    processes_of,
    refuse_fewer_nodes,
    rendezvous,
    require_shared,
    require_storage,
    require_torchrun,
)

BATCH_SCRIPT = "train.sbatch"
_SCRIPT, _SECRETS = "training/train.sbatch", "training/secrets.sh"
_PER_NODE = """\
start=$(cat << 'START'
{2}START
)
# One task per node; torchrun starts the other processes of its node.
srun --kill-on-bad-exit=1{0} \\
  bash -c "$start" {1}"""
_RANK = "export NODE_RANK=$SLURM_NODEID PET_NODE_RANK=$SLURM_NODEID\n"
_PER_PROCESS = """\
{2}# One task per accelerator.
srun --mpi=pmix --cpu-bind=none --kill-on-bad-exit=1{0} \\
  {1}"""
_LIBRARIES = f"""\
MPI_HOME=${{MPI_HOME:-{MPI}}}
LD_LIBRARY_PATH=$MPI_HOME/lib:$MPI_HOME/lib64${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}
{LIBRARY_PATH}
export LD_LIBRARY_PATH
"""
_GRACE_MINUTES = GRACE_SECONDS // 60
_UNLIMITED = "#SBATCH --time=UNLIMITED"
"""https://slurm.schedmd.com/sbatch.html#OPT_time: a partition may still have a limit."""
_LIMITED = """\
#SBATCH --time={0}
#SBATCH --signal=TERM@{1}"""
_STOP = """\
# The nodes leave then. A job that has waited for nodes, or was requeued, has less time.
left=$((({0} - $(date +%s)) / 60))
if ((left < 1)); then
  echo "the nodes of the Capacity Block leave, and the program is not started" >&2
  exit 1
elif ((left < {1})); then
  scontrol update JobId="$SLURM_JOB_ID" TimeLimit=$left
fi"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmTraining:
    """A program on a compute resource whose nodes can run it."""

    request: TrainingRequest
    nodes: SlurmNodes
    mounts: Mapping[str, str]
    """Paths of the shared directories in a container, by their paths on the nodes."""
    secrets: Mapping[str, str]
    """Paths of files on the head node, by variable."""

    def directory(self, limit: TimeLimit) -> JobDirectory:
        """Return the scripts of the program with a time limit."""
        request, nodes = self.request.limited(limit), self.nodes
        gpus = nodes.accelerators.count if nodes.accelerators.manufacturer == "nvidia" else 0
        mpi = request.launcher == "mpi"
        exported = f"{exports(self._environment())}{_exported(self.secrets)}"
        values = {
            "name": request.name,
            "placement": nodes.placement,
            "nodes": nodes.count,
            "devices": f"#SBATCH --gpus-per-node={gpus}" if gpus else "#",
            "options": "\n".join(_options(request)),
            "description": nodes.description,
            "retries": request.restarts or INFRASTRUCTURE_RETRIES,
            "stop": _stop(request),
            "environment": f"{_rendezvous(request)}{exported}",
            "directory": ' "$SLURM_SUBMIT_DIR"' if request.files else "",
            "tasks": processes_of(nodes.accelerators, nodes.accelerators.count) if mpi else 1,
            "program": _program(request, self.mounts),
        }
        templates = _templates(self.secrets).items()
        scripts = {name: render_script(template, values) for name, template in templates}
        return JobDirectory(
            files={**scripts, **request.files},
            needs={**_needed_program(request, self.mounts), **_needed_image(request)},
            submit=(*_checked(self.secrets), f"sbatch {BATCH_SCRIPT}"),
            results=(f"tail -f {request.name}-*.out",),
            job_names=(request.name,),
        )

    def _environment(self) -> dict[str, str]:
        nodes = self.nodes
        environment = node_environment(
            self.request,
            nodes.accelerators,
            devices=nodes.accelerators.count,
            nodes=nodes.count,
            efa_interfaces=nodes.efa_interfaces,
        )
        if nodes.accelerators.manufacturer == "neuron":
            environment = {**efa_environment(nodes), **environment}
        if self.request.launcher == "mpi":
            environment = {**OPEN_MPI_ENVIRONMENT, **environment}
        return environment


def plan_training(
    plan: ParallelClusterPlan, request: TrainingRequest, slurm: SlurmRequest
) -> SlurmTraining:
    """Return a program on a compute resource with accelerators.

    Args:
        plan: Plan of the stack.
        request: The program. Its paths are relative to the directory of the job if it has files,
            otherwise to the home directory; all nodes share both.
        slurm: Queue, compute resource and number of nodes.

    Raises:
        JobError: the stack has no such nodes, or too few.
    """
    nodes = choose_slurm_nodes(plan, None, slurm)
    refuse_fewer_nodes(request, "Slurm")
    require_torchrun(request)
    mounts = _mounts(plan, request)
    require_shared(request, mounts.values())
    secrets = _secret_files(request, mounts)
    _review_image(request, mounts)
    taken = sorted(_templates(secrets).keys() & request.files.keys())
    if taken:
        raise JobError(f"the job has its own {', '.join(taken)}; rename yours in `files`")
    _review_program(request)
    return SlurmTraining(request=request, nodes=nodes, mounts=mounts, secrets=secrets)


def _templates(secrets: Mapping[str, str]) -> dict[str, str]:
    """Return the templates of the scripts of a job, by name."""
    more = {"secrets.sh": _SECRETS} if secrets else {}
    return {BATCH_SCRIPT: _SCRIPT, "addresses.sh": ADDRESSES, **more}


def _options(request: TrainingRequest) -> list[str]:
    """Return the options of sbatch that follow from the program.

    With a limit, Slurm ends the job: with SIGTERM first, then SIGKILL.
    """
    if request.time_limit_minutes is None:
        return [_UNLIMITED]
    return [_LIMITED.format(request.time_limit_minutes + _GRACE_MINUTES, GRACE_SECONDS)]


def _stop(request: TrainingRequest) -> str:
    """Return the shell commands that end the job in time, whenever it starts."""
    if request.stops_at is None or request.time_limit_minutes is None:
        return "#"
    nodes_leave_at = int(request.stops_at.timestamp()) + GRACE_SECONDS
    return _STOP.format(nodes_leave_at, request.time_limit_minutes + _GRACE_MINUTES)


def _program(request: TrainingRequest, mounts: Mapping[str, str]) -> str:
    """Return the shell commands that start the program on all nodes."""
    container = _container(request, mounts)
    if request.launcher == "mpi":
        command = shlex.join(launch_command(request))
        return _PER_PROCESS.format(container, command, "" if container else _LIBRARIES)
    _, _, script, *words = start_command(request, _RANK)
    return _PER_NODE.format(container, shlex.join(words), script)


def _rendezvous(request: TrainingRequest) -> str:
    found = rendezvous(request, "$MASTER_ADDR")
    return "".join(f'export {name}="{value}"\n' for name, value in found.items())


def _secret_files(request: TrainingRequest, shared: Iterable[str]) -> dict[str, str]:
    """Return the files with the secrets of the program, by variable.

    Raises:
        JobError: the nodes have another file of that path, or none.
    """
    found, places = files_on_head_node(request.secrets), list(shared)
    for name, each in found.items():
        path = PurePosixPath(each.path)
        if path.is_absolute() and not any(path.is_relative_to(place) for place in places):
            raise JobError(
                f"the secret {name} is in {path}, which the nodes do not share with the head node; "
                f"use a file in {' or '.join(places)}. A shell replaces `~` with your home "
                f"directory on this machine unless it is quoted: --secret '{name}=~/{path.name}'"
            )
    return {name: each.path for name, each in found.items()}


def _checked(secrets: Mapping[str, str]) -> list[str]:
    """Return the commands for the head node that refuse a job whose secrets nobody could read."""
    checks = [f"secret_in {path} > /dev/null" for path in secrets.values()]
    return ["source ./secrets.sh", *checks] if checks else []


def _exported(secrets: Mapping[str, str]) -> str:
    """Return the shell lines that read the secrets, when the job runs."""
    if not secrets:
        return ""
    lines = [f"{name}=$(secret_in {path})\nexport {name}" for name, path in secrets.items()]
    return "\n".join(
        ["", "# shellcheck source=secrets.sh", 'source "$SLURM_SUBMIT_DIR/secrets.sh"', *lines]
    )


def _mounts(plan: ParallelClusterPlan, request: TrainingRequest) -> dict[str, str]:
    """Return the paths of all shared directories as the program sees them.

    Raises:
        JobError: other paths without a container, or for storage that the stack does not have.
    """
    stored = {each.name: f"/{each.mount_directory.strip('/')}" for each in plan.shared_storage}
    require_storage(request, stored, f"the storage of {plan.name} is")
    if request.mounts and request.image is None:
        raise JobError(
            "`mounts` is for containers, and the job has no `image`; without one, storage has the "
            "paths of the stack file"
        )
    return {
        **{path: request.mounts.get(name, path) for name, path in stored.items()},
        **{path: path for path in (HOME,) if path not in stored.values()},
    }


def _image_option(request: TrainingRequest) -> str:
    """Return the option of Pyxis with the image, as a word of a shell."""
    image = request.image_of_enroot()
    if isinstance(image, ImageReference):
        return shlex.quote(f"--container-image={image.enroot_name}")
    path = image.path if image else ""
    if path.startswith("~") or (request.files and not path.startswith("/")):
        # The script runs in the directory of the job.
        return f'--container-image="$HOME"/{shlex.quote(_below_home(path))}'
    return shlex.quote(f"--container-image={path}")


def _below_home(path: str) -> str:
    return path.removeprefix("~/").removeprefix("./")


def _needed_image(request: TrainingRequest) -> dict[str, str]:
    image = request.image_of_enroot()
    if not isinstance(image, ImageFile):
        return {}
    why = f"the head node has no {image.path}, the image of the job; copy the file there"
    return {image.path if image.path.startswith("/") else _below_home(image.path): why}


def _review_image(request: TrainingRequest, shared: Iterable[str]) -> None:
    """Refuse a squashfs file that is not on shared storage.

    Raises:
        JobError: the nodes do not share it.
    """
    image, places = request.image_of_enroot(), list(shared)
    if not isinstance(image, ImageFile) or not image.path.startswith("/"):
        return
    if not any(PurePosixPath(image.path).is_relative_to(each) for each in places):
        raise JobError(
            f"the image {image.path} is a file in a directory that the nodes do not share; copy it "
            f"to {' or '.join(places)}, and name it there"
        )


def _review_program(request: TrainingRequest) -> None:
    """Refuse a program that a job with files does not have, or that nothing starts.

    Raises:
        JobError: its path is relative, and it is none of the files; or it would be looked for on
            the `PATH`.
    """
    first = request.command[0]
    if request.launcher != "torchrun" and first in request.files and "/" not in first:
        raise JobError(
            f"only torchrun starts {first} by its name; write `python {first}`, or ./{first} for a "
            "file that begins with `#!`"
        )
    name = named_file(request.command)
    path = PurePosixPath(name)
    if not request.files or not name or path.is_absolute() or path.as_posix() in request.files:
        return
    raise JobError(
        f"the job has no {name}: with `files`, paths are relative to a directory that has only "
        f"those, {', '.join(request.files)}; list {name} there too, change to the directory that "
        "has it, or name it with an absolute path on shared storage"
    )


def _needed_program(request: TrainingRequest, mounts: Mapping[str, str]) -> dict[str, str]:
    """Return the Python file of the program, if the nodes share it with the head node."""
    name = named_file(request.command)
    path = PurePosixPath(name)
    if not name or (not path.is_absolute() and request.files):
        return {}
    if not path.is_absolute():
        why = (
            f"there is no {name} in the home directory of the head node, nor in the working "
            "directory here, from which it would be copied; change to the directory that has it, "
            "list it in `files` of a job file, or copy it to the head node"
        )
        return {path.as_posix(): why}
    for there, here in mounts.items():
        if path.is_relative_to(here):
            place = str(PurePosixPath(there) / path.relative_to(here))
            return {place: f"the head node has no {place}, the program of the job; copy it there"}
    return {}


def _container(request: TrainingRequest, mounts: Mapping[str, str]) -> str:
    if request.image is None:
        return ""
    listed = ",".join(f"{there}:{here}" for there, here in mounts.items())
    image = _image_option(request)
    # Otherwise a variable of the image overrides that of the job.
    own = f" --container-env={','.join(request.secrets)}" if request.secrets else ""
    return f' {image} --container-mounts={shlex.quote(listed)} --container-workdir="$PWD"{own}'
