"""EFA network interfaces of an instance fit its instance type, and attach at launch.

Why:
    An instance can start with network interfaces that are separate resources. EC2 checks their
    number and layout only at launch. It attaches an EFA only to a stopped instance, so it rejects a
    separate attachment resource, which Pulumi creates after the instance has started.
Fix:
    List the interfaces in `network_interfaces` of the instance: type `interface` (or `efa`) at card
    0 device 0, and one EFA interface for each further card. Remove the attachment resource.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-efa.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.policies.resources.interfaces import (
    attached_interfaces,
    interface_type,
    layout_faults,
)
from trainyard.policies.resources.launches import EFA_TYPES
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import (
    INSTANCE,
    NETWORK_INTERFACE,
    NETWORK_INTERFACE_ATTACHMENT,
)
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for instance in stack.of_type(INSTANCE):
        for fault in _faults(stack, instance):
            yield instance.urn, fault
    for attachment in stack.of_type(NETWORK_INTERFACE_ATTACHMENT):
        interface = stack.refers(attachment, "networkInterfaceId", to=NETWORK_INTERFACE)
        instance = stack.refers(attachment, "instanceId", to=INSTANCE)
        efa = [
            each
            for each in (interface.resources if interface else ())
            if interface_type(stack, each) in EFA_TYPES
        ]
        if efa and instance and instance.resources:
            yield (
                attachment.urn,
                (
                    f"it attaches {efa[0].name}, an EFA, to {instance.resources[0].name}, which "
                    "already runs by then, and EC2 rejects that; list the interface in "
                    "network_interfaces of the instance"
                ),
            )


def _faults(stack: Stack, instance: PolicyResource) -> Iterator[str]:
    interfaces = attached_interfaces(stack, instance)
    count = sum(interface.type in EFA_TYPES for interface in interfaces)
    if not count:
        return
    instance_type = INSTANCE_TYPES.get(stack.facts_of(instance.urn).needed("instanceType"))
    if instance_type is not None and not instance_type.efa_supported:
        yield (
            f"it has {count} EFA interfaces, but {instance_type.name} has no EFA; remove their "
            "interface_type, or choose an instance type with EFA"
        )
        return
    yield from layout_faults(interfaces, instance_type)


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["A1", "A4", "A11", "A12", "A13", "A14"],
    check=_check,
)
