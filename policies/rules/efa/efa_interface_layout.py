"""The network interfaces of a launch template with EFA stand where the instance type has room.

Why:
    EC2 checks the place of each interface only at the launch: the primary is card 0 device 0 and
    has an address, so it is never `efa-only`; a card and a device are used once; a card takes one
    EFA and only the interface types that it has (card 0 of p6-b300 has no EFA); an `efa-only`
    interface has no address; a public address is not assigned to one of several interfaces. An
    `efa-only` at device 1 of a further card is as legal as one at device 0.
Fix:
    Give the primary type `interface` (or `efa`) at card 0 device 0, and each further EFA card one
    `efa-only` at device 0.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-efa.html
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_NetworkCardInfo.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from components.catalog.instance_types import INSTANCE_TYPES
from policies.resources.interfaces import layout_faults
from policies.resources.launches import Interface, Launch
from policies.resources.props import Facts, is_set, is_true
from policies.resources.types import LAUNCH_TEMPLATE
from policies.rule import Config, on_types

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
                f"{interface} asks for a public address, which EC2 refuses beside other network "
                "interfaces; remove associatePublicIpAddress and launch in a private subnet"
            )


POLICY = ResourceValidationPolicy(
    name="efa-interface-layout",
    display_name="EFA interfaces stand where the instance type has room",
    description=(
        "The network interfaces of a launch template with EFA use each place once, "
        "within the network cards of the instance type."
    ),
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["efa", "A10", "A11", "A12", "A13", "A14", "A15"],
    remediation_steps=(
        "Use type interface at card 0 device 0, and one efa-only interface for each EFA card."
    ),
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html",
    validate=on_types(LAUNCH_TEMPLATE, check=_check),
)
