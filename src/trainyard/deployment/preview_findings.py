"""`preview --json` and `--sarif`: findings of the policy pack and the engine as one document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from trainyard.checks.check_result import answer_sarif
from trainyard.cli import console, failures, options
from trainyard.cli.user_errors import exit_code_of, message_of
from trainyard.components.config.problems import ConfigError
from trainyard.deployment.policy_pack import policy_pack
from trainyard.engine.engine_events import resource_changes
from trainyard.engine.listening import event_log
from trainyard.findings.finding import Finding, Stage, as_json, failure_finding, problem_findings
from trainyard.findings.policy_events import event_findings
from trainyard.findings.rule_texts import rule_texts
from trainyard.stack_files.stack_config import refusing_stage
from trainyard.stack_files.stack_files import StackFileError, unread_stack_file
from trainyard.workspace.session import Purpose, open_workspace
from trainyard.workspace.target import Target

if TYPE_CHECKING:
    from trainyard.engine.engine_process import EngineResult
    from trainyard.stack_files.stack_files import StackFile
    from trainyard.workspace.workspace import Workspace

STANDARD_ERROR = 2
"""File descriptor for the engine's display, so that standard output has only the document."""


def answer_preview(stack: str, *, path: Path | None, sandbox: bool, as_sarif: bool) -> None:
    """Preview a stack and write one document with the findings.

    Raises:
        typer.Exit: with 1 if the preview failed, for a mandatory violation or an error of the
            program, and with 2 if the stack file was rejected before the preview.
    """
    try:
        target = options.target(stack, path=path, sandbox=sandbox)
    except StackFileError as error:
        unread = unread_stack_file(stack, path)
        _answer_failure(unread, error, stage="schema", rule="unreadable", as_sarif=as_sarif)
    workspace = _opened(target, as_sarif=as_sarif)
    result, log = _previewed(workspace)
    _report(target.stack_file, result, log, as_sarif=as_sarif)


def _opened(target: Target, *, as_sarif: bool) -> Workspace:
    purpose = Purpose(checks_config=True)
    try:
        return open_workspace(target, purpose)
    except ConfigError as error:
        findings = problem_findings(error, target.stack_file, refusing_stage(target.stack_file))
        _answer(target.stack_file, findings, {}, ok=False, as_sarif=as_sarif)
        raise typer.Exit(failures.WRONG_USE) from error
    except Exception as error:
        if exit_code_of(error) is None:
            raise
        _answer_failure(
            target.stack_file, error, stage="preflight", rule="unreachable", as_sarif=as_sarif
        )


def _answer_failure(
    stack_file: StackFile, error: Exception, *, stage: Stage, rule: str, as_sarif: bool
) -> NoReturn:
    """Write a document with the error that kept the preview from starting, and exit."""
    message = message_of(error)
    found = failure_finding(
        message, rule=rule, stage=stage, stack=stack_file.stack, file=stack_file.path
    )
    _answer(stack_file, [found], {}, ok=False, as_sarif=as_sarif)
    console.problem(message)
    raise typer.Exit(exit_code_of(error) or failures.WORK_FAILED) from error


def _previewed(workspace: Workspace) -> tuple[EngineResult, str]:
    """Return the result of the engine's preview, with its event log."""
    # The engine's `preview --json` does not report policies; its event log does.
    with event_log() as log:
        arguments = ["preview", *workspace.arguments(), *policy_pack(workspace), *log.arguments]
        result = log.told(workspace.command).run(arguments, output=STANDARD_ERROR)
        return result, log.text()


def _report(stack_file: StackFile, result: EngineResult, log: str, *, as_sarif: bool) -> None:
    ok = result.exit_code == 0
    findings = event_findings(log, stack_file)
    _answer(stack_file, findings, resource_changes(log), ok=ok, as_sarif=as_sarif)
    if ok:
        return
    what = "was interrupted" if result.interrupted else "failed"
    console.problem(f"the preview of {stack_file.stack} {what}; nothing was changed")
    raise typer.Exit(failures.WORK_FAILED)


def _answer(
    stack_file: StackFile,
    findings: Sequence[Finding],
    changes: dict[str, int],
    *,
    ok: bool,
    as_sarif: bool,
) -> None:
    if as_sarif:
        # A preview that reports violations succeeded as a command; one whose program failed did
        # not.
        stages = {each.stage for each in findings if each.level == "error"}
        succeeded = ok or (bool(stages) and "engine" not in stages)
        answer_sarif(
            f"preview/{stack_file.stack}", findings, succeeded=succeeded, rules=rule_texts()
        )
        return
    answer: dict[str, Any] = {
        "stack": stack_file.stack,
        "ok": ok,
        "changes": changes,
        "findings": [as_json(finding) for finding in findings],
    }
    console.answer_json(answer)
