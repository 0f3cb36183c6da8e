"""Network interfaces that are resources of their own, and the instances that they belong to.

Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-efa.html
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pulumi_policy import PolicyResource

from policies.props import UNKNOWN, whole_number
from policies.resource_types import NETWORK_INTERFACE
from policies.stack import Stack


@dataclass(frozen=True, slots=True)
class AttachedInterface:
    """One network interface of an instance, made beforehand."""

    name: str
    """Name of its resource, or what is known of it."""
    type: Any
    """`interface`, `efa`, `efa-only` or `UNKNOWN`."""
    card: int | None
    device: int | None

    def __str__(self) -> str:
        return f"network interface {self.name} (card {self.card}, device {self.device})"


def attached_interfaces(stack: Stack, instance: PolicyResource) -> list[AttachedInterface]:
    """Return the interfaces that an instance starts with, in its order."""
    listed = list(_listed(stack, instance))
    # Once it runs, AWS reports the primary interface under both properties.
    if any((each.card, each.device) == (0, 0) for each in listed):
        return listed
    return [*_primary(stack, instance), *listed]


def interface_type(stack: Stack, interface: PolicyResource) -> Any:
    """Return the type of a network interface's resource; EC2's default is `interface`."""
    return stack.facts_of(interface.urn).get("interfaceType") or "interface"


def _primary(stack: Stack, instance: PolicyResource) -> Iterator[AttachedInterface]:
    path = ("primaryNetworkInterface", "networkInterfaceId")
    if stack.facts_of(instance.urn).get(*path) is not None:
        name, kind = _described(stack, instance, path)
        yield AttachedInterface(name, kind, 0, 0)


def _listed(stack: Stack, instance: PolicyResource) -> Iterator[AttachedInterface]:
    facts = stack.facts_of(instance.urn)
    for index in range(facts.count("networkInterfaces")):
        path = ("networkInterfaces", index)
        name, kind = _described(stack, instance, (*path, "networkInterfaceId"))
        card, device = facts.get(*path, "networkCardIndex"), facts.get(*path, "deviceIndex")
        yield AttachedInterface(name, kind, _number(card), _number(device))


def _described(
    stack: Stack, instance: PolicyResource, path: tuple[str | int, ...]
) -> tuple[str, Any]:
    """Return the name and the type; of several that it may be, what they have in common."""
    reference = stack.refers(instance, *path, to=NETWORK_INTERFACE)
    found = reference.resources if reference else ()
    kinds = {interface_type(stack, each) for each in found}
    kind = kinds.pop() if len(kinds) == 1 else UNKNOWN
    return found[0].name if len(found) == 1 else f"{path[1]}", kind


def _number(value: Any) -> int | None:
    return None if value is UNKNOWN else whole_number(value) or 0
