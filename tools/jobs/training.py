"""A user's program on all accelerators of some nodes, under any scheduler.

torchrun starts one process per accelerator. It reads each of its options from a variable with the
prefix `PET_`, so that the same command works on every node, and the scheduler only sets variables.

Source:
    https://docs.pytorch.org/docs/stable/elastic/run.html
    https://github.com/pytorch/pytorch/blob/v2.11.0/torch/distributed/argparse_util.py (`PET_`)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from components.catalog.instance_type import Accelerators
from components.catalog.nccl import nccl_environment
from components.catalog.neuron import neuron_cores
from tools.jobs.nodes import JobError

PORT = 29500
"""Port of the first node for the rendezvous; torchrun's default."""
NODE_RANK = ("NODE_RANK", "PET_NODE_RANK")
MASTER_ADDRESS = ("MASTER_ADDR", "PET_MASTER_ADDR")
"""Variables that the scheduler sets on every node: for any program, and for torchrun."""
NEURON_EFA = {"FI_PROVIDER": "efa"}
"""https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/setup-trn1-multi-node-execution.html"""

Launcher = Literal["torchrun", "none"]
_NAME = re.compile(r"[a-z](?:[a-z0-9-]{0,30}[a-z0-9])?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRequest:
    """A program to run."""

    command: Sequence[str]
    """The program and its arguments."""
    name: str = "train"
    """Name of the job: a DNS label."""
    image: str | None = None
    """Container image; None without a container, or for the image of a Batch job definition."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables of the program, which override all others."""
    time_limit_minutes: int | None = None
    """Longest run; None for no limit of its own."""
    launcher: Launcher = "torchrun"
    """`torchrun` starts the program once per accelerator, `none` once per node."""

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
        wrong = [name for name in self.environment if not _VARIABLE.fullmatch(name)]
        if wrong:
            raise JobError(f"{', '.join(wrong)} cannot be names of environment variables")
        if not self.command:
            raise JobError("there is no program to run; give it after `--`, such as: -- train.py")


def launch_command(request: TrainingRequest) -> list[str]:
    """Return the words of the command that every node runs.

    torchrun runs Python files and, with `-m`, modules; other programs need `--no-python`.
    """
    program, *arguments = request.command
    if request.launcher == "none":
        return [program, *arguments]
    if re.fullmatch(r"python[0-9.]*", program):
        # torchrun starts Python itself, unbuffered.
        return ["torchrun", *(arguments[1:] if arguments[:1] == ["-u"] else arguments)]
    if program.endswith(".py"):
        return ["torchrun", program, *arguments]
    return ["torchrun", "--no-python", program, *arguments]


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
        processes = neuron_cores(accelerators.model, devices)
        network = NEURON_EFA if efa_interfaces else {}
    else:
        processes, network = devices, nccl_environment(efa_interfaces)
    return {
        "NNODES": str(nodes),
        "MASTER_PORT": str(PORT),
        "PET_NNODES": str(nodes),
        "PET_NPROC_PER_NODE": str(processes),
        "PET_MASTER_PORT": str(PORT),
        **network,
        **request.environment,
    }
