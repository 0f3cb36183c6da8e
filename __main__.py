"""Provision the cluster that the stack's configuration describes."""

import sys

import pulumi

import components.cheap_imports  # noqa: F401 - the first of all
from components import clock
from components.account.lookup import AccountUnreachableError
from components.architectures.build import build, import_ahead
from components.architectures.given_config import given_config
from components.architectures.prepare import Prepared, look_up, prepare
from components.config.problems import ConfigError
from components.engine_calls import await_no_notes, start_aws_provider

MESSAGE_SHOWN = 32
"""Exit code at which Pulumi adds nothing to the error that the program logged."""


def prepared() -> Prepared:
    """Return a plan that fits the account, or raise everything that is wrong at once."""
    stack_file, aws = f"Pulumi.{pulumi.get_stack()}.yaml", pulumi.Config("aws")
    config = given_config(stack_file)
    import_ahead(config)
    start_aws_provider()
    region, now = aws.require("region"), clock.now()
    facts = look_up(config, region=region, profile=aws.get("profile"))
    return prepare(config, facts, stack_file=stack_file, region=region, now=now)


await_no_notes()
try:
    ready = prepared()
except (ConfigError, AccountUnreachableError) as error:
    pulumi.log.error(str(error))
    sys.exit(MESSAGE_SHOWN)
for warning in ready.warnings:
    pulumi.log.warn(warning)
for output, value in build(ready.plan).items():
    pulumi.export(output, value)
