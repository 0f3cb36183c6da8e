"""`job`: generates a job for a stack from its plan."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from trainyard.cli import failures, options
from trainyard.jobs.names import DCGM_DIAG
from trainyard.schedulers.deployed_stack import deployed_stack
from trainyard.schedulers.job_wait import RequestedJob, refuse, requested_wait
from trainyard.schedulers.registry import EVERY_TEST, own_options, scheduler_class
from trainyard.schedulers.scheduler import Scheduler, make_test


class Scaling(StrEnum):
    """The effect of additional nodes on a training job."""

    STRONG = "strong"
    WEAK = "weak"


Name = Annotated[str, typer.Argument(help=f"Name of the job: {', '.join(EVERY_TEST)}.")]
Nodes = Annotated[
    int | None,
    typer.Option(
        "--nodes",
        min=1,
        help="Number of nodes. Default: the desired size of the group, or the maximum in Slurm.",
    ),
]
ScalingOption = Annotated[
    Scaling | None,
    typer.Option(
        "--scaling",
        help="bert-pretraining: keep the global batch size (strong), or increase it (weak).",
    ),
]
Level = Annotated[
    int | None,
    typer.Option(
        "--level", min=1, max=4, help="dcgm-diag: from seconds (1) to hours (4). Default: 2."
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        parser=options.output_directory,
        help="Slurm: directory to write to. Default: ./<stack>-<job>.",
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Slurm: write to a directory that is not empty.")
]
Env = Annotated[
    list[str] | None,
    typer.Option("--env", metavar="NAME=VALUE", help="Batch: environment variable of the job."),
]
Submit = Annotated[bool, typer.Option("--submit", help="Submit the job and print its name or id.")]
Wait = Annotated[
    bool,
    typer.Option(
        "--wait", help="With --submit, wait until the job ends. EKS, Slurm: print its log."
    ),
]


def job(
    context: typer.Context,
    stack: options.Stack,
    name: Name,
    nodes: Nodes = None,
    group: options.Group = None,
    namespace: options.Namespace = None,
    queue: options.Queue = None,
    compute_resource: options.ComputeResource = None,
    scaling: ScalingOption = None,
    level: Level = None,
    output: Output = None,
    force: Force = False,
    definition: options.Definition = None,
    env: Env = None,
    submit: Submit = False,
    wait: Wait = False,
    wait_minutes: options.WaitMinutes = None,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Generate a job for the stack: a manifest on standard output, Slurm scripts, or a request.

    EKS: a manifest is printed. ParallelCluster: a directory of scripts is written. Batch: a request
    is printed. With --submit, the job is submitted instead.
    """
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    own = scheduler_class(target.stack_file)
    _refuse_unknown(name, own, stack)
    given = {
        "--group": group,
        "--namespace": namespace,
        "--queue": queue,
        "--compute-resource": compute_resource,
        "--scaling": scaling,
        "--output": output,
        "--force": force or None,
        "--definition": definition,
        "--env": env or None,
    }
    own_given = own_options(given, own, stack)
    asked = RequestedJob(
        name=name,
        nodes=nodes,
        options={**own_given, "--level": level},
        submit=submit,
        wait=requested_wait(target.account, submit=submit, wait=wait, minutes=wait_minutes),
    )
    if name != DCGM_DIAG:
        refuse({"--level": level}, f"{name} has no level")
    make_test(deployed_stack(context, target).scheduler(), asked)


def _refuse_unknown(name: str, own: type[Scheduler[Any]] | None, stack: str) -> None:
    tests = () if own is None else own.tests
    if name not in tests:
        raise failures.WrongUseError(
            f"there is no job {name!r} for {stack}; available: "
            + (", ".join(tests) or "none")
            + (own.selection_hint if own else "")
        )
