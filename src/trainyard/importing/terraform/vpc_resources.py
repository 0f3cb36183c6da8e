"""A VPC of resources: `aws_vpc` with its subnets, gateways, endpoints and flow logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trainyard.components.catalog.regions import zone_region
from trainyard.importing.draft import Draft, StackDraft
from trainyard.importing.endpoint_services import take_endpoint
from trainyard.importing.reader import Reader
from trainyard.importing.terraform.blocks import Blocks, address_of, label_of
from trainyard.importing.terraform.source_keys import take
from trainyard.importing.terraform.values import is_known, is_unknown

ONE_OF_EACH_KIND = (
    "the stack has one private and one public subnet in each zone: create others in a network "
    "stack of your own, and use it with `kind: existing-vpc`"
)
_LOAD_BALANCERS = "kubernetes.io/role/elb"
"""Tag of public subnets: https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html"""


@dataclass(frozen=True, slots=True)
class _Subnet:
    block: Reader
    public: bool

    @property
    def zone(self) -> str:
        """The zone; its address in its place if the files do not have it."""
        zone = self.block.at("availability_zone")
        return str(zone.value) if is_known(zone) else address_of(self.block)


def is_public(subnet: Reader, blocks: Blocks) -> bool:
    """Return whether a subnet has a route to an internet gateway, as far as the files say."""
    if subnet.at("map_public_ip_on_launch").flag is True:
        return True
    if _LOAD_BALANCERS in (subnet.at("tags").value or {}):
        return True
    tables = [
        blocks.named(each.at("route_table_id").value)
        for each in blocks.of("aws_route_table_association")
        if blocks.named(each.at("subnet_id").value) == subnet
    ]
    routes = [
        route
        for table in tables
        if table is not None
        for route in (
            *table.at("route").items(),
            *(
                each
                for each in blocks.of("aws_route")
                if blocks.named(each.at("route_table_id").value) == table
            ),
        )
    ]
    if routes:
        return any(_leads_to_internet(each, blocks) for each in routes)
    return "public" in label_of(subnet).lower()


def _leads_to_internet(route: Reader, blocks: Blocks) -> bool:
    gateway = route.at("gateway_id").value
    if str(gateway).startswith("igw-"):
        return True
    return blocks.named(gateway, "aws_internet_gateway") is not None


def read_resources(vpc: Reader, blocks: Blocks, network: Draft, stack: StackDraft) -> None:
    """Read `aws_vpc` with what belongs to it."""
    take(network, "cidr", vpc.at("cidr_block"))
    _take_list(
        network,
        "secondary_cidrs",
        [each.at("cidr_block") for each in blocks.of("aws_vpc_ipv4_cidr_block_association")],
    )
    subnets = [_Subnet(each, is_public(each, blocks)) for each in blocks.of("aws_subnet")]
    _read_zones(subnets, network, stack)
    _read_cidrs(subnets, network)
    if subnets and not any(each.public for each in subnets):
        network.put("public_subnets", value=False)
    _read_gateways(subnets, blocks, network)
    for endpoint in blocks.of("aws_vpc_endpoint"):
        place = take_endpoint(
            network, endpoint.at("service_name"), endpoint.at("vpc_endpoint_type")
        )
        if place is not None:
            endpoint.claim("taken over", ours=place)
    for log in blocks.of("aws_flow_log"):
        if log.at("log_destination_type").value in (None, "cloud-watch-logs"):
            network.put("flow_logs", value=True)
            log.claim("taken over", ours=(*network.at, "flow_logs"))


def _read_gateways(subnets: Sequence[_Subnet], blocks: Blocks, network: Draft) -> None:
    gateways = list(blocks.of("aws_nat_gateway"))
    if subnets and not gateways and all(each.public for each in subnets):
        network.put("nat_gateways", "single")
        blocks.root.report.notes.append(
            "all subnets are public; nodes of a stack are in private subnets, and reach the "
            "internet through a NAT gateway"
        )
        return
    network.put("nat_gateways", ("none", "single", "one-per-zone")[min(len(gateways), 2)])
    for each in gateways:
        each.claim("taken over", ours=(*network.at, "nat_gateways"))


def _read_zones(subnets: Sequence[_Subnet], network: Draft, stack: StackDraft) -> None:
    zones = list(dict.fromkeys(each.zone for each in subnets))
    if len(zones) < 2 or any(each.zone == address_of(each.block) for each in subnets):
        region = stack.region or "us-east-1"
        network.needs("availability_zones", [f"{region}{letter}" for letter in "ab"])
    else:
        network.put("availability_zones", zones)
        stack.region = stack.region or zone_region(zones[0]) or ""
    for each in subnets:
        number = zones.index(each.zone)
        each.block.at("availability_zone").claim(
            "taken over", ours=(*network.at, "availability_zones", number)
        )
        each.block.at("map_public_ip_on_launch").implied(
            "public and private subnets are in each zone"
        )


def _read_cidrs(subnets: Sequence[_Subnet], network: Draft) -> None:
    """Read the addresses, if each zone has a private subnet, and each or none a public one."""
    zones = list(dict.fromkeys(each.zone for each in subnets))
    kinds = (False, True) if any(each.public for each in subnets) else (False,)
    of_kinds = {
        public: sorted(
            (each for each in subnets if each.public is public),
            key=lambda each: zones.index(each.zone),
        )
        for public in kinds
    }
    fits = all([each.zone for each in listed] == zones for listed in of_kinds.values())
    for public, listed in of_kinds.items():
        key = "public_subnet_cidrs" if public else "private_subnet_cidrs"
        cidrs = [each.block.at("cidr_block") for each in listed]
        if fits and all(each.node is not None and not is_unknown(each.node) for each in cidrs):
            _take_list(network, key, cidrs)
        for each in cidrs:
            each.unsupported(ONE_OF_EACH_KIND if not fits else f"set `network.{key}`")


def _take_list(network: Draft, key: str, sources: Sequence[Reader]) -> None:
    known = [each for each in sources if each.node is not None and not is_unknown(each.node)]
    if known:
        network.put(key, [each.value for each in known])
    for number, each in enumerate(known):
        each.claim("taken over", ours=(*network.at, key, number))
