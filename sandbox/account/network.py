"""The VPC of the account, its gateways, routes and subnets, and the key pairs.

moto chooses ids itself. Each object is made through moto, so that it is complete, and then moved to
the fixture's id before anything refers to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

WORLD = "0.0.0.0/0"


def load_network(ec2: Any, account: Mapping[str, Any]) -> None:
    """Make VPC, internet gateway, route tables, subnets, NAT gateway and default routes."""
    vpc = _vpc(ec2, account["vpc"])
    gateway = ec2.create_internet_gateway()
    _rename(ec2.internet_gateways, gateway, account["internet_gateway"]["id"])
    ec2.attach_internet_gateway(gateway.id, vpc.id)
    tables = {table["name"]: _route_table(ec2, vpc.id, table) for table in account["route_tables"]}
    for subnet in account["subnets"]:
        _subnet(ec2, vpc.id, subnet, tables[subnet["routes"]])
    nat = _nat_gateway(ec2, account["nat_gateway"])
    for table in account["route_tables"]:
        through = (
            {"gateway_id": gateway.id}
            if table["default_route"] == "internet_gateway"
            else {"nat_gateway_id": nat.id}
        )
        ec2.create_route(table["id"], WORLD, **through)


def load_key_pairs(ec2: Any, key_pairs: Sequence[Mapping[str, str]]) -> None:
    """Import the key pairs; EC2 knows only their public halves."""
    for each in key_pairs:
        key_pair = ec2.import_key_pair(each["name"], each["public_key"].encode(), tags={})
        key_pair.id = each["id"]


def _vpc(ec2: Any, wanted: Mapping[str, str]) -> Any:
    vpc = ec2.create_vpc(wanted["cidr"])
    made = vpc.id
    _rename(ec2.vpcs, vpc, wanted["id"])
    # The objects that EC2 creates together with a VPC refer to it by its id.
    ec2.groups[vpc.id] = ec2.groups.pop(made)
    for group in ec2.groups[vpc.id].values():
        group.vpc_id = vpc.id
    for each in [*ec2.route_tables.values(), *ec2.network_acls.values()]:
        if each.vpc_id == made:
            each.vpc_id = vpc.id
    vpc.enable_dns_hostnames = True
    vpc.add_tag("Name", wanted["name"])
    return vpc


def _route_table(ec2: Any, vpc_id: str, wanted: Mapping[str, str]) -> str:
    table = ec2.create_route_table(vpc_id)
    _rename(ec2.route_tables, table, wanted["id"])
    table.add_tag("Name", wanted["name"])
    return table.id


def _subnet(ec2: Any, vpc_id: str, wanted: Mapping[str, str], route_table_id: str) -> None:
    subnet = ec2.create_subnet(vpc_id, wanted["cidr"], availability_zone=wanted["zone"])
    made = subnet.id
    _rename(ec2.subnets[wanted["zone"]], subnet, wanted["id"])
    for acl in ec2.network_acls.values():
        for association in acl.associations:
            if association.subnet_id == made:
                association.subnet_id = subnet.id
    subnet.default_for_az = False
    subnet.map_public_ip_on_launch = wanted["routes"] == "public"
    subnet.add_tag("Name", wanted["name"])
    ec2.associate_route_table(route_table_id, subnet_id=subnet.id)


def _nat_gateway(ec2: Any, wanted: Mapping[str, str]) -> Any:
    address = ec2.allocate_address("vpc", address=wanted["address"])
    nat = ec2.create_nat_gateway(wanted["subnet"], address.allocation_id)
    _rename(ec2.nat_gateways, nat, wanted["id"])
    return nat


def _rename(registry: dict[str, Any], item: Any, wanted_id: str) -> None:
    del registry[item.id]
    item.id = wanted_id
    registry[wanted_id] = item
