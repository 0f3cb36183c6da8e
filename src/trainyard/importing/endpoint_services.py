"""The services of VPC endpoints, by the names that stack files have for them."""

from __future__ import annotations

import re
from typing import get_args

from trainyard.components.config.network import EndpointService
from trainyard.importing.draft import Draft
from trainyard.importing.reader import Reader
from trainyard.importing.source import Location

_SERVICE = re.compile(r"com\.amazonaws\.(?:\$\{AWS::Region\}|[a-z0-9-]+)\.(?P<name>[\w.-]+)")
"""https://docs.aws.amazon.com/vpc/latest/privatelink/aws-services-privatelink-support.html"""
_GATEWAYS = ("s3", "dynamodb")


def take_endpoint(network: Draft, service: Reader, kind: Reader) -> Location | None:
    """Add an endpoint to a network, and return its place; None for one that stacks do not have.

    Args:
        network: The section of the stack file.
        service: Name of the service: `com.amazonaws.us-west-2.s3`.
        kind: Type of the endpoint; `Gateway` without one.
    """
    match = _SERVICE.fullmatch(str(service.value))
    is_gateway = str(kind.value or "Gateway") == "Gateway"
    key, known = (
        ("gateway_endpoints", _GATEWAYS)
        if is_gateway
        else ("interface_endpoints", get_args(EndpointService))
    )
    if match is None or match["name"] not in known:
        return None
    names = network.values.setdefault(key, [])
    if match["name"] not in names:
        names.append(match["name"])
    place = (*network.at, key, names.index(match["name"]))
    service.claim("taken over", ours=place)
    return place
