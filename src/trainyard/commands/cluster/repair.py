"""`repair`: replaces bad nodes inside their reservation."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated

import typer

from trainyard.cli import failures, options
from trainyard.repair.repair_request import RepairRequest
from trainyard.schedulers.job_wait import START_LIMIT_MINUTES
from trainyard.schedulers.registry import scheduler_class, scheduler_of
from trainyard.schedulers.scheduler import no_watch
from trainyard.stack_files.stack_config import plan_of

_DRAIN_LIMIT_MINUTES = 15.0


Node = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Replace this node, bad or not. Default in EKS: all bad nodes. Required in Slurm.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be replaced; change nothing.")
]
DrainMinutes = Annotated[
    float, typer.Option(min=0, help="EKS: maximum minutes until the pods of a node have ended.")
]
WaitMinutes = Annotated[
    float, typer.Option(min=0, help="EKS: maximum minutes to wait for a replacement.")
]
Watch = Annotated[
    bool,
    typer.Option(
        "--watch", help="EKS: look again at intervals, until SIGTERM. Needs --yes or --dry-run."
    ),
]
IntervalMinutes = Annotated[
    float | None,
    typer.Option(min=0, help="With --watch: minutes between two looks, 5 by default."),
]


def repair(
    stack: options.Stack,
    node: Node = None,
    dry_run: DryRun = False,
    drain_minutes: DrainMinutes = _DRAIN_LIMIT_MINUTES,
    wait_minutes: WaitMinutes = START_LIMIT_MINUTES,
    watch: Watch = False,
    interval_minutes: IntervalMinutes = None,
    yes: options.Yes = False,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Replace bad nodes inside their reservation: cordon, drain, terminate, wait.

    EKS: nodes that the node monitoring agent or the kubelet reports as bad. Slurm: drains a node,
    which ParallelCluster replaces. Run it again to continue after an interruption.
    """

    def request_of(pause: Callable[[float], object] = time.sleep) -> RepairRequest:
        return RepairRequest(
            target=options.target(stack, path=stack_file, sandbox=sandbox),
            node=node,
            dry_run=dry_run,
            yes=yes,
            drain_limit_minutes=drain_minutes,
            wait_limit_minutes=wait_minutes,
            pause=pause,
        )

    _review(watch=watch, unattended=yes or dry_run, node=node, interval=interval_minutes)
    request = request_of()
    if not watch:
        scheduler_of(request.target).repair(request)
        return
    plan_of(request.target.stack_file)  # a wrong file is refused; later, the watch goes on
    if scheduler_class(request.target.stack_file) is None:
        raise failures.WrongUseError(no_watch(stack))
    scheduler_of(request.target).watch_nodes(request_of, interval_minutes)


def _review(*, watch: bool, unattended: bool, node: str | None, interval: float | None) -> None:
    """Refuse options that contradict each other.

    Raises:
        WrongUseError: they do.
    """
    if not watch and interval is not None:
        raise failures.WrongUseError("--interval-minutes requires --watch")
    if watch and node is not None:
        raise failures.WrongUseError("--watch finds bad nodes itself; omit --node, or --watch")
    if watch and not unattended:
        raise failures.WrongUseError(
            "--watch repairs nodes without confirmation; add --yes to allow it, or "
            "--dry-run to only report them"
        )
