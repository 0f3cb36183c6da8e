"""The checked configuration of a stack file, and its plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from trainyard.components import clock
from trainyard.components.architectures.plan_stack import plan_stack, with_plan_problems
from trainyard.components.architectures.registry import ARCHITECTURES
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.network import ExistingVpc, StackNetwork, unread_network
from trainyard.components.config.problems import ConfigError
from trainyard.components.config.provider_settings import provider_problems, token_problems
from trainyard.policies.rule_names import unknown_rules
from trainyard.stack_files.stack_files import StackFile

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan
    from trainyard.components.config.load import AnyStackConfig
    from trainyard.findings.finding import Stage


def refusing_stage(stack_file: StackFile) -> Stage:
    """Return the stage that rejects a stack file: schema, plan, or account."""
    try:
        config_of(stack_file)
    except ConfigError:
        return "schema"
    try:
        plan_of(stack_file)
    except ConfigError:
        return "plan"
    return "preflight"


def kind_of(stack_file: StackFile) -> str:
    """Return the architecture kind of a stack file.

    Raises:
        ConfigError: the file has none, or one that does not exist; the error lists every problem.
    """
    if stack_file.architecture not in ARCHITECTURES:
        config_of(stack_file)
    return stack_file.architecture


def plan_of(stack_file: StackFile) -> AnyPlan:
    """Return the plan of a stack file, from schema and plan only.

    Raises:
        ConfigError: the configuration is invalid; the error lists every problem.
    """
    region, now = stack_file.region, clock.now()
    try:
        config = config_of(stack_file)
    except ConfigError as error:
        raise with_plan_problems(error, region=region, now=now) from error
    return plan_stack(config, stack_file=stack_file.name, region=region, now=now)


def config_of(
    stack_file: StackFile, *, network_of: Callable[[StackNetwork], ExistingVpc] | None = None
) -> AnyStackConfig:
    """Return the configuration of a stack file, validated by the schema.

    `network_of` looks up the network of another stack; without it, placeholders replace its ids.

    Raises:
        ConfigError: the configuration is invalid; the error lists every problem.
    """
    name = stack_file.name
    missing = provider_problems(stack_file.config, stack_file=name)
    if stack_file.facts.has_kubernetes:
        missing += token_problems(stack_file.settings, stack_file=name)
    try:
        config = load_stack_config(
            stack_file.cluster,
            stack_file=name,
            stray_keys=stack_file.stray_keys,
            written=stack_file.written,
            network_of=network_of or unread_network,
        )
    except ConfigError as error:
        problems = [*missing, *error.problems]
        raise ConfigError(problems, stack_file=name, assumed=error.assumed) from error
    missing += unknown_rules(config, stack_file=name)
    if missing:
        raise ConfigError(missing, stack_file=name)
    return config
