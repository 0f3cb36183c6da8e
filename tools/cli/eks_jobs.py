"""`job` for EKS stacks: prints the manifest, or submits the job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from components.eks.plan import EksPlan
from tools.cli import console, failures
from tools.cli.job_wait import JobWait
from tools.cli.stack_config import plan_of
from tools.jobs.efa_smoke import render_efa_smoke
from tools.jobs.names import EKS_JOBS
from tools.jobs.nccl_tests import render_nccl_tests
from tools.jobs.nccom_tests import render_nccom_tests
from tools.jobs.nodes import JobError, JobRequest, Renderer
from tools.workspace.stack_files import StackFile

_RENDERERS: Mapping[str, Renderer] = dict(
    zip(EKS_JOBS, (render_nccl_tests, render_nccom_tests, render_efa_smoke), strict=True)
)


def make_job(
    stack_file: StackFile,
    name: str,
    nodes: int | None,
    options: Mapping[str, Any],
    *,
    submit: bool,
    wait: JobWait | None,
    sandbox: bool,
) -> None:
    """Print the manifest of a job for `kubectl apply -f -`, or submit it.

    Args:
        stack_file: File of the stack.
        name: One of `EKS_JOBS`.
        nodes: Number of nodes; None for the desired size of the node group.
        options: Values of the EKS options, by option; None if not given.
        submit: Whether to submit it.
        wait: How to wait for its end; None to return at once.
        sandbox: Whether the cluster is in the sandbox.

    Raises:
        WrongUseError: the namespace is invalid, the stack has no nodes for the job, or several node
            groups match.
    """
    plan = plan_of(stack_file)
    assert isinstance(plan, EksPlan)  # noqa: S101 - no other kind has these jobs
    namespace = options["--namespace"] or "default"
    try:
        request = JobRequest(group=options["--group"], nodes=nodes, namespace=namespace)
        manifest = _RENDERERS[name](plan, request)
    except JobError as error:
        raise failures.WrongUseError(str(error)) from error
    if submit:
        from tools.cli.eks_submission import submit_manifest

        submit_manifest(manifest, stack_file=stack_file, sandbox=sandbox, wait=wait)
        return
    console.answer_document(manifest)
