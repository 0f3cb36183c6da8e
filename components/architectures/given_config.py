"""The configuration of the stack that the engine runs the program for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi
from pulumi.runtime.config import is_config_secret

from components.config.load import load_stack_config, stray_keys
from components.config.problems import ROOT
from components.network.stack_reference import network_reader

if TYPE_CHECKING:
    from components.config.stack_models import AnyStackConfig


def given_config(stack_file: str) -> AnyStackConfig:
    """Return the configuration that the engine hands on, checked.

    Args:
        stack_file: Name of the file that it is from, for messages.

    Raises:
        ConfigError: every problem that it has.
    """
    project, _, key = ROOT.partition(":")
    return load_stack_config(
        pulumi.Config(project).get_object(key),
        stack_file=stack_file,
        stray_keys=stray_keys(pulumi.runtime.get_config_env()),
        encrypted=is_config_secret(ROOT),
        network_of=network_reader(stack_file, region=pulumi.Config("aws").get("region")),
    )
