"""`check`: schema and plan of stack files without an engine, and the account on request."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trainyard.checks.check_result import CheckResult, answer_results, failed, refuse_two_forms
from trainyard.cli import console, failures, options
from trainyard.components.config.problems import ConfigError
from trainyard.stack_files.stack_config import plan_of, refusing_stage
from trainyard.stack_files.stack_files import StackFile, StackFileError, unread_stack_file
from trainyard.workspace.accounts import account_of, target_of


def check(
    stacks: Annotated[
        list[str],
        typer.Argument(help="Stacks, such as p5-cb.", autocompletion=options.complete_stack),
    ],
    sandbox: options.Sandbox = False,
    live: Annotated[
        bool,
        typer.Option("--live", help="Also check the AWS account, read-only."),
    ] = False,
    stack_file: options.StackFilePath = None,
    as_json: options.AsJson = False,
    as_sarif: options.AsSarif = False,
) -> None:
    """Check stack files: schema and plan, and the AWS account with --live."""
    refuse_two_forms(as_json=as_json, as_sarif=as_sarif)
    if stack_file is not None and len(stacks) > 1:
        raise failures.WrongUseError("--stack-file replaces the file of one stack; name one stack")
    results = [_checked(stack, path=stack_file, sandbox=sandbox) for stack in stacks]
    if live and all(map(_can_be_asked_about, results)):
        from trainyard.checks.live_check import live_result

        account_of(sandbox=sandbox).start(console.progress)
        results = [
            live_result(target_of(each.stack_file, sandbox=sandbox), each.error) for each in results
        ]
    answer_results(results, as_json=as_json, as_sarif=as_sarif)
    if not all(result.ok for result in results):
        raise typer.Exit(max(result.exit_code for result in results))


def _can_be_asked_about(result: CheckResult) -> bool:
    """Whether the account has answers: those about missing and wrong values are left out."""
    if result.ok or result.stage == "plan":
        return True
    return result.error is not None and result.error.assumed is not None


def _checked(stack: str, *, path: Path | None, sandbox: bool) -> CheckResult:
    try:
        target = options.target(stack, path=path, sandbox=sandbox)
    except StackFileError as error:
        return failed(unread_stack_file(stack, path), error, stage="schema")
    return _result(target.stack_file)


def _result(stack_file: StackFile) -> CheckResult:
    try:
        notes = plan_of(stack_file).notes
    except ConfigError as error:
        stage = refusing_stage(stack_file)
        return CheckResult(stack_file=stack_file, error=error, stage=stage)
    return CheckResult(stack_file=stack_file, notes=tuple(notes))
