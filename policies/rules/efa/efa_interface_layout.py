"""The network interfaces of a launch template with EFA fit the cards of the instance type.

Why:
    EC2 checks the layout only at launch. The primary interface is card 0 device 0 and has an IP
    address, so it is never `efa-only`. Each combination of card and device is used once. A card
    takes one EFA, and only the interface types that it supports (card 0 of p6-b300 supports no
    EFA). An `efa-only` interface has no IP address, and EC2 assigns no public address to an
    instance with several interfaces. An `efa-only` interface at device 1 of a further card is as
    valid as one at device 0.
Fix:
    Give the primary interface the type `interface` (or `efa`) at card 0 device 0, and each further
    EFA card one `efa-only` interface at device 0.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-efa.html
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_NetworkCardInfo.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pulumi_policy import EnforcementLevel, Severity

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.policies.resources.interfaces import layout_faults
from trainyard.policies.resources.launches import Interface, Launch
from trainyard.policies.resources.props import Facts, is_set, is_true
from trainyard.policies.resources.types import LAUNCH_TEMPLATE
from trainyard.policies.rule import Config, resource_rule

ADDRESS_PROPERTIES = (
    "ipv4AddressCount",
    "ipv4Addresses",
    "ipv4PrefixCount",
    "ipv4Prefixes",
    "ipv6AddressCount",
    "ipv6Addresses",
    "ipv6PrefixCount",
    "ipv6Prefixes",
    "privateIpAddress",
)


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    launch = Launch(resource_type, facts)
    if not launch.efa_interfaces():
        return
    interfaces = list(launch.interfaces())
    yield from layout_faults(interfaces, INSTANCE_TYPES.get(facts.needed("instanceType")))
    yield from _addresses(interfaces)


def _addresses(interfaces: Sequence[Interface]) -> Iterator[str]:
    for interface in interfaces:
        public = is_true(interface.get("associatePublicIpAddress"))
        given = [key for key in ADDRESS_PROPERTIES if is_set(interface.get(key))]
        if interface.type == "efa-only" and (public or given):
            yield (
                f"{interface} is efa-only, which has no IP address, but asks for "
                f"{given[0] if given else 'associatePublicIpAddress'}; remove that property"
            )
        elif public and len(interfaces) > 1:
            yield (
                f"{interface} asks for a public address, which EC2 rejects with several network "
                "interfaces; remove associatePublicIpAddress and launch in a private subnet"
            )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["A10", "A11", "A12", "A13", "A14", "A15"],
    types=(LAUNCH_TEMPLATE,),
    check=_check,
)
