"""`up`, `preview`, `destroy`, `refresh`: the Pulumi commands, with the policy pack attached."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from tools.cli import console, failures, options
from tools.workspace.stack_files import BATCH, NETWORK, PARALLELCLUSTER

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tools.cli.protected import Kept
    from tools.workspace.engine_process import EngineResult
    from tools.workspace.workspace import Workspace


def up(
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    yes: options.Yes = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Bring the stack up to what its file says; previews first, always."""
    _require_answer(yes=yes, command="up")
    workspace = _open(stack, stack_file, sandbox=sandbox, checks_config=True)
    _finish(_run(workspace, "up", yes=yes, policies=True), workspace, "up", sandbox=sandbox)
    _show_summary(workspace, sandbox=sandbox)


def _show_summary(workspace: Workspace, *, sandbox: bool) -> None:
    architecture = workspace.stack_file.architecture
    if architecture == PARALLELCLUSTER:
        from tools.cli.parallelcluster_summary import show_summary
    elif architecture == BATCH:
        from tools.cli.batch_summary import show_summary
    elif architecture == NETWORK:
        from tools.cli.network_summary import show_summary
    else:
        from tools.cli.summary import show_summary

    show_summary(workspace, sandbox=sandbox)


def preview(
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
    as_json: options.AsJson = False,
    as_sarif: options.AsSarif = False,
) -> None:
    """Show what `up` would change, checked by the policy pack; changes nothing."""
    if as_json or as_sarif:
        from tools.cli.check_result import refuse_two_forms
        from tools.cli.preview_findings import answer_preview

        refuse_two_forms(as_json=as_json, as_sarif=as_sarif)
        found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
        answer_preview(found, sandbox=sandbox, as_sarif=as_sarif)
        return
    workspace = _open(stack, stack_file, sandbox=sandbox, checks_config=True, changes=False)
    result = _run(workspace, "preview", yes=None, policies=True)
    _finish(result, workspace, "preview", sandbox=sandbox)


def destroy(
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    yes: options.Yes = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Delete everything that the stack made but for what is protected, and say what that is."""
    _require_answer(yes=yes, command="destroy")
    if sandbox and not _sandbox_has(stack):
        console.answer(f"the sandbox holds no stack {stack}: nothing to destroy")
        return
    workspace = _open(stack, stack_file, sandbox=sandbox, checks_config=False)
    from tools.cli import protected
    from tools.cli.session import kubeconfig_path

    before = protected.kept_objects(workspace)
    if workspace.stack_file.architecture == NETWORK:
        _refuse_inhabited(before, workspace, sandbox=sandbox)
    # The engine refuses to begin where something is protected, unless it is told to leave that.
    keeps = any(each.protected for each in before)
    retained = _retained(workspace)
    flags = [protected.FLAG] if keeps else []
    result = _run(workspace, "destroy", yes=yes, policies=False, flags=flags)
    _finish(result, workspace, "destroy", sandbox=sandbox)
    kubeconfig_path(stack, sandbox=sandbox).unlink(missing_ok=True)
    if keeps:
        kept = protected.kept_objects(workspace)
        name = workspace.stack_file.name
        said = protected.explanation(kept, before, stack=stack, stack_file=name, sandbox=sandbox)
        console.answer(said)
    if retained:
        console.answer(retained)


def _refuse_inhabited(kept: Sequence[Kept], workspace: Workspace, *, sandbox: bool) -> None:
    from tools.cli.inhabited_network import refuse_inhabited

    file = workspace.stack_file
    refuse_inhabited(kept, file, sandbox=sandbox)


def _retained(workspace: Workspace) -> str:
    """Return what to say of storage that ParallelCluster keeps; empty where there is none."""
    if workspace.stack_file.architecture != PARALLELCLUSTER:
        return ""
    from tools.cli.retained import explanation, retained_storage
    from tools.workspace.workspace import outputs

    values = outputs(workspace)
    kept = retained_storage(values, workspace.stack_file.cluster.get("storage"))
    if not kept:
        return ""
    region = workspace.stack_file.region
    return explanation(kept, cluster_name=values["cluster_name"], region=region)


def refresh(
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    yes: options.Yes = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Read what exists into the state; changes nothing in the account."""
    _require_answer(yes=yes, command="refresh")
    if sandbox and not _sandbox_has(stack):
        raise failures.CommandError(
            f"the sandbox holds no stack {stack}; bring it up: ./trainyard up {stack} --sandbox"
        )
    workspace = _open(stack, stack_file, sandbox=sandbox, checks_config=False)
    result = _run(workspace, "refresh", yes=yes, policies=False)
    _finish(result, workspace, "refresh", sandbox=sandbox)


def _sandbox_has(stack: str) -> bool:
    from tools.cli.sandbox_session import holds_stack

    # An unknown name is still wrong use, not an empty stack.
    options.stack_file(stack, path=None, sandbox=True)
    return holds_stack(stack)


def _require_answer(*, yes: bool, command: str) -> None:
    if not yes and not console.at_a_terminal():
        raise failures.WrongUseError(
            f"there is no terminal to ask on; add --yes to let `{command}` change things"
        )


def _open(
    stack: str,
    stack_file: Path | None,
    *,
    sandbox: bool,
    checks_config: bool,
    changes: bool = True,
) -> Workspace:
    from tools.cli.session import Purpose, open_workspace

    found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
    purpose = Purpose(checks_config=checks_config, changes=changes)
    return open_workspace(found, purpose, sandbox=sandbox)


def _run(
    workspace: Workspace,
    operation: str,
    *,
    yes: bool | None,
    policies: bool,
    flags: Sequence[str] = (),
) -> EngineResult:
    from tools.workspace.workspace import run

    extra = policy_pack(workspace) if policies else []
    # `preview` never asks and has no such flag.
    return run(workspace, operation, [*extra, *flags, *(["--yes"] if yes else [])])


def policy_pack(workspace: Workspace) -> list[str]:
    """Return the arguments that attach the pack, configured with what only the stack file says."""
    import json

    from policies.pack_config import pack_config
    from tools.cli.checks import config_of
    from tools.workspace.stack_files import ROOT

    path = workspace.scratch / f"{workspace.stack_file.stack}.policies.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = json.dumps(pack_config(config_of(workspace.stack_file)), indent=2)
    path.write_text(content, encoding="utf-8")
    return ["--policy-pack", str(ROOT / "policies"), "--policy-pack-config", str(path)]


def _finish(result: EngineResult, workspace: Workspace, operation: str, *, sandbox: bool) -> None:
    if result.exit_code == 0:
        return
    stack = workspace.stack_file.stack
    again = f"./trainyard {operation} {stack}{workspace.stack_file.options(sandbox=sandbox)}"
    if result.interrupted:
        message = (
            f"{operation} of {stack} was interrupted; what was finished is kept and recorded\n"
            f"  go on:  {again}"
        )
    elif operation == "preview":
        message = f"the preview of {stack} failed; nothing was changed. The reason stands above"
    else:
        message = (
            f"{operation} of {stack} did not finish; the reason stands above. What was finished "
            f"is kept and recorded\n  go on after the cause is gone:  {again}"
        )
    console.problem(message)
    raise typer.Exit(failures.WORK_FAILED)
