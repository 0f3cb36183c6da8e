"""The Pulumi program: provision the cluster that the stack's configuration describes.

The `__main__.py` of a project is two lines: `from trainyard.program import run`, then `run()`.
"""

import sys

import pulumi

import trainyard.components.cheap_imports  # noqa: F401 - the first of all
from trainyard.components import clock
from trainyard.components.account.reader import AccountUnreachableError
from trainyard.components.architectures.build import build, import_ahead
from trainyard.components.architectures.given_config import given_config, given_settings
from trainyard.components.architectures.lookup import look_up
from trainyard.components.architectures.plan_stack import with_plan_problems
from trainyard.components.architectures.prepare import Prepared, prepare
from trainyard.components.config.problems import ConfigError
from trainyard.components.engine_calls import await_no_notes, start_aws_provider
from trainyard.components.typed_command import as_typed

MESSAGE_SHOWN = 32
"""Exit code at which Pulumi adds nothing to the error that the program logged."""


def run() -> None:
    """Register the resources of the stack that the engine runs, and export its outputs.

    Raises:
        SystemExit: the configuration is invalid or does not fit the account; the errors are logged.
    """
    await_no_notes()
    try:
        ready = prepared()
    except (ConfigError, AccountUnreachableError) as error:
        pulumi.log.error(as_typed(str(error)))
        sys.exit(MESSAGE_SHOWN)
    for warning in ready.warnings:
        pulumi.log.warn(as_typed(warning))
    for output, value in build(ready.plan).items():
        pulumi.export(output, value)


def prepared() -> Prepared:
    """Return a plan that fits the account, or raise everything that is wrong at once."""
    stack_file, aws = f"Pulumi.{pulumi.get_stack()}.yaml", pulumi.Config("aws")
    now = clock.now()
    try:
        config = given_config(stack_file)
    except ConfigError as error:
        raise with_plan_problems(error, region=aws.get("region") or "", now=now) from error
    import_ahead(config)
    start_aws_provider()
    region = aws.require("region")
    facts = look_up(config, region=region, settings=given_settings(stack_file))
    return prepare(config, facts, stack_file=stack_file, region=region, now=now)
