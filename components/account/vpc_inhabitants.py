"""Objects in a VPC that its stack did not create and that prevent its deletion.

Sources:
    https://docs.aws.amazon.com/vpc/latest/userguide/delete-vpc.html: a subnet with interfaces and a
    VPC with security groups cannot be deleted
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeNetworkInterfaces.html
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.components.account.lookup import AccountReader
from trainyard.components.tagging import CLUSTER_TAG, tag_map

DEFAULT_GROUP = "default"
"""Name of the default security group, which is created and deleted with the VPC.
https://docs.aws.amazon.com/vpc/latest/userguide/default-security-group.html"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inhabitant:
    """An object in the VPC that the stack did not create."""

    identifier: str
    kind: str
    """For messages: `security group`."""
    name: str
    """Name from its owner; empty without a name."""
    cluster: str | None
    """`name` of the trainyard stack that owns it, from its tags; None without such tags."""


def vpc_inhabitants(
    reader: AccountReader, vpc_id: str, own: Collection[str]
) -> tuple[Inhabitant, ...]:
    """Return the security groups, endpoints and interfaces in a VPC that are not in `own`.

    Everything in a subnet has an interface there: instances, NAT gateways, file systems, load
    balancers. Interfaces of NAT gateways and endpoints in `own` are not returned.

    Args:
        reader: Reader for the account and region of the VPC.
        vpc_id: The VPC; the result is empty if it does not exist.
        own: Ids of all resources of the VPC's stack.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    in_vpc = [{"Name": "vpc-id", "Values": [vpc_id]}]
    endpoints = _all(reader, "VpcEndpoints", Filters=in_vpc)
    gateways = _all(reader, "NatGateways", Filter=in_vpc)
    groups = _all(reader, "SecurityGroups", Filters=in_vpc)
    interfaces = _all(reader, "NetworkInterfaces", Filters=in_vpc)
    owned = {*own, *_interfaces_of(endpoints, gateways, own)}
    others = [each for each in groups if each["GroupName"] != DEFAULT_GROUP]
    found = (
        *(_inhabitant(each, "GroupId", "security group", "GroupName") for each in others),
        *(_inhabitant(each, "VpcEndpointId", "VPC endpoint", "ServiceName") for each in endpoints),
        *(
            _inhabitant(each, "NetworkInterfaceId", "network interface", "Description")
            for each in interfaces
        ),
    )
    return tuple(each for each in found if each.identifier not in owned)


_METHODS = {
    "SecurityGroups": "describe_security_groups",
    "VpcEndpoints": "describe_vpc_endpoints",
    "NatGateways": "describe_nat_gateways",
    "NetworkInterfaces": "describe_network_interfaces",
}
"""Client methods, by the name of the list in their response."""


def _all(reader: AccountReader, what: str, **filters: Any) -> list[Mapping[str, Any]]:
    pages = reader.ec2.get_paginator(_METHODS[what]).paginate(**filters)
    answer = reader.ask(f"ec2:Describe{what}", pages.build_full_result)
    return (answer or {}).get(what, [])


def _interfaces_of(
    endpoints: Iterable[Mapping[str, Any]],
    gateways: Iterable[Mapping[str, Any]],
    own: Collection[str],
) -> Iterator[str]:
    for endpoint in endpoints:
        if endpoint["VpcEndpointId"] in own:
            yield from endpoint.get("NetworkInterfaceIds", [])
    for gateway in gateways:
        if gateway["NatGatewayId"] in own:
            addresses = gateway.get("NatGatewayAddresses", [])
            yield from (a["NetworkInterfaceId"] for a in addresses if "NetworkInterfaceId" in a)


def _inhabitant(answer: Mapping[str, Any], identifier: str, kind: str, name: str) -> Inhabitant:
    tags = tag_map(answer.get("Tags") or answer.get("TagSet"))
    return Inhabitant(
        identifier=answer[identifier],
        kind=kind,
        name=tags.get("Name") or answer.get(name, ""),
        cluster=tags.get(CLUSTER_TAG),
    )
