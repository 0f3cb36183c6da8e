"""The jobs of `job` and `run` for EKS stacks, as manifests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from trainyard.cli import console
from trainyard.components.capacity.schedule import nodes_leave_before_end
from trainyard.components.eks.plan import EksPlan
from trainyard.jobs.dcgm_diag import render_dcgm_diag
from trainyard.jobs.efa_smoke import render_efa_smoke
from trainyard.jobs.eks_training import plan_training
from trainyard.jobs.job_manifest import Manifest
from trainyard.jobs.names import DCGM_LEVEL, EKS_JOBS
from trainyard.jobs.nccl import render_nccl_pairs, render_nccl_tests
from trainyard.jobs.nccom import render_nccom_pairs, render_nccom_tests
from trainyard.jobs.nodes import JobRequest
from trainyard.jobs.training import TrainingRequest
from trainyard.schedulers.job_wait import RequestedJob
from trainyard.schedulers.scheduler import PlannedProgram

Renderer = Callable[[EksPlan, JobRequest], Manifest]
"""Returns the manifest of a job for the plan of a stack and the user's options."""
_RENDERERS: Mapping[str, Renderer] = dict(
    zip(
        EKS_JOBS,
        (
            render_nccl_tests,
            render_nccl_pairs,
            render_nccom_tests,
            render_nccom_pairs,
            render_efa_smoke,
            render_dcgm_diag,
        ),
        strict=True,
    )
)


@dataclass(frozen=True, slots=True)
class KubernetesJob:
    """The manifest of a job."""

    manifest: Manifest

    def show(self) -> None:
        """Print the manifest for `kubectl apply -f -`."""
        console.answer_document(self.manifest.text)


def plan_test(plan: EksPlan, asked: RequestedJob) -> KubernetesJob:
    """Return a job of `job`.

    Raises:
        JobError: the namespace is invalid, the stack has no nodes for the job, or several node
            groups match.
    """
    request = JobRequest(
        group=asked.options["--group"],
        nodes=asked.nodes,
        namespace=asked.options["--namespace"] or "default",
        tests=True,
        level=asked.options["--level"] or DCGM_LEVEL,
    )
    return KubernetesJob(_RENDERERS[asked.name](plan, request))


def plan_program(
    plan: EksPlan, asked: RequestedJob, request: TrainingRequest
) -> PlannedProgram[KubernetesJob]:
    """Return a program of `run`.

    Raises:
        JobError: no image, or the stack has no such nodes, or too few.
    """
    nodes = JobRequest(
        group=asked.options["--group"],
        nodes=asked.nodes,
        namespace=asked.options["--namespace"] or "default",
    )
    training = plan_training(plan, request, nodes)
    group = training.nodes.group
    return PlannedProgram(
        time_limit_minutes=request.time_limit_minutes,
        capacities=[group.capacity],
        nodes_leave_before=nodes_leave_before_end(group.instance_type.name),
        render=lambda limit: KubernetesJob(training.manifest(limit)),
    )
