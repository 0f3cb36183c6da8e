"""What lives in a VPC besides what its stack made, and so keeps AWS from deleting it.

Sources:
    https://docs.aws.amazon.com/vpc/latest/userguide/delete-vpc.html: interfaces in a subnet keep
    the subnet, and security groups keep the VPC
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeNetworkInterfaces.html
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.account.lookup import AccountReader
from components.tagging import CLUSTER_TAG

DEFAULT_GROUP = "default"
"""Name of the security group that comes and goes with its VPC.
https://docs.aws.amazon.com/vpc/latest/userguide/default-security-group.html"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inhabitant:
    """An object in the VPC that somebody else made."""

    identifier: str
    kind: str
    """For people: `security group`."""
    name: str
    """What its owner calls it; empty where it has no name."""
    cluster: str | None
    """The stack of this program that it belongs to, by its `name`; None where its tags say none."""


def vpc_inhabitants(
    reader: AccountReader, vpc_id: str, own: Collection[str]
) -> tuple[Inhabitant, ...]:
    """Return the security groups, endpoints and interfaces in a VPC that are not of `own`.

    What stands in a subnet has an interface there: instances, NAT gateways, file systems, load
    balancers. Those of NAT gateways and endpoints of `own` belong to these.

    Args:
        reader: Of the account and the region of the VPC.
        vpc_id: The VPC; where it does not exist, nothing lives in it.
        own: Ids of everything that the stack of the VPC made.

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
"""Methods of the client, by the name of the list in their answer."""


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
    tags = {tag["Key"]: tag["Value"] for tag in answer.get("Tags") or answer.get("TagSet") or []}
    return Inhabitant(
        identifier=answer[identifier],
        kind=kind,
        name=tags.get("Name") or answer.get(name, ""),
        cluster=tags.get(CLUSTER_TAG),
    )
