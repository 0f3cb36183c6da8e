"""`dcgm-diag` for Slurm: NVIDIA's diagnostics of GPUs, on each node of a compute resource.

Source:
    https://github.com/aws/aws-parallelcluster-cookbook, `gpu_health_check.sh`, which starts
        `nvidia-dcgm.service` and runs `dcgmi diag`
"""

from __future__ import annotations

from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.jobs.dcgm_diag import diagnose_commands
from trainyard.jobs.names import DCGM_DIAG
from trainyard.jobs.slurm.directory import JobDirectory, render_script
from trainyard.jobs.slurm.nodes import SlurmNodes, SlurmRequest, choose_slurm_nodes


def render_dcgm_directory(
    plan: ParallelClusterPlan, request: SlurmRequest
) -> tuple[JobDirectory, SlurmNodes]:
    """Return the scripts for a compute resource with NVIDIA GPUs, and its nodes.

    Raises:
        JobError: the stack has no such nodes, or too few.
    """
    nodes = choose_slurm_nodes(plan, "nvidia", request)
    values = {
        "placement": nodes.placement,
        "nodes": nodes.count,
        "gpus": nodes.accelerators.count,
        "level": request.level,
        "diagnose": diagnose_commands("$node", request.level, program="sudo dcgmi").rstrip(),
    }
    names = ("diagnose.sbatch", "diagnose.sh")
    job = JobDirectory(
        files={name: render_script(f"{DCGM_DIAG}/{name}", values) for name in names},
        submit=("sbatch diagnose.sbatch",),
        results=(f"tail -f {DCGM_DIAG}-*.out",),
        job_names=(DCGM_DIAG,),
    )
    return job, nodes
