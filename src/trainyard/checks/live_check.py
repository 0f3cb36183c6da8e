"""`check --live`: the checks of a stack in its AWS account."""

from __future__ import annotations

import dataclasses

from trainyard.checks.check_result import CheckResult, failed
from trainyard.cli.user_errors import exit_code_of
from trainyard.components import clock
from trainyard.components.architectures.preflight import run_preflight
from trainyard.components.config.problems import ROOT, Assumed, ConfigError
from trainyard.stack_files.stack_config import config_of
from trainyard.stack_files.stack_references import network_reader
from trainyard.workspace.aws_cli import aws_cli_row
from trainyard.workspace.target import Target


def live_result(target: Target, refused: ConfigError | None = None) -> CheckResult:
    """Return whether the stack passes the checks of its account, with the row of each check.

    An error for the user, such as missing credentials, is the result.

    Args:
        target: The stack and its account.
        refused: Why `check` refuses its file without the account. The account is asked about what
            the file says otherwise.
    """
    if refused is not None and target.account.settings.problems:
        # They are among the refusals, and nothing may be asked with them.
        return CheckResult(stack_file=target.stack_file, error=refused)
    try:
        with target.access():
            if refused is not None and refused.assumed is not None:
                return _assumed_result(target, refused, refused.assumed)
            return _preflight_result(target)
    except Exception as error:
        if exit_code_of(error) is None:
            raise
        return failed(target.stack_file, error, stage="preflight")


def _assumed_result(target: Target, refused: ConfigError, assumed: Assumed) -> CheckResult:
    """Return the refusals of a file together with what the account refuses besides."""
    found = run_preflight(
        assumed.config,
        stack_file=target.stack_file.name,
        region=target.region,
        now=clock.now(),
        settings=target.account.settings,
    )
    further = [each for each in found.problems if assumed.is_of_the_user(each)]
    further = [each for each in further if each not in refused.problems]
    rows = tuple(row for row in found.rows if assumed.is_given(f"{ROOT}.{row.subject}", row.found))
    error = ConfigError(
        [*refused.problems, *further],
        stack_file=target.stack_file.name,
        of_plan=refused.of_plan,
        of_account=further,
    )
    preflight = dataclasses.replace(found, rows=rows, problems=tuple(further), plan=None)
    return CheckResult(stack_file=target.stack_file, error=error, preflight=preflight)


def _preflight_result(target: Target) -> CheckResult:
    try:
        config = config_of(target.stack_file, network_of=network_reader(target))
    except ConfigError as refused:  # the network of another stack that is not up
        return CheckResult(stack_file=target.stack_file, error=refused, stage="preflight")
    found = run_preflight(
        config,
        stack_file=target.stack_file.name,
        region=target.region,
        now=clock.now(),
        settings=target.account.settings,
    )
    if target.stack_file.facts.needs_aws_cli and not target.is_sandbox:
        found = dataclasses.replace(found, rows=(*found.rows, aws_cli_row()))
    error = (
        ConfigError(found.problems, stack_file=target.stack_file.name) if found.problems else None
    )
    unsure = {"warning": "", "skipped": "not checked: "}
    return CheckResult(
        stack_file=target.stack_file,
        error=error,
        stage="preflight",
        notes=() if found.plan is None else tuple(found.plan.notes),
        warnings=tuple(
            f"{unsure[row.verdict]}{row.subject}: {row.asked}: {row.found}"
            for row in found.rows
            if row.verdict in unsure
        ),
        preflight=found,
    )
