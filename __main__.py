"""Provision the cluster that the stack's configuration describes."""

import sys
from datetime import UTC, datetime

import pulumi

from components.account.lookup import AccountUnreachableError
from components.account.prepare import Prepared, look_up, prepare
from components.architectures.build import build, import_ahead
from components.config.load import load_stack_config, stray_keys
from components.config.problems import ROOT, ConfigError
from components.network.stack_reference import network_reader

MESSAGE_SHOWN = 32
"""Exit code at which Pulumi adds nothing to the error that the program logged."""


def prepared() -> Prepared:
    """Return a plan that fits the account, or raise everything that is wrong at once."""
    project, _, key = ROOT.partition(":")
    raw, stack_file = pulumi.Config(project).get_object(key), f"Pulumi.{pulumi.get_stack()}.yaml"
    aws, stray = pulumi.Config("aws"), stray_keys(pulumi.runtime.get_config_env())
    other = network_reader(stack_file, region=aws.get("region"))
    config = load_stack_config(raw, stack_file=stack_file, stray_keys=stray, network_of=other)
    import_ahead(config)
    region, now = aws.require("region"), datetime.now(UTC)
    facts = look_up(config, region=region, profile=aws.get("profile"))
    return prepare(config, facts, stack_file=stack_file, region=region, now=now)


try:
    ready = prepared()
except (ConfigError, AccountUnreachableError) as error:
    pulumi.log.error(str(error))
    sys.exit(MESSAGE_SHOWN)
for warning in ready.warnings:
    pulumi.log.warn(warning)
for output, value in build(ready.plan).outputs().items():
    pulumi.export(output, value)
