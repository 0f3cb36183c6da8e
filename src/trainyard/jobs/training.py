"""A user's program on all accelerators of some nodes, under any scheduler.

torchrun starts one process per accelerator. It reads each of its options from a variable with the
prefix `PET_`, so that the same command works on every node, and the scheduler only sets variables.

A job without restarts uses torchrun's static rendezvous: the scheduler gives every node its rank. A
job with restarts uses the c10d rendezvous: the nodes that are left wait for a replaced node, get
ranks again, and start the program again.

Source:
    https://docs.pytorch.org/docs/stable/elastic/run.html
    https://github.com/pytorch/pytorch/blob/v2.11.0/torch/distributed/argparse_util.py (`PET_`)
    https://github.com/pytorch/pytorch/blob/v2.11.0/torch/distributed/elastic/rendezvous/c10d_rendezvous_backend.py
        (`read_timeout`; the host that the endpoint resolves to has the store)
    https://github.com/pytorch/pytorch/blob/v2.11.0/torch/distributed/elastic/rendezvous/dynamic_rendezvous.py
        (`join_timeout`)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import PurePosixPath
from typing import Literal, TypeVar

from trainyard.components.catalog.image_references import (
    ImageFile,
    ImageReference,
    ImageReferenceError,
    in_registry,
    parsed,
)
from trainyard.components.catalog.instance_types import Accelerators
from trainyard.components.catalog.nccl import nccl_environment
from trainyard.components.catalog.neuron import neuron_cores
from trainyard.jobs.nodes import JobError
from trainyard.jobs.secret_source import SecretSource
from trainyard.jobs.time_limit import GRACE_SECONDS, TimeLimit

PORT = 29500
"""Port of the first node for the rendezvous; torchrun's default."""
NODE_RANK = ("NODE_RANK", "PET_NODE_RANK")
MASTER_ADDRESS = ("MASTER_ADDR", "PET_MASTER_ADDR")
"""Variables that the scheduler sets on every node: for any program, and for torchrun."""
MOST_RESTARTS = 9
"""AWS Batch allows ten attempts: the first one and nine more.

https://docs.aws.amazon.com/batch/latest/APIReference/API_RetryStrategy.html"""
INFRASTRUCTURE_RETRIES = 3
"""How often a job without restarts starts again after a fault of its nodes."""
JOIN_SECONDS = 3600
"""Time for which torchrun waits for a replaced node, which EC2 must launch first."""
STORE_SECONDS = 900
"""Time for which torchrun looks for the first node, whose image may still be pulled; torchrun's own
default of 60 seconds is too short for that. Static rendezvous waits equally long."""
PROCESSES = "PET_NPROC_PER_NODE"
"""Variable with the number of processes of a node."""
SHUTDOWN_TIMEOUT = "TORCH_ELASTIC_SHUTDOWN_TIMEOUT"
"""Variable with the time in seconds between SIGTERM and SIGKILL of torchrun's processes."""
_SHUTDOWN_SECONDS = GRACE_SECONDS - 10
"""torchrun itself must have ended when the scheduler kills what is left."""
CHECKPOINTS = "CHECKPOINT_DIRECTORY"
"""Variable of the program with the directory of its checkpoints."""
NEURON_EFA = {"FI_PROVIDER": "efa"}
"""https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/setup-trn1-multi-node-execution.html"""

