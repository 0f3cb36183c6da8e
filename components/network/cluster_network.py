"""One interface to the VPC of a cluster: existing, new, or that of another stack."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pulumi

from trainyard.components.config.network import ExistingVpc, StackNetwork
from trainyard.components.config.network_outputs import network_of_outputs
from trainyard.components.config.problems import ROOT, ConfigError, Problem
from trainyard.components.network.network_plan import NetworkPlan
from trainyard.components.network.vpc import Vpc, VpcArgs
from trainyard.components.typed_command import pulumi_command

# The network of another stack, from its stack outputs.
#
# Source: https://www.pulumi.com/docs/iac/concepts/stacks/#stackreferences


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


class ClusterNetwork:
    """The VPC and the subnets of a plan.

    This is not a component: an existing VPC adds no resource to the stack. A new VPC is the
    component `<name>` (`Vpc`).
    """

    vpc_id: pulumi.Output[str]
    """Id of the VPC."""
    ready: Sequence[pulumi.Resource]
    """Resources that must exist before the first node and until after the last one: routes, NAT
    gateways and endpoints of a new VPC."""

    def __init__(
        self,
        name: str,
        plan: NetworkPlan,
        *,
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Use the existing VPC of the plan, or create it with the name `name`."""
        self._plan = plan
        self._vpc: Vpc | None = None
        if plan.vpc_id is not None:
            self.vpc_id, self.ready = pulumi.Output.from_input(plan.vpc_id), ()
            return
        self._vpc = Vpc(name, VpcArgs(plan=plan, tags=tags), opts)
        self.vpc_id, self.ready = self._vpc.vpc_id, self._vpc.ready

    def subnet_id(self, reference: str) -> pulumi.Input[str]:
        """Return the id of a subnet by its reference in plans.

        Raises:
            KeyError: the plan has no such subnet.
        """
        if self._vpc is not None:
            return self._vpc.subnet_id(reference)
        # The reference of an existing subnet is its id.
        return self._plan.subnet(reference).name

    def subnet_ids(self) -> list[pulumi.Input[str]]:
        """Return the ids of all subnets, public ones first."""
        return [self.subnet_id(subnet.name) for subnet in self._plan.subnets]
