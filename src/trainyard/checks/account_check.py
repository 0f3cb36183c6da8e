"""The check of a stack against its account, before the engine starts."""

from __future__ import annotations

from trainyard.cli import console
from trainyard.components import clock
from trainyard.components.architectures.lookup import look_up
from trainyard.components.architectures.prepare import Prepared, prepare
from trainyard.stack_files.stack_config import config_of
from trainyard.stack_files.stack_references import network_reader
from trainyard.workspace.target import Target


def refuse_wrong_account(target: Target) -> None:
    """Reject a configuration that does not fit the account, and print the warnings.

    Raises:
        ConfigError: the account rejects it; the error lists every problem.
        AccountUnreachableError: the account cannot be queried.
    """
    for warning in prepared_in_account(target).warnings:
        console.progress(f"warning: {warning}")


def prepared_in_account(target: Target) -> Prepared:
    """Return the plan of a stack in the account of this process's environment.

    Raises:
        ConfigError: the account rejects it; the error lists every problem.
        AccountUnreachableError: the account cannot be queried.
    """
    config = config_of(target.stack_file, network_of=network_reader(target))
    return prepare(
        config,
        look_up(config, region=target.region, settings=target.account.settings),
        stack_file=target.stack_file.name,
        region=target.region,
        now=clock.now(),
    )
