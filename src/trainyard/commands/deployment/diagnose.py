"""`diagnose`: writes everything that explains the state of a stack into a directory."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from trainyard.cli import console, failures, options
from trainyard.components import clock
from trainyard.components.secret_documents import shareable
from trainyard.deployment.stack_outputs import opened_to_read
from trainyard.diagnosis.bundle import SUMMARY, Bundle, answer
from trainyard.schedulers.registry import scheduler_class, scheduler_of
from trainyard.stack_files.files import file_text
from trainyard.stack_files.stack_config import plan_of
from trainyard.stack_files.yaml_limits import UnreadableYamlError
from trainyard.stack_files.yaml_reader import read_yaml, yaml_text
from trainyard.workspace.exported_state import exported_state
from trainyard.workspace.target import Target
from trainyard.workspace.workspace import Workspace, history, outputs

_UPDATES = 10


def diagnose(
    stack: options.Stack,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            parser=options.output_directory,
            help="New directory. Default: ./<stack>-diagnosis-<time>.",
        ),
    ] = None,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Write state, events, logs and the likely causes of problems into a directory. Read-only.

    What looks like a secret is not written, and neither are values of environment variables,
    arguments and commands of programs. A part that cannot be read is listed in the summary.
    """
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    workspace = opened_to_read(target)
    with new_directory(output, stack) as directory:
        _fill(Bundle(directory), target, workspace)


def _fill(bundle: Bundle, target: Target, workspace: Workspace) -> None:
    stack = target.stack
    bundle.add("stack-file.yaml", lambda: _stack_file(target.stack_file.path))
    bundle.add("updates.json", lambda: history(workspace, updates=_UPDATES))
    bundle.add("state.json", lambda: exported_state(workspace.command, stack))
    deployed = bundle.add("outputs.json", lambda: outputs(workspace)) or {}
    plan: Any = bundle.add("plan.json", lambda: plan_of(target.stack_file))
    with contextlib.ExitStack() as reached:
        reach = bundle.add("account.txt", lambda: _reached(reached, target))
        if reach is not None and plan is not None:
            _add_reservations(bundle, plan, target.client("ec2"))
            if scheduler_class(target.stack_file) is not None:
                scheduler_of(target).diagnose(bundle, workspace, deployed)
    title = (
        f"{stack}{' in the sandbox' if target.is_sandbox else ''}, {clock.now():%Y-%m-%d %H:%M} UTC"
    )
    console.answer(bundle.finish(title).partition("## Files")[0].rstrip())
    console.progress(f"wrote {len(bundle.files)} files; begin with {bundle.directory / SUMMARY}")


@contextlib.contextmanager
def new_directory(output: Path | None, stack: str) -> Iterator[Path]:
    """Make the directory; what is not complete is deleted again, so that the next try can begin.

    Raises:
        WrongUseError: it exists.
    """
    directory = output or Path(f"{stack}-diagnosis-{clock.now():%Y%m%d-%H%M%S}")
    try:
        directory.mkdir(mode=0o700, parents=True)
    except FileExistsError as error:
        raise failures.WrongUseError(
            f"{directory} exists; name a new directory with --output"
        ) from error
    try:
        yield directory
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise


def _stack_file(path: Path) -> str:
    """Return the values of a stack file as YAML, or its text if it cannot be read."""
    try:
        return yaml_text(shareable(read_yaml(path)))
    except UnreadableYamlError:
        return file_text(path, errors="replace")


def _reached(reached: contextlib.ExitStack, target: Target) -> str:
    reached.enter_context(target.access())
    return str(target.client("sts").get_caller_identity()["Arn"])


def _add_reservations(bundle: Bundle, plan: Any, ec2: Any) -> None:
    ids = sorted(_reservations(plan))
    if ids:
        bundle.add(
            "reservations.json",
            lambda: answer(ec2.describe_capacity_reservations(CapacityReservationIds=ids)),
        )


def _reservations(plan: Any) -> Iterator[str]:
    for pool in getattr(plan, "node_pools", ()):
        if pool.capacity.reservation_id:
            yield pool.capacity.reservation_id
