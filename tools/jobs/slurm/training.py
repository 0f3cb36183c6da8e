"""`run` for Slurm: a batch script that starts a program on every node of a compute resource.

Source:
    https://slurm.schedmd.com/sbatch.html
    https://slurm.schedmd.com/srun.html (`SLURM_NODEID`, `--kill-on-bad-exit`)
    https://github.com/NVIDIA/pyxis#usage (`--container-image`, `--container-mounts`)
"""

from __future__ import annotations

import shlex

from components.parallelcluster.plan import ParallelClusterPlan
from tools.jobs.slurm.directory import JobDirectory
from tools.jobs.slurm.neuron import ADDRESSES, efa_environment
from tools.jobs.slurm.nodes import (
    HOME,
    SlurmNodes,
    SlurmRequest,
    choose_slurm_nodes,
    shared_directory,
)
from tools.jobs.slurm.templates import exports, render_script
from tools.jobs.training import TrainingRequest, launch_command, node_environment

_SCRIPT = "training/train.sbatch"
_UNLIMITED = "UNLIMITED"
"""https://slurm.schedmd.com/sbatch.html#OPT_time: a partition may still have a limit."""


def render_training_directory(
    plan: ParallelClusterPlan, request: TrainingRequest, slurm: SlurmRequest
) -> tuple[JobDirectory, SlurmNodes]:
    """Return the script for a compute resource with accelerators, and its nodes.

    Args:
        plan: Plan of the stack.
        request: The program. Its paths are relative to the home directory, which all nodes share.
        slurm: Queue, compute resource and number of nodes.

    Raises:
        JobError: the stack has no such nodes, or too few.
    """
    nodes = choose_slurm_nodes(plan, None, slurm)
    environment = node_environment(
        request,
        nodes.accelerators,
        devices=nodes.accelerators.count,
        nodes=nodes.count,
        efa_interfaces=nodes.efa_interfaces,
    )
    gpus = nodes.accelerators.count
    if nodes.accelerators.manufacturer == "neuron":
        gpus, environment = 0, {**efa_environment(nodes), **environment}
    values = {
        "name": request.name,
        "placement": nodes.placement,
        "nodes": nodes.count,
        "devices": f"#SBATCH --gpus-per-node={gpus}" if gpus else "#",
        "time": request.time_limit_minutes or _UNLIMITED,
        "description": nodes.description,
        "environment": exports(environment),
        "container": _container(plan, request),
        "command": shlex.join(launch_command(request)),
    }
    job = JobDirectory(
        files={
            "train.sbatch": render_script(_SCRIPT, values),
            "addresses.sh": render_script(ADDRESSES, values),
        },
        submit=("sbatch train.sbatch",),
        results=(f"tail -f {request.name}-*.out",),
    )
    return job, nodes


def _container(plan: ParallelClusterPlan, request: TrainingRequest) -> str:
    if request.image is None:
        return ""
    mounts = ",".join(f"{each}:{each}" for each in dict.fromkeys([shared_directory(plan), HOME]))
    image = shlex.quote(f"--container-image={request.image}")
    return f' {image} --container-mounts={shlex.quote(mounts)} --container-workdir="$HOME"'
