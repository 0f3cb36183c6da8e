"""Route tables, routes, and which subnet uses which table.

Source: https://www.pulumi.com/registry/packages/aws/api-docs/ec2/ (`routetable`, `route`,
`routetableassociation`)
"""

from __future__ import annotations

from typing import Any

from sandbox.providers._protocol.servicer import ProviderError
from sandbox.providers.aws.account import Account, retag_ec2, tag_map, tag_specifications
from sandbox.providers.aws.resource import ResourceType, Values


def _create_table(account: Account, inputs: Values) -> tuple[str, Values]:
    made = account.client("ec2").create_route_table(
        VpcId=inputs["vpcId"], TagSpecifications=tag_specifications("route-table", inputs)
    )
    return made["RouteTable"]["RouteTableId"], {}


def _describe(account: Account, table_id: str) -> Any:
    found = account.client("ec2").describe_route_tables(RouteTableIds=[table_id])
    return found["RouteTables"][0]


def _read_table(account: Account, table_id: str) -> Values:
    table = _describe(account, table_id)
    return {
        "arn": account.arn("ec2", f"route-table/{table_id}"),
        "ownerId": table["OwnerId"],
        "vpcId": table["VpcId"],
        "tags": tag_map(table.get("Tags")) or None,
    }


def _delete_table(account: Account, table_id: str, outputs: Values) -> None:
    account.client("ec2").delete_route_table(RouteTableId=table_id)


ROUTE_TABLE = ResourceType(
    token="aws:ec2/routeTable:RouteTable",
    inputs=frozenset({"vpcId", "tags"}),
    required=frozenset({"vpcId"}),
    computed=frozenset({"arn", "ownerId"}),
    replace_on=frozenset({"vpcId"}),
    create=_create_table,
    read=_read_table,
    update=retag_ec2,
    delete=_delete_table,
)

_TARGETS = {"gatewayId": "GatewayId", "natGatewayId": "NatGatewayId"}


def _route_arguments(inputs: Values) -> dict[str, Any]:
    targets = {aws: inputs[name] for name, aws in _TARGETS.items() if inputs.get(name)}
    if len(targets) != 1:
        raise ProviderError(f"a route needs one of {', '.join(_TARGETS)}")
    return {
        "RouteTableId": inputs["routeTableId"],
        "DestinationCidrBlock": inputs["destinationCidrBlock"],
        **targets,
    }


def _create_route(account: Account, inputs: Values) -> tuple[str, Values]:
    account.client("ec2").create_route(**_route_arguments(inputs))
    # As the official provider imports one.
    return f"{inputs['routeTableId']}_{inputs['destinationCidrBlock']}", {}


def _read_route(account: Account, identifier: str) -> Values | None:
    table_id, _, destination = identifier.partition("_")
    for route in _describe(account, table_id)["Routes"]:
        if route.get("DestinationCidrBlock") == destination:
            return {
                "routeTableId": table_id,
                "destinationCidrBlock": destination,
                "origin": route["Origin"],
                "state": route["State"],
                **{name: route.get(aws) for name, aws in _TARGETS.items()},
            }
    return None


def _update_route(account: Account, identifier: str, olds: Values, news: Values) -> None:
    account.client("ec2").replace_route(**_route_arguments(news))


def _delete_route(account: Account, identifier: str, outputs: Values) -> None:
    account.client("ec2").delete_route(
        RouteTableId=outputs["routeTableId"], DestinationCidrBlock=outputs["destinationCidrBlock"]
    )


ROUTE = ResourceType(
    token="aws:ec2/route:Route",
    inputs=frozenset({"routeTableId", "destinationCidrBlock", *_TARGETS}),
    required=frozenset({"routeTableId", "destinationCidrBlock"}),
    computed=frozenset({"origin", "state"}),
    replace_on=frozenset({"routeTableId", "destinationCidrBlock"}),
    create=_create_route,
    read=_read_route,
    update=_update_route,
    delete=_delete_route,
)


def _create_association(account: Account, inputs: Values) -> tuple[str, Values]:
    account.client("ec2").associate_route_table(
        SubnetId=inputs["subnetId"], RouteTableId=inputs["routeTableId"]
    )
    # A subnet has one association; its own id changes with its table, the subnet's does not.
    return inputs["subnetId"], {}


def _association(account: Account, subnet_id: str) -> tuple[str, str] | None:
    """Return association and table of a subnet."""
    tables = account.client("ec2").describe_route_tables(
        Filters=[{"Name": "association.subnet-id", "Values": [subnet_id]}]
    )["RouteTables"]
    for table in tables:
        for association in table["Associations"]:
            if association.get("SubnetId") == subnet_id:
                return association["RouteTableAssociationId"], table["RouteTableId"]
    return None


def _subnet_of(account: Account, identifier: str) -> str:
    """Return the subnet of an association that is known by the official provider's id."""
    if not identifier.startswith("rtbassoc-"):
        return identifier
    tables = account.client("ec2").describe_route_tables(
        Filters=[{"Name": "association.route-table-association-id", "Values": [identifier]}]
    )["RouteTables"]
    found = [a for table in tables for a in table["Associations"]]
    return next(
        (a["SubnetId"] for a in found if a["RouteTableAssociationId"] == identifier), identifier
    )


def _read_association(account: Account, subnet_id: str) -> Values | None:
    found = _association(account, subnet_id)
    return {"subnetId": subnet_id, "routeTableId": found[1]} if found else None


def _update_association(account: Account, subnet_id: str, olds: Values, news: Values) -> None:
    found = _association(account, subnet_id)
    if found is None:
        raise ProviderError(f"{subnet_id} has no route table any more")
    account.client("ec2").replace_route_table_association(
        AssociationId=found[0], RouteTableId=news["routeTableId"]
    )


def _delete_association(account: Account, subnet_id: str, outputs: Values) -> None:
    found = _association(account, subnet_id)
    if found is not None:
        account.client("ec2").disassociate_route_table(AssociationId=found[0])


ASSOCIATION = ResourceType(
    token="aws:ec2/routeTableAssociation:RouteTableAssociation",
    inputs=frozenset({"subnetId", "routeTableId"}),
    required=frozenset({"subnetId", "routeTableId"}),
    computed=frozenset(),
    replace_on=frozenset({"subnetId"}),
    create=_create_association,
    known_as=_subnet_of,
    read=_read_association,
    update=_update_association,
    delete=_delete_association,
)

RESOURCE_TYPES = (ROUTE_TABLE, ROUTE, ASSOCIATION)
