"""A network interface of type efa-only requests no IP address and no prefix.

Why:
    An EFA-only interface is only the fabric device. EC2 assigns no IP address to it, and rejects a
    request with an address or a prefix.
Fix:
    Remove the addresses, or use the type `efa`, which has an IP address.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-efa.html
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateNetworkInterface.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.props import Facts, is_set
from trainyard.policies.resources.types import NETWORK_INTERFACE
from trainyard.policies.rule import Config, resource_rule

_LISTS = ("ipv4Prefixes", "ipv6Addresses", "ipv6AddressLists", "ipv6Prefixes", "privateIps")
_OTHERS = (
    "ipv4PrefixCount",
    "ipv6AddressCount",
    "ipv6PrefixCount",
    "privateIp",
    "privateIpsCount",
)


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    if facts.needed("interfaceType") != "efa-only":
        return
    given = [key for key in _LISTS if facts.count(key)]
    given += [key for key in _OTHERS if is_set(facts.get(key)) and facts.get(key) != 0]
    if given:
        yield (
            f"it is efa-only, which has no IP address, but asks for {given[0]}; remove that "
            "property, or set interface_type to efa"
        )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.MEDIUM,
    tags=["A15"],
    types=(NETWORK_INTERFACE,),
    check=_check,
)
