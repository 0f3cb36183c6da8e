"""`up`, `preview`, `destroy`, `refresh`: the Pulumi commands, with the policy pack attached."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import typer

from trainyard.checks.check_result import refuse_two_forms
from trainyard.cli import console, failures, options
from trainyard.cli.waiting import wait_seconds
from trainyard.cost.stack_cost import cost_line
from trainyard.deployment import network_summary, protected
from trainyard.deployment.duplicates import tell_duplicates
from trainyard.deployment.inhabited_network import refuse_inhabited
from trainyard.deployment.operation_end import finish
from trainyard.deployment.retained import tell_what_stays
from trainyard.diagnosis.unreachable_cluster import variables_of_gone_cluster
from trainyard.sandboxes.session import holds_stack, require_stack
from trainyard.schedulers.batch import summary as batch_summary
from trainyard.schedulers.slurm import parallelcluster_summary
from trainyard.stack_files.stack_files import BATCH, NETWORK, PARALLELCLUSTER, StackFile
from trainyard.workspace.disk_reserve import disk_space_kept
from trainyard.workspace.kubeconfig import kubeconfig_path
from trainyard.workspace.recovery.gone import forget_gone
from trainyard.workspace.recovery.timeouts import timeouts_of
from trainyard.workspace.session import Purpose, open_workspace, refuse_occupied
from trainyard.workspace.workspace import Workspace, begin_of, run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trainyard.changes.steps import Step
    from trainyard.deployment.guarded_update import Saw
    from trainyard.engine.engine_process import EngineResult
    from trainyard.progress.display import Display


class Show(NamedTuple):
    """How a command shows what the engine does, and whether it asks."""

    yes: bool
    """Whether the changes are confirmed."""
    verbose: bool
    """Whether the output of Pulumi is shown."""
    sandbox: bool


def up(
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    yes: options.Yes = False,
    stack_file: options.StackFilePath = None,
    replace: options.Replace = None,
    verify: options.Verify = False,
    verbose: options.Verbose = False,
) -> None:
    """Deploy the stack file; always shows a preview first."""
    _require_answer(yes=yes, command="up")
    # Reject a wrong value, and what cannot be verified, before any resource is created.
    wait_seconds(sandbox=sandbox)
    found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
    then = None
    if verify:
        from trainyard.schedulers.deployed_stack import DeployedStack
        from trainyard.verify.up_verification import planned_verification

        then = planned_verification(DeployedStack(found, sandbox))
    workspace = _open(found, "up", sandbox=sandbox, checks_config=True)
    show = Show(yes, verbose, sandbox)
    result = _run_guarded(workspace, "up", show=show, replace=replace or ())
    tell_duplicates(workspace, sandbox=sandbox)
    if result.exit_code and not result.declined:
        _tell_what_stays(found, destroyed=False, sandbox=sandbox)
    finish(result, workspace, "up", sandbox=sandbox)
    _show_summary(workspace, result.changes, sandbox=sandbox)
    if then is not None:
        then()


def _show_summary(workspace: Workspace, changes: Mapping[str, int], *, sandbox: bool) -> None:
    architecture = workspace.stack_file.architecture
    if architecture == PARALLELCLUSTER:
        parallelcluster_summary.show_summary(workspace, changes, sandbox=sandbox)
    elif architecture == BATCH:
        batch_summary.show_summary(workspace, changes, sandbox=sandbox)
    elif architecture == NETWORK:
        network_summary.show_summary(workspace, changes, sandbox=sandbox)
    else:
        from trainyard.deployment.summary import show_summary

        show_summary(workspace, changes, sandbox=sandbox)


def preview(
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
    as_json: options.AsJson = False,
    as_sarif: options.AsSarif = False,
    html_file: options.PreviewReport = None,
    verbose: options.Verbose = False,
) -> None:
    """Show what `up` would change, checked by the policy pack. Changes nothing."""
    if as_json or as_sarif:
        from trainyard.deployment.preview_findings import answer_preview

        refuse_two_forms(as_json=as_json, as_sarif=as_sarif)
        if html_file is not None:
            raise failures.WrongUseError("--html adds to the text of `preview`; omit the document")
        answer_preview(stack, path=stack_file, sandbox=sandbox, as_sarif=as_sarif)
        return
    found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
    workspace = _open(found, "", sandbox=sandbox, checks_config=True)
    show = Show(yes=False, verbose=verbose, sandbox=sandbox)
    steps: list[Sequence[Step]] = []
    result = _run_guarded(workspace, "preview", show=show, replace=(), saw=steps.append)
    finish(result, workspace, "preview", sandbox=sandbox)
    console.answer(f"cost: {cost_line(found, sandbox=sandbox)}")
    if html_file is not None:
        from trainyard.deployment.preview_report import write_preview_report

        write_preview_report(html_file, found, steps[-1], sandbox=sandbox)


def destroy(
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    yes: options.Yes = False,
    stack_file: options.StackFilePath = None,
    cluster_gone: options.ClusterGone = False,
    verbose: options.Verbose = False,
) -> None:
    """Delete the resources of the stack, except protected ones, and list those."""
    _require_answer(yes=yes, command="destroy")
    found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
    if sandbox:
        # An `up` that has just started has no resources yet.
        refuse_occupied(found, sandbox=True)
        if not holds_stack(stack):
            console.answer(f"the sandbox has no stack {stack}: nothing to destroy")
            return
    workspace = _open(found, "destroy", sandbox=sandbox, checks_config=False)
    variables = _variables(workspace, cluster_gone=cluster_gone, sandbox=sandbox)
    before = protected.kept_objects(workspace)
    if found.architecture == NETWORK:
        refuse_inhabited(before, found, sandbox=sandbox)
    # The engine refuses to start if a resource is protected, unless it may skip protected
    # resources.
    keeps = any(each.protected for each in before)
    flags = [protected.FLAG] if keeps else []
    show = Show(yes, verbose, sandbox)
    result = _run(workspace, "destroy", show=show, flags=flags, variables=variables)
    tell_duplicates(workspace, sandbox=sandbox)
    finish(result, workspace, "destroy", sandbox=sandbox)
    kubeconfig_path(found, sandbox=sandbox).unlink(missing_ok=True)
    if keeps:
        kept = protected.kept_objects(workspace)
        console.answer(protected.explanation(kept, before, stack_file=found, sandbox=sandbox))
    else:
        console.answer(protected.how_to_forget(found, sandbox=sandbox))
    _tell_what_stays(found, destroyed=True, sandbox=sandbox)


def _tell_what_stays(stack_file: StackFile, *, destroyed: bool, sandbox: bool) -> None:
    if stack_file.architecture == PARALLELCLUSTER:
        tell_what_stays(stack_file, destroyed=destroyed, sandbox=sandbox)


def refresh(
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    yes: options.Yes = False,
    stack_file: options.StackFilePath = None,
    cluster_gone: options.ClusterGone = False,
    verbose: options.Verbose = False,
) -> None:
    """Update the state from the account. Changes nothing in the account."""
    _require_answer(yes=yes, command="refresh")
    found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
    if sandbox:
        refuse_occupied(found, sandbox=True)
        require_stack(found)
    workspace = _open(found, "refresh", sandbox=sandbox, checks_config=False)
    variables = _variables(workspace, cluster_gone=cluster_gone, sandbox=sandbox)
    _forget_gone(workspace, sandbox=sandbox)
    show = Show(yes, verbose, sandbox)
    result = _run(workspace, "refresh", show=show, variables=variables)
    finish(result, workspace, "refresh", sandbox=sandbox)


def _variables(workspace: Workspace, *, cluster_gone: bool, sandbox: bool) -> Mapping[str, str]:
    if not cluster_gone:
        return {}
    return variables_of_gone_cluster(workspace, sandbox=sandbox)


def _forget_gone(workspace: Workspace, *, sandbox: bool) -> None:
    file = workspace.stack_file
    forget_gone(
        workspace.command,
        stack=file.stack,
        region=file.region,
        # The engine's environment has the sandbox's credentials.
        profile="" if sandbox else file.profile,
        timeouts=timeouts_of(sandbox=sandbox),
        report=console.progress,
    )


def _require_answer(*, yes: bool, command: str) -> None:
    if not yes and not console.at_a_terminal():
        raise failures.WrongUseError(
            f"there is no terminal for the confirmation; add --yes to let `{command}` make changes"
        )


def _open(stack_file: StackFile, command: str, *, sandbox: bool, checks_config: bool) -> Workspace:
    purpose = Purpose(checks_config=checks_config, command=command)
    return open_workspace(stack_file, purpose, sandbox=sandbox)


def _run(
    workspace: Workspace,
    operation: str,
    *,
    show: Show,
    flags: Sequence[str] = (),
    variables: Mapping[str, str] = MappingProxyType({}),
) -> EngineResult:
    """Run `destroy` or `refresh`; with a display, ask for the confirmation between two runs."""
    from trainyard.engine.engine_run import EngineRun

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


def _run_guarded(
    workspace: Workspace, operation: str, *, show: Show, replace: Sequence[str], saw: Saw = tuple
) -> EngineResult:
    """Run `up` or `preview`, with the policy pack and the check of what the update would lose."""
    from trainyard.deployment.guarded_update import Guard, run_guarded
    from trainyard.engine.engine_run import EngineRun

    previews = operation == "preview"
    guard = Guard(replace, show.sandbox, warns=previews, saw=saw)
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

    return None if show.verbose else display_of(workspace, operation, sandbox=show.sandbox)


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
