"""`check`: schema and plan of stack files without an engine, and the account on demand."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from tools.cli import console, failures, options
from tools.cli.check_result import CheckResult, answer_results, refuse_two_forms
from tools.workspace.stack_files import EKS, PROFILE_KEY, REGION_KEY, StackFile

if TYPE_CHECKING:
    from components.architectures.plan_stack import AnyPlan
    from components.config.network import ExistingVpc, StackNetwork
    from components.config.stack import AnyStackConfig
    from tools.findings.finding import Stage


def check(
    stacks: Annotated[list[str], typer.Argument(help="Stacks, such as p5-cb.")],
    sandbox: options.Sandbox = False,
    live: Annotated[
        bool,
        typer.Option("--live", help="Ask the AWS account too, without a change to it."),
    ] = False,
    stack_file: options.StackFilePath = None,
    as_json: options.AsJson = False,
    as_sarif: options.AsSarif = False,
) -> None:
    """Check stack files: schema and plan, and with --live what the account says."""
    refuse_two_forms(as_json=as_json, as_sarif=as_sarif)
    if stack_file is not None and len(stacks) > 1:
        raise failures.WrongUseError("--stack-file replaces the file of one stack; name one stack")
    found = [options.stack_file(s, path=stack_file, sandbox=sandbox) for s in stacks]
    results = [_result(file) for file in found]
    if live and all(result.ok for result in results):
        # What the account says about a configuration that is wrong in itself helps nobody.
        from tools.cli.session import account_access

        results = []
        for file in found:
            with account_access(sandbox=sandbox, profile=file.profile):
                results.append(_preflight_result(file, sandbox=sandbox))
    answer_results(results, as_json=as_json, as_sarif=as_sarif)
    if not all(result.ok for result in results):
        raise typer.Exit(failures.WRONG_USE)


def _result(stack_file: StackFile) -> CheckResult:
    from components.config.problems import ConfigError

    try:
        notes = plan_of(stack_file).notes
    except ConfigError as error:
        stage = refusing_stage(stack_file)
        return CheckResult(stack_file=stack_file, error=error, stage=stage)
    return CheckResult(stack_file=stack_file, notes=tuple(notes))


def _preflight_result(stack_file: StackFile, *, sandbox: bool) -> CheckResult:
    from components.config.problems import ConfigError
    from components.preflight.run import run_preflight
    from tools.cli.stack_references import network_reader

    found = run_preflight(
        config_of(stack_file, network_of=network_reader(stack_file, sandbox=sandbox)),
        stack_file=stack_file.name,
        region=stack_file.region,
        now=datetime.now(UTC),
    )
    if stack_file.architecture == EKS and not sandbox:
        from tools.cli.aws_cli import aws_cli_row

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


def refusing_stage(stack_file: StackFile) -> Stage:
    """Return what refuses a stack file: its schema, else its plan, else the account."""
    from components.config.problems import ConfigError

    try:
        config_of(stack_file)
    except ConfigError:
        return "schema"
    try:
        plan_of(stack_file)
    except ConfigError:
        return "plan"
    return "preflight"


def plan_of(stack_file: StackFile) -> AnyPlan:
    """Return the plan of a stack file, from schema and plan alone.

    Raises:
        ConfigError: with every problem.
    """
    from components.architectures.plan_stack import plan_stack

    return plan_stack(
        config_of(stack_file),
        stack_file=stack_file.name,
        region=stack_file.region,
        now=datetime.now(UTC),
    )


def config_of(
    stack_file: StackFile, *, network_of: Callable[[StackNetwork], ExistingVpc] | None = None
) -> AnyStackConfig:
    """Return the configuration of a stack file, checked by the schema.

    `network_of` looks up the network of another stack; left out, words stand for its ids.

    Raises:
        ConfigError: with every problem.
    """
    from components.config.load import load_stack_config
    from components.config.network import unread_network
    from components.config.problems import ConfigError
    from components.config.provider_settings import provider_problems

    name = stack_file.name
    missing = provider_problems(
        region=stack_file.config.get(REGION_KEY),
        profile=stack_file.config.get(PROFILE_KEY),
        stack_file=name,
    )
    try:
        config = load_stack_config(
            stack_file.cluster,
            stack_file=name,
            stray_keys=stack_file.stray_keys,
            network_of=network_of or unread_network,
        )
    except ConfigError as error:
        raise ConfigError([*missing, *error.problems], stack_file=name) from error
    if config.policies:  # only then, because the pack takes a second to import
        from policies.pack_config import unknown_rules

        missing += unknown_rules(config, stack_file=name)
    if missing:
        raise ConfigError(missing, stack_file=name)
    return config


def _warned(stack_file: StackFile, *, live: bool, sandbox: bool) -> tuple[str, ...]:
    if not live:
        plan_of(stack_file)
        return ()
    from components.account.prepare import prepare
    from components.account.stack_lookup import look_up
    from tools.cli.stack_references import network_reader

    config = config_of(stack_file, network_of=network_reader(stack_file, sandbox=sandbox))
    prepared = prepare(
        config,
        look_up(config, region=stack_file.region),
        stack_file=stack_file.name,
        region=stack_file.region,
        now=datetime.now(UTC),
    )
    return prepared.warnings


def refuse_wrong_config(stack_file: StackFile, *, live: bool, sandbox: bool = False) -> None:
    """Stop before the engine starts where schema, plan or account refuse the configuration.

    Raises:
        ConfigError: with every problem.
        AccountUnreachableError: there is no account to ask.
    """
    for warning in _warned(stack_file, live=live, sandbox=sandbox):
        console.progress(f"warning: {warning}")
