"""The dependencies between resources in a cold `up` of a stack, as the engine sees them.

The program runs under the recording monitor of the tests, which responds at once, so all outputs
and dependencies are known, including those inside an `apply`. The children of the component
`eks:index:Cluster`, which the package's own plugin registers, are those of its emulation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from tests.support import provider_answers
from tests.support.cloud import Cloud, Registered
from tests.support.stacks import program_of
from trainyard.sandbox.latency.model import LatencyModel, latency_model
from trainyard.sandbox.providers._protocol.values import UNKNOWN
from trainyard.sandbox.providers.eks.arguments import TOKEN as CONTROL_PLANE_COMPONENT
from trainyard.sandbox.providers.eks.cluster import Cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One resource of an `up`."""

    urn: str
    type: str
    name: str
    inputs: Mapping[str, Any]
    seconds: float
    """Typical time to create it; 0 for components."""
    waits_for: frozenset[str]
    """URNs of the resources that it waits for: dependencies, its provider, its parent."""
    ends_with: frozenset[str] = frozenset()
    """URNs of children that are complete before it is: those of a packaged component, whose
    registration the engine answers when all of them exist."""


def stack_graph(stack: str, *, changes: Mapping[str, Any] | None = None) -> list[Step]:
    """Return the steps of a stack of this repository, in the order of their registration.

    `changes` are merged into `trainyard:cluster` of its stack file.
    """
    return graph_of(program_of(stack, changes=changes), latency_model())


def graph_of(program: Callable[[], object], model: LatencyModel) -> list[Step]:
    """Return the steps of a program, in the order of their registration."""
    steps: list[Step] = []
    for made in recorded(program).registered:
        if made.type == CONTROL_PLANE_COMPONENT:
            children = _control_plane(made)
            steps += [_step(child, model, also=_waits_for(made)) for child in children]
            steps.append(_step(made, model, ends_with=[child.urn for child in children]))
        else:
            steps.append(_step(made, model))
    return steps


class _Silent(pulumi.runtime.Mocks):
    """Responds to registrations with the inputs only."""

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        # EKS adds to the network of a control plane, so that a preview does not know it.
        later = {"vpcConfig": UNKNOWN} if args.typ == "aws:eks/cluster:Cluster" else {}
        return f"{args.name}-id", {**args.inputs, **later}

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[str, Any], list[Any]]:
        return dict(provider_answers.CALLS[args.token]), []


def recorded(program: Callable[[], object], *, preview: bool = False) -> Cloud:
    """Return the registrations of a program; in a preview, outputs of resources are unknown."""
    cloud = Cloud()
    if preview:
        cloud.mocks = _Silent()
    settings: Any = pulumi.runtime.settings
    # A separate stack, because the previous one has other outputs.
    settings.set_root_resource(None)
    pulumi.runtime.set_mocks(
        cloud.mocks, project="trainyard", stack="bench", preview=preview, monitor=cloud
    )
    settings.SETTINGS.callbacks = cloud.callbacks
    pulumi.runtime.test(program)()
    return cloud


def _control_plane(made: Registered) -> list[Registered]:
    """Return the registrations of the package's component, from its emulation."""

    def program() -> None:
        Cluster(made.name, made.inputs, pulumi.ResourceOptions())

    inside = recorded(program, preview=True)
    return [child for child in inside.registered if child.type != CONTROL_PLANE_COMPONENT]


def _step(
    made: Registered,
    model: LatencyModel,
    *,
    also: Iterable[str] = (),
    ends_with: Iterable[str] = (),
) -> Step:
    return Step(
        urn=made.urn,
        type=made.type,
        name=made.name,
        inputs=made.inputs,
        seconds=model.seconds(made.type, made.inputs),
        waits_for=_waits_for(made) | frozenset(also),
        ends_with=frozenset(ends_with),
    )


def _waits_for(made: Registered) -> frozenset[str]:
    provider, _, _ = made.provider.rpartition("::")
    return made.dependencies | {urn for urn in (made.parent, provider) if urn}
