"""The configuration of the current stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi
from pulumi.runtime.config import is_config_secret

from trainyard.components.architectures.registry import facts_of
from trainyard.components.config.load import load_stack_config, stray_keys
from trainyard.components.config.problems import ROOT, ConfigError
from trainyard.components.config.provider_settings import (
    ProviderSettings,
    provider_problems,
    provider_settings,
    token_problems,
)
from trainyard.components.network.cluster_network import network_reader

if TYPE_CHECKING:
    from trainyard.components.config.load import AnyStackConfig


def given_config(stack_file: str) -> AnyStackConfig:
    """Return the validated configuration that the engine passes.

    Args:
        stack_file: Name of the stack file, for messages.

    Raises:
        ConfigError: every problem of the configuration.
    """
    project, _, key = ROOT.partition(":")
    given = pulumi.runtime.get_config_env()
    found = provider_problems(given, stack_file=stack_file)
    try:
        config = load_stack_config(
            pulumi.Config(project).get_object(key),
            stack_file=stack_file,
            stray_keys=stray_keys(given),
            encrypted=is_config_secret(ROOT),
            network_of=network_reader(stack_file, region=pulumi.Config("aws").get("region")),
        )
    except ConfigError as error:
        problems = [*found, *error.problems]
        raise ConfigError(problems, stack_file=stack_file, assumed=error.assumed) from error
    if facts_of(config.architecture.kind).has_kubernetes:
        found += token_problems(given_settings(stack_file), stack_file=stack_file)
    if found:
        raise ConfigError(found, stack_file=stack_file)
    return config


def given_settings(stack_file: str) -> ProviderSettings:
    """Return how the engine that runs the program reaches the account.

    Args:
        stack_file: Name of the stack file, for messages.
    """
    return provider_settings(pulumi.runtime.get_config_env(), stack_file=stack_file)