_Image = TypeVar("_Image")
Launcher = Literal["torchrun", "mpi", "none"]
MOST_FILE_BYTES = 1 << 20
"""Largest sum of the files of a job.

https://kubernetes.io/docs/concepts/configuration/configmap/#motivation: 1 MiB in a ConfigMap"""
_NAME = re.compile(r"[a-z](?:[a-z0-9-]{0,30}[a-z0-9])?")
FILE_PATH = re.compile(r"(?:[A-Za-z0-9_](?:\.?[-_A-Za-z0-9])*/)*[A-Za-z0-9_](?:\.?[-_A-Za-z0-9])*")
"""Paths of the files of a job: what a key of a ConfigMap has, but for `/`."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRequest:
    """A program to run."""

    command: Sequence[str]
    """The program and its arguments."""
    name: str = "train"
    """Name of the job: a DNS label."""
    image: str | None = None
    """Container image, in the spelling of container runtimes or of Enroot; None without a
    container, or for the image of a Batch job definition."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables of the program, which override all others."""
    secrets: Mapping[str, SecretSource] = field(default_factory=dict[str, SecretSource])
    """Where the values of further variables of the program are."""
    time_limit_minutes: int | None = None
    """Longest run until SIGTERM; None for no limit of its own."""
    stops_at: datetime | None = None
    """When it gets SIGTERM at the latest, however long it has waited for nodes; None for never."""
    launcher: Launcher = "torchrun"
    """`torchrun` and `mpi` start the program once per accelerator, `none` once per node."""
    restarts: int = 0
    """How many times the program is started again after a failure; 0 for never."""
    minimum_nodes: int | None = None
    """Number of nodes with which a program with restarts goes on; None for all."""
    mounts: Mapping[str, str] = field(default_factory=dict[str, str])
    """Paths of file systems in the container, by name in the stack file; others have a default."""
    checkpoint_directory: str | None = None
    """Directory on shared storage for the program's checkpoints."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Files in the working directory of the program: content by path below it."""

    def __post_init__(self) -> None:
        """Validate what becomes part of names, scripts and requests.

        Raises:
            JobError: a value cannot be used; the message has the rule.
        """
        if not _NAME.fullmatch(self.name):
            raise JobError(
                f"{self.name!r} is no name of a job: at most 32 small letters, digits and hyphens "
                "that begin with a letter and do not end with a hyphen"
            )
        _validate_variables(self.environment, self.secrets)
        _validate_files(self.files)
        if self.image is not None:
            _image(self.image, parsed)
        if not self.command:
            raise JobError("there is no program to run; give it after `--`, such as: -- train.py")
        if not 0 <= self.restarts <= MOST_RESTARTS:
            raise JobError(f"{self.restarts} restarts: at most {MOST_RESTARTS} are possible")
        if self.minimum_nodes is not None and not self.restarts:
            raise JobError(
                "`minimum_nodes` lets a job go on with fewer nodes after a failure, and needs "
                "`restarts`"
            )

    def image_in_registry(self, starts: str) -> ImageReference | None:
        """Return the image as container runtimes have it; None without one.

        Args:
            starts: What starts the container, such as `EKS`, for the message.

        Raises:
            JobError: it is one that only Enroot has.
        """
        if self.image is None:
            return None
        return _image(self.image, partial(in_registry, starts=starts))

    def image_of_enroot(self) -> ImageReference | ImageFile | None:
        """Return the image as Enroot has it; None without one."""
        return None if self.image is None else _image(self.image, parsed)

    def limited(self, limit: TimeLimit) -> TrainingRequest:
        """Return the program with a time limit instead of its own."""
        return replace(self, time_limit_minutes=limit.minutes, stops_at=limit.stops_at)


def _image(text: str, parse: Callable[[str], _Image]) -> _Image:
    try:
        return parse(text)
    except ImageReferenceError as error:
        raise JobError(f"the image {text!r} {error}") from error


def _validate_variables(
    environment: Mapping[str, str], secrets: Mapping[str, SecretSource]
) -> None:
    wrong = [name for name in (*environment, *secrets) if not _VARIABLE.fullmatch(name)]
    if wrong:
        raise JobError(f"{', '.join(wrong)} cannot be names of environment variables")
    twice = [name for name in secrets if name in environment]
    if twice:
        raise JobError(
            f"{', '.join(twice)} cannot be both a secret and a variable with a plain value; remove "
            "it from `environment` and `--env`"
        )


def _validate_files(files: Mapping[str, str]) -> None:
    wrong = [name for name in files if not FILE_PATH.fullmatch(name)]
    if wrong:
        raise JobError(
            "`files` must be paths of files below the directory of the job file, with letters, "
            f"digits, `.`, `-`, `_` and `/`, without `..`, not: {', '.join(wrong)}"
        )
    if sum(len(each.encode()) for each in files.values()) > MOST_FILE_BYTES:
        raise JobError(
            f"`files` have more than {MOST_FILE_BYTES >> 20} MiB; put them into the image or "
            "on shared storage"
        )


def launch_command(request: TrainingRequest) -> list[str]:
    """Return the words of the command that every node runs; with MPI, every process.

    torchrun runs Python files and, with `-m`, modules; other programs need `--no-python`.
    """
    program, *arguments = request.command
    if program == "-m":
        program, arguments = "python", [program, *arguments]
    if request.launcher != "torchrun":
        return [program, *arguments]
    if re.fullmatch(r"python[0-9.]*", program):
        # torchrun starts Python itself, unbuffered.
        return ["torchrun", *(arguments[1:] if arguments[:1] == ["-u"] else arguments)]
    if program.endswith(".py"):
        return ["torchrun", program, *arguments]
    return ["torchrun", "--no-python", program, *arguments]


