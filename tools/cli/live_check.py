"""`check --live`: the checks of a stack in its AWS account."""

from __future__ import annotations

import dataclasses

from components import clock
from components.config.problems import ConfigError
from components.preflight.run import run_preflight
from tools.cli.aws_cli import aws_cli_row
from tools.cli.check_result import CheckResult
from tools.cli.session import account_access
from tools.cli.stack_config import config_of
from tools.cli.stack_references import network_reader
from tools.workspace.stack_files import EKS, StackFile


def live_result(stack_file: StackFile, *, sandbox: bool) -> CheckResult:
    """Return whether the stack passes the checks of its account, with the row of each check.

    Raises:
        WrongUseError: there are no credentials.
        CommandError: no sandbox is running.
    """
    with account_access(sandbox=sandbox, profile=stack_file.profile):
        found = run_preflight(
            config_of(stack_file, network_of=network_reader(stack_file, sandbox=sandbox)),
            stack_file=stack_file.name,
            region=stack_file.region,
            now=clock.now(),
        )
    if stack_file.architecture == EKS and not sandbox:
        found = dataclasses.replace(found, rows=(*found.rows, aws_cli_row()))
    error = ConfigError(found.problems, stack_file=stack_file.name) if found.problems else None
    unsure = {"warning": "", "skipped": "not checked: "}
    return CheckResult(
        stack_file=stack_file,
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
