"""The configuration of the current stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi
from pulumi.runtime.config import is_config_secret

from trainyard.components.config.load import load_stack_config, stray_keys
from trainyard.components.config.problems import ROOT
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
    return load_stack_config(
        pulumi.Config(project).get_object(key),
        stack_file=stack_file,
        stray_keys=stray_keys(pulumi.runtime.get_config_env()),
        encrypted=is_config_secret(ROOT),
        network_of=network_reader(stack_file, region=pulumi.Config("aws").get("region")),
    )