def processes_of(accelerators: Accelerators, devices: int) -> int:
    """Return the number of processes of a node: one per GPU or NeuronCore.

    Args:
        accelerators: Accelerators of the instance type.
        devices: Number of GPUs or Neuron devices that the program has on one node.
    """
    if accelerators.manufacturer == "neuron":
        return neuron_cores(accelerators.model, devices)
    return devices


def node_environment(
    request: TrainingRequest,
    accelerators: Accelerators,
    *,
    devices: int,
    nodes: int,
    efa_interfaces: int,
) -> dict[str, str]:
    """Return the variables that are equal on all nodes.

    Args:
        request: The program.
        accelerators: Accelerators of the instance type.
        devices: Number of GPUs or Neuron devices that the program has on one node.
        nodes: Number of nodes.
        efa_interfaces: EFA interfaces of one node; 0 without EFA.
    """
    if accelerators.manufacturer == "neuron":
        network = NEURON_EFA if efa_interfaces else {}
    else:
        network = nccl_environment(efa_interfaces)
    least, checkpoints = request.minimum_nodes, request.checkpoint_directory
    torchrun = {
        "PET_NNODES": f"{least}:{nodes}" if least else str(nodes),
        PROCESSES: str(processes_of(accelerators, devices)),
        "PET_MASTER_PORT": str(PORT),
        SHUTDOWN_TIMEOUT: str(_SHUTDOWN_SECONDS),
    }
    return {
        "NNODES": str(nodes),
        "MASTER_PORT": str(PORT),
        **({} if request.launcher == "mpi" else torchrun),
        **network,
        **({CHECKPOINTS: checkpoints} if checkpoints else {}),
        **request.environment,
    }


def rendezvous(request: TrainingRequest, endpoint: str) -> dict[str, str]:
    """Return the variables with which torchrun finds the nodes again; empty without restarts.

    Args:
        request: The program.
        endpoint: Address of the first node, which a replacement of that node has too.
    """
    if not request.restarts:
        return {}
    return {
        "PET_MAX_RESTARTS": str(request.restarts),
        "PET_RDZV_BACKEND": "c10d",
        "PET_RDZV_ENDPOINT": f"{endpoint}:{PORT}",
        "PET_RDZV_ID": request.name,
        "PET_RDZV_CONF": f"join_timeout={JOIN_SECONDS},read_timeout={STORE_SECONDS}",
        # Otherwise the processes of a restart share the store of the previous ones, and connect to
        # their addresses: https://github.com/pytorch/pytorch/issues/135712
        "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
    }


def refuse_fewer_nodes(request: TrainingRequest, scheduler: str) -> None:
    """Refuse `minimum_nodes` where a job has all of its nodes or none.

    Raises:
        JobError: the job has `minimum_nodes`.
    """
    if request.minimum_nodes is not None:
        raise JobError(
            f"`minimum_nodes` is for EKS: {scheduler} starts a job that has lost a node again on "
            "all of its nodes; remove `minimum_nodes`"
        )


def require_torchrun(request: TrainingRequest, remedy: str = "") -> None:
    """Refuse restarts of a program that nothing starts again on all nodes together.

    Args:
        request: The program.
        remedy: What would start it again.

    Raises:
        JobError: the job has `restarts` and another launcher.
    """
    if request.restarts and request.launcher != "torchrun":
        raise JobError(
            f"only torchrun restarts a program; remove `--launcher {request.launcher}`"
            + (f", or {remedy}" if remedy else "")
        )


def require_storage(request: TrainingRequest, names: Iterable[str], what: str) -> None:
    """Refuse mounts of storage that the job does not have.

    Args:
        request: The program.
        names: Storage that the job has, by its name in the stack file.
        what: What the names are, for the message.

    Raises:
        JobError: `mounts` names other storage.
    """
    known = [*names]
    wrong = [name for name in request.mounts if name not in known]
    if wrong:
        raise JobError(
            f"`mounts` names {', '.join(wrong)}, but {what}: {', '.join(known) or 'none'}"
        )


def require_shared(request: TrainingRequest, shared: Iterable[str]) -> None:
    """Refuse a checkpoint directory that is lost with its node.

    Args:
        request: The program.
        shared: Directories of shared storage, as the program sees them.

    Raises:
        JobError: the directory is in none of them.
    """
    wanted, found = request.checkpoint_directory, list(shared)
    if wanted is None or any(PurePosixPath(wanted).is_relative_to(each) for each in found):
        return
    raise JobError(
        f"`checkpoint_directory` is {wanted}, which is lost with its node; "
        + (f"use a directory in {' or '.join(found)}" if found else "write checkpoints to S3")
    )
