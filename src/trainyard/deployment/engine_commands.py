"""One run of `up`, `preview`, `destroy` or `refresh`: its workspace, its display, its question."""

from __future__ import annotations

import os
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import typer

from trainyard.cli import console, failures
from trainyard.diagnosis.unreachable_cluster import variables_of_gone_cluster
from trainyard.sandboxes.session import holds_stack
from trainyard.stack_files.files import write_private
from trainyard.stack_files.installation import INSTALLATION
from trainyard.workspace.disk_reserve import disk_space_kept
from trainyard.workspace.session import Purpose, open_workspace, refuse_occupied
from trainyard.workspace.target import Target
from trainyard.workspace.workspace import Workspace, begin_of, run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trainyard.deployment.guarded_update import Saw
    from trainyard.engine.engine_process import EngineResult
    from trainyard.progress.display import Display


class Show(NamedTuple):
    """How a command shows what the engine does, and whether it asks."""

    yes: bool
    """Whether the changes are confirmed."""
    verbose: bool
    """Whether the output of Pulumi is shown."""


def require_answer(*, yes: bool, command: str) -> None:
    """Refuse to start a command that will ask for a confirmation which nobody can give.

    Args:
        yes: Whether the user has confirmed the changes with `--yes`.
        command: The command, for the message.

    Raises:
        WrongUseError: `yes` is not set, and there is no terminal to ask at.
    """
    if not yes and not console.at_a_terminal():
        raise failures.WrongUseError(
            f"there is no terminal for the confirmation; add --yes to let `{command}` make changes"
        )


class Deployed(NamedTuple):
    """A deployed stack that a command changes."""

    workspace: Workspace
    variables: Mapping[str, str]
    """Variables of the engine with which a cluster counts as gone, if it is."""


def opened_deployed(target: Target, command: str, *, cluster_gone: bool) -> Deployed | None:
    """Return a deployed stack for `destroy` or `refresh`; None if the sandbox does not have it.

    Raises:
        StackLockedError: another command holds the lock of the stack.
        NotLoggedInError: no login to a Pulumi backend.
        StackMissingError: the Pulumi backend does not have the stack.
        WrongUseError: no credentials, no passphrase, or no AWS CLI for an EKS stack; or
            `cluster_gone` is set for a cluster that exists.
    """
    if target.is_sandbox:
        # An `up` that has just started has no resources yet.
        refuse_occupied(target)
        if not holds_stack(target.stack):
            return None
    workspace = opened(target, command, checks_config=False)
    return Deployed(workspace, variables_of_gone_cluster(workspace) if cluster_gone else {})


def opened(target: Target, command: str, *, checks_config: bool) -> Workspace:
    """Return the workspace of a stack for a command; empty for `preview`, which changes nothing."""
    purpose = Purpose(checks_config=checks_config, command=command)
    return open_workspace(target, purpose)


def changed(
    workspace: Workspace,
    operation: str,
    *,
    show: Show,
    flags: Sequence[str] = (),
    variables: Mapping[str, str] = MappingProxyType({}),
) -> EngineResult:
    """Run `destroy` or `refresh`; with a display, ask for the confirmation between two runs."""
    from trainyard.engine.engine_run import EngineRun

    variables = {**variables, **_earlier_names(workspace.scratch)}
    with disk_space_kept(workspace.reserve(), console.progress):
        display = _display(workspace, operation, show)
        if display is None:
            return run(
                workspace, operation, [*flags, *_confirmed(yes=show.yes)], variables=variables
            )
        command = workspace.command.with_variables(variables)
        arguments = [*begin_of(workspace, operation), *flags]
        if not show.yes:
            asked = EngineRun(("--preview-only",), display, lists_changes=True)
            result = asked.all(command, arguments)
            if result.exit_code or result.interrupted:
                return result
            _ask(workspace, operation)
        confirmed = ("--yes",) if show.yes else ("--yes", "--skip-preview")
        return EngineRun(confirmed, display).all(command, arguments)


def _earlier_names(scratch: Path) -> Mapping[str, str]:
    """Return the variable with which an installed package reads states of version 0.1.

    They name a module in the root of a clone. Only `refresh` and `destroy` need it, because `up`
    gives the state its new name.
    """
    if INSTALLATION.clone is not None:
        return {}
    folder = scratch / "earlier-names"
    module = folder / "components" / "runtime" / "aws_auth.py"
    module.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_private(module, "from trainyard.components.runtime.aws_auth import AwsAuthProvider\n")
    path = (str(folder), os.environ.get("PYTHONPATH", ""))
    return {"PYTHONPATH": os.pathsep.join(filter(None, path))}


def changed_guarded(
    workspace: Workspace, operation: str, *, show: Show, replace: Sequence[str], saw: Saw = tuple
) -> EngineResult:
    """Run `up` or `preview`, with the policy pack and the check of what the update would lose."""
    from trainyard.deployment.guarded_update import Guard, run_guarded
    from trainyard.engine.engine_run import EngineRun

    previews = operation == "preview"
    guard = Guard(replace, warns=previews, saw=saw)
    with disk_space_kept(workspace.reserve(), console.progress):
        display = _display(workspace, operation, show)
        if display is not None and not previews and not show.yes:
            result = run_guarded(
                workspace, "preview", EngineRun(display=display, lists_changes=True), guard
            )
            if result.exit_code or result.interrupted:
                return result
            _ask(workspace, operation)
        flags = () if previews else _confirmed(yes=show.yes or display is not None)
        engine = EngineRun(flags, display, lists_changes=previews)
        return run_guarded(workspace, operation, engine, guard)


def _display(workspace: Workspace, operation: str, show: Show) -> Display | None:
    from trainyard.engine.engine_run import display_of

    return None if show.verbose else display_of(workspace, operation)


def _ask(workspace: Workspace, operation: str) -> None:
    """Ask for the confirmation of an operation whose changes were shown.

    Raises:
        CancelledError: the answer is no; nothing was changed.
    """
    stack = workspace.stack_file.stack
    if not typer.confirm(f"Continue with {operation} of {stack}?", default=False):
        raise failures.CancelledError(f"{operation} of {stack}; nothing was changed")


def _confirmed(*, yes: bool) -> tuple[str, ...]:
    """Return the flag that answers the engine's question; `preview` never asks and has no flag."""
    return ("--yes",) if yes else ()
