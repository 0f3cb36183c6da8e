"""The network of another stack, from its stack outputs.

Source: https://www.pulumi.com/docs/iac/concepts/stacks/#stackreferences
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pulumi

from trainyard.components.config.network import ExistingVpc, StackNetwork
from trainyard.components.config.network_outputs import network_of_outputs
from trainyard.components.config.problems import ROOT, ConfigError, Problem
from trainyard.components.config.pulumi_command import pulumi_command

READ_STACK_OUTPUTS = "pulumi:pulumi:readStackOutputs"
"""The engine function behind `pulumi.StackReference`. Unlike the resource, it registers nothing in
the state before the configuration is validated.
https://github.com/pulumi/pulumi, pkg/resource/deploy/builtins.go"""
NO_SUCH_STACK = "unknown stack"
"""Error of the engine for a stack that does not exist.
https://github.com/pulumi/pulumi, pkg/backend/backend.go"""


def network_reader(
    stack_file: str, *, region: str | None = None
) -> Callable[[StackNetwork], ExistingVpc]:
    """Return a function that looks up the network of another stack, for `stack_file`."""
    return partial(read_network, stack_file=stack_file, region=region)


def read_network(
    reference: StackNetwork, *, stack_file: str, region: str | None = None
) -> ExistingVpc:
    """Return the network outputs of another stack in this backend.

    Must run in a Pulumi program, before the first resource registration.

    Raises:
        ConfigError: the stack does not exist, cannot be read, exports no network, or is in a region
            other than `region`.
    """
    outputs = _outputs(reference, stack_file)
    return network_of_outputs(reference, outputs, stack_file=stack_file, region=region)


def _outputs(reference: StackNetwork, stack_file: str) -> Mapping[str, Any] | None:
    try:
        found = pulumi.runtime.invoke(READ_STACK_OUTPUTS, {"name": reference.stack}).value
    # The SDK raises no more specific exception for engine errors.
    except Exception as error:
        if NO_SUCH_STACK in str(error):
            return None
        raise ConfigError([_unreadable(reference, error)], stack_file=stack_file) from error
    return found["outputs"]


def _unreadable(reference: StackNetwork, error: Exception) -> Problem:
    return Problem(
        path=f"{ROOT}.network.stack",
        found=reference.stack,
        problem=f"the outputs of this stack cannot be read: {error}",
        allowed="the name of a stack in this backend, or `organization/project/stack`",
        remedy=(
            f"`{pulumi_command('stack ls --all')}` lists the stacks of the backend; or use `kind: "
            "existing-vpc` with the ids of the VPC and its subnets"
        ),
    )
