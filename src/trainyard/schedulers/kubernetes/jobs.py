"""`job` for EKS stacks: prints the manifest, or submits the job."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.cli import console, failures
from trainyard.components.eks.plan import EksPlan
from trainyard.jobs.dcgm_diag import render_dcgm_diag
from trainyard.jobs.efa_smoke import render_efa_smoke
from trainyard.jobs.names import DCGM_LEVEL, EKS_JOBS
from trainyard.jobs.nccl import render_nccl_pairs, render_nccl_tests
from trainyard.jobs.nccom import render_nccom_pairs, render_nccom_tests
from trainyard.jobs.nodes import JobError, JobRequest, Renderer
from trainyard.schedulers.job_wait import RequestedJob
from trainyard.stack_files.stack_config import plan_of

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


def make_job(asked: RequestedJob) -> None:
    """Print the manifest of a job for `kubectl apply -f -`, or submit it.

    Raises:
        WrongUseError: the namespace is invalid, the stack has no nodes for the job, or several node
            groups match.
    """
    plan = plan_of(asked.stack_file)
    assert isinstance(plan, EksPlan)  # noqa: S101 - no other kind has these jobs
    request = JobRequest(
        group=asked.options["--group"],
        nodes=asked.nodes,
        namespace=asked.options["--namespace"] or "default",
        tests=True,
        level=asked.options["--level"] or DCGM_LEVEL,
    )
    try:
        manifest = _RENDERERS[asked.name](plan, request)
    except JobError as error:
        raise failures.WrongUseError(str(error)) from error
    if asked.submit:
        asked.deployed.submit_manifest(manifest, asked.wait)
        return
    console.answer_document(manifest)
