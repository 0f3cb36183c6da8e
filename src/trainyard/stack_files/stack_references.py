"""The network of another stack in the same backend."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from trainyard.cli import console
from trainyard.components.config.network import ExistingVpc, StackNetwork
from trainyard.components.config.network_outputs import network_of_outputs
from trainyard.engine.engine_process import EngineFailedError, PulumiCommand
from trainyard.engine.environment import account_environment
from trainyard.engine.pulumi_engine import ensure_pulumi
from trainyard.sandboxes.session import project_of
from trainyard.stack_files.installation import PROJECT
from trainyard.stack_files.stack_files import CLUSTER_KEY, StackFile
from trainyard.stack_files.stacks_directory import stacks_directory
from trainyard.workspace.project import sandbox_directory
from trainyard.workspace.target import Target

STACK_REFERENCE = "stack-reference"
"""Kind of a network that belongs to another stack, as named in stack files."""
_ABSENT = "no stack named"
"""Start of the engine's message if a backend does not have a stack.
https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/cmd/pulumi/stack/io.go"""


def network_reader(target: Target) -> Callable[[StackNetwork], ExistingVpc]:
    """Return a function that looks up the network of another stack.

    It reads from the sandbox or the user's backend, and only when called, so stacks without a
    reference need no engine. It raises `ConfigError` if the stack is not deployed or is not a
    network.
    """

    def read(reference: StackNetwork) -> ExistingVpc:
        return network_of_outputs(
            reference,
            target.account.network_outputs(reference.stack),
            stack_file=target.stack_file.name,
            region=target.region or None,
        )

    return read


def with_ids(target: Target) -> StackFile:
    """Return the stack file with network ids instead of a stack reference.

    For an engine that uses another backend than the one of the referenced stack.

    Raises:
        ConfigError: the referenced stack is not deployed, or is not a network.
    """
    stack_file = target.stack_file
    cluster = stack_file.cluster
    network = cluster.get("network") if isinstance(cluster, Mapping) else None
    if not isinstance(network, Mapping) or network.get("kind") != STACK_REFERENCE:
        return stack_file
    reference = StackNetwork.model_validate(network)
    ids = network_reader(target)(reference).model_dump(mode="json")
    config = {**stack_file.config, CLUSTER_KEY: {**cluster, "network": ids}}
    return dataclasses.replace(stack_file, content={**stack_file.content, "config": config})


def sandbox_outputs(stack: str) -> Mapping[str, Any] | None:
    """Return the outputs of a stack in the sandbox; None if it does not exist."""
    *qualified, name = stack.split("/")
    if qualified not in ([], ["organization", PROJECT]):
        return None  # the sandbox's backend has one organization and one project
    return project_of(sandbox_directory()).outputs(name)


def account_outputs(stack: str) -> Mapping[str, Any] | None:
    """Return the outputs of a stack in the user's backend; None if it does not exist."""
    engine = ensure_pulumi(console.progress)
    environment = account_environment(os.environ, engine=engine.directory)
    return outputs_of(PulumiCommand(engine.executable, stacks_directory(), environment), stack)


def outputs_of(command: PulumiCommand, stack: str) -> Mapping[str, Any] | None:
    """Return the outputs of a stack in the engine's backend; None if it does not exist.

    Raises:
        EngineFailedError: the backend cannot be read.
    """
    try:
        return json.loads(command.output(["stack", "output", "--stack", stack, "--json"]))
    except EngineFailedError as error:
        if _ABSENT in str(error):
            return None
        raise
