"""The network of a template: a VPC that it creates, or that of its parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trainyard.components.catalog.regions import zone_region
from trainyard.importing.cloudformation.template import Resource, Template
from trainyard.importing.cloudformation.values import (
    claim_unknown,
    is_known,
    take_ids,
    take_known,
    why_unknown,
)
from trainyard.importing.draft import Draft, StackDraft
from trainyard.importing.endpoint_services import take_endpoint
from trainyard.importing.placeholders import id_for
from trainyard.importing.reader import Reader

_ANYWHERE = ("0.0.0.0/0", "::/0")
_KEPT_DAYS = 7
"""Days for which a stack keeps flow logs."""


def read_network(template: Template, stack: StackDraft) -> None:
    """Read the VPC that a template creates, or the ids of one that exists."""
    vpcs = [*template.of("AWS::EC2::VPC")]
    if not vpcs:
        _read_existing(template, stack.cluster.section("network"))
        return
    vpc, *others = vpcs
    for other in others:
        other.source.unsupported("a stack has one VPC: import the template of each on its own")
    network = stack.cluster.section("network", vpc.source)
    network.put("kind", "new-vpc")
    vpc.claim_made((*network.at, "kind"))
    take_known(network, "cidr", vpc.at("CidrBlock"))
    blocks = [each for each in template.of("AWS::EC2::VPCCidrBlock") if each.at("CidrBlock").exists]
    _take_list(network, "secondary_cidrs", [each.at("CidrBlock") for each in blocks])
    for block in blocks:
        block.claim_made((*network.at, "secondary_cidrs"))
    subnets = [_Subnet(each, is_public(each, template)) for each in template.of("AWS::EC2::Subnet")]
    _read_subnets(subnets, network, stack)
    _read_gateways(template, subnets, network)
    _read_endpoints(template, network)
    _read_flow_logs(template, network)


def _read_existing(template: Template, network: Draft) -> None:
    network.put("kind", "existing-vpc")
    network.put("public_subnet_ids", [])
    given = [
        each.at("VpcId") for each in template.of("AWS::EC2::SecurityGroup", "AWS::EC2::Subnet")
    ]
    for vpc in given:
        if network.has("vpc_id"):
            vpc.implied("it is the VPC of the stack")
        elif is_known(vpc):
            network.take_id("vpc_id", vpc, "vpc")
        else:
            claim_unknown(vpc, (*network.at, "vpc_id"))
    for environment in template.of("AWS::Batch::ComputeEnvironment"):
        subnets = [*environment.at("ComputeResources", "Subnets").items()]
        take_ids(network, "private_subnet_ids", subnets, "subnet")
    network.needs("vpc_id", id_for("vpc"))
    network.needs("private_subnet_ids", [id_for("subnet", 1)])


@dataclass(frozen=True, slots=True)
class _Subnet:
    resource: Resource
    public: bool

    @property
    def zone(self) -> Reader:
        """The zone, by name or by id."""
        return zone_of(self.resource)


def zone_of(subnet: Resource) -> Reader:
    """Return the zone of a subnet, by name or by id."""
    by_name = subnet.at("AvailabilityZone")
    return by_name if by_name.exists else subnet.at("AvailabilityZoneId")


def is_public(subnet: Resource, template: Template) -> bool:
    """Return whether a subnet gives its instances addresses, or routes to an internet gateway."""
    if str(subnet.at("MapPublicIpOnLaunch").flag).lower() == "true":
        return True
    tables = {
        str(each.at("RouteTableId").value)
        for each in template.of("AWS::EC2::SubnetRouteTableAssociation")
        if template.named_by(each.at("SubnetId")) is subnet
    }
    return any(
        str(route.at("RouteTableId").value) in tables
        for route in template.of("AWS::EC2::Route")
        if _leads_out(route, "GatewayId")
    )


def _leads_out(route: Resource, way: str) -> bool:
    destinations = (route.at("DestinationCidrBlock"), route.at("DestinationIpv6CidrBlock"))
    return route.at(way).exists and any(each.value in _ANYWHERE for each in destinations)


def _read_subnets(subnets: Sequence[_Subnet], network: Draft, stack: StackDraft) -> None:
    """Read zones and addresses: each zone has a private subnet, and each or none a public one."""
    zones: dict[str, list[_Subnet]] = {}
    for public in (False, True):
        for number, subnet in enumerate(each for each in subnets if each.public is public):
            zone = str(subnet.zone.value) if subnet.zone.exists else f"${{zone[{number}]}}"
            zones.setdefault(zone, []).append(subnet)
    _read_zones(zones, network, stack)
    if not any(each.public for each in subnets) and subnets:
        network.put("public_subnets", value=False)
    # The addresses of one kind could overlap those that a stack gives to the other.
    kinds = (False, True) if any(each.public for each in subnets) else (False,)
    fits = all(
        [each.public for each in zone].count(public) == 1
        for zone in zones.values()
        for public in kinds
    )
    for public, key in ((True, "public_subnet_cidrs"), (False, "private_subnet_cidrs")):
        of_kind = [each for zone in zones.values() for each in zone if each.public is public]
        cidrs = [each.resource.at("CidrBlock") for each in of_kind]
        if fits and all(map(is_known, cidrs)):
            _take_list(network, key, cidrs)
            for number, each in enumerate(of_kind):
                each.resource.claim_made((*network.at, key, number))
        for cidr in cidrs:
            cidr.unsupported(
                why_unknown(cidr.value)
                or f"each zone of a stack has a private subnet, and each or none a public one: "
                f"set `{key}`, one for each of `availability_zones`, or leave it to `addresses`"
            )


def _read_zones(zones: dict[str, list[_Subnet]], network: Draft, stack: StackDraft) -> None:
    named = {str(each.zone.value): each.zone for zone in zones.values() for each in zone}
    for zone in named:
        stack.region = stack.region or zone_region(zone) or ""
    unknown = [zone for zone in zones if zone not in named or not is_known(named[zone])]
    for subnet in (each for zone in zones.values() for each in zone):
        number = [*zones].index(str(subnet.zone.value)) if subnet.zone.exists else 0
        if is_known(subnet.zone) and not unknown:
            ours = (*network.at, "availability_zones", number)
            subnet.zone.claim("taken over", "it is also the region of the stack", ours=ours)
        elif is_known(subnet.zone):
            subnet.zone.unsupported("set `availability_zones`, in the order of the subnets")
        claim_unknown(subnet.zone, (*network.at, "availability_zones"))
    if zones and not unknown:
        network.put("availability_zones", [*zones])
    else:
        letters = "abcdef"[: max(1, len(zones))]
        example = [f"{stack.region or 'us-east-1'}{letter}" for letter in letters]
        network.needs("availability_zones", example)


def _take_list(network: Draft, key: str, sources: Sequence[Reader]) -> None:
    known = [each for each in sources if is_known(each)]
    for source in sources:
        if source in known:
            number = known.index(source)
            source.claim("taken over", ours=(*network.at, key, number))
        claim_unknown(source, (*network.at, key))
    if known:
        network.put(key, [each.value for each in known])
        parent = known[0].report.origins
        parent.setdefault((*network.at, key), known[0].location)


def _read_gateways(template: Template, subnets: Sequence[_Subnet], network: Draft) -> None:
    gateways = [*template.of("AWS::EC2::NatGateway")]
    zones = {str(each.zone.value) for each in subnets}
    if any(not each.public for each in subnets):
        several = "one-per-zone" if len(zones) > 1 else "single"
        network.put(
            "nat_gateways", ("none", "single")[len(gateways)] if len(gateways) < 2 else several
        )
    for gateway in gateways:
        gateway.claim_made((*network.at, "nat_gateways"))
        gateway.at("SubnetId").implied("NAT gateways are in public subnets")
    for route in template.of("AWS::EC2::Route"):
        if _leads_out(route, "GatewayId") or _leads_out(route, "NatGatewayId"):
            route.source.implied(
                "public subnets reach the internet through the internet gateway, and private ones "
                "through a NAT gateway"
            )


def _read_endpoints(template: Template, network: Draft) -> None:
    network.put("gateway_endpoints", [])
    for endpoint in template.of("AWS::EC2::VPCEndpoint"):
        place = take_endpoint(network, endpoint.at("ServiceName"), endpoint.at("VpcEndpointType"))
        if place is not None:
            endpoint.claim_made(place)


def _read_flow_logs(template: Template, network: Draft) -> None:
    logs = [*template.of("AWS::EC2::FlowLog")]
    for log in logs:
        if str(log.at("LogDestinationType").value or "cloud-watch-logs") == "cloud-watch-logs":
            network.put("flow_logs", value=True)
            log.claim_made((*network.at, "flow_logs"))
        if log.at("TrafficType").value not in (None, "ALL"):
            log.at("TrafficType").unsupported("flow logs of a stack have all traffic")
    for group in template.of("AWS::Logs::LogGroup"):
        days = group.at("RetentionInDays")
        if not logs:
            group.source.unsupported("keep the log group in a CloudFormation stack of its own")
        elif str(days.value) != str(_KEPT_DAYS):
            days.unsupported(
                f"flow logs are kept for {_KEPT_DAYS} days: set the retention of the log group in "
                "CloudWatch Logs after `up`"
            )


def read_groups(template: Template, architecture: Draft | None) -> None:
    """Read security groups: of a network stack, whether it has those of EFA and Lustre.

    Args:
        template: The objects of the template.
        architecture: The section of a network stack; None for other stacks, whose nodes have their
            groups without a key.
    """
    efa = lustre = False
    for group in template.of("AWS::EC2::SecurityGroup"):
        rules = [*_rules(group, template)]
        of_group = [_purpose(rule, group, template) for rule in rules]
        efa, lustre = efa or "efa" in of_group, lustre or "lustre" in of_group
        for rule, purpose in zip(rules, of_group, strict=True):
            if purpose:
                rule.implied(_PURPOSES[purpose])
        if {"efa", "lustre"} & {*of_group}:
            key = "efa_security_group" if "efa" in of_group else "lustre_security_group"
            if architecture is not None:
                group.claim_made((*architecture.at, key))
            group.source.at("Type").implied("the stack has security groups for EFA and storage")
            for name in ("GroupDescription", "GroupName", "VpcId"):
                group.at(name).implied("it is a group of the stack, in its VPC")
    if architecture is not None:
        architecture.put("efa_security_group", efa)
        architecture.put("lustre_security_group", lustre)


_PURPOSES = {
    "efa": "members of the group for EFA reach each other with all traffic, in and out",
    "lustre": "the group for Lustre has ports 988 and 1018 to 1023, within the VPC",
    "out": "instances reach everything that their subnets have a route to",
}


def _rules(group: Resource, template: Template) -> Iterator[Reader]:
    for key in ("SecurityGroupIngress", "SecurityGroupEgress"):
        yield from group.at(key).items()
    for rule in template.of("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress"):
        if template.named_by(rule.at("GroupId")) is group:
            yield rule.source


def _purpose(rule: Reader, group: Resource, template: Template) -> str:
    """Return what a rule is for: `efa`, `lustre`, `out`; empty for another one."""
    fields = rule.at("Properties") if rule.at("Properties").exists else rule
    others = (fields.at("SourceSecurityGroupId"), fields.at("DestinationSecurityGroupId"))
    all_traffic = str(fields.at("IpProtocol").value) == "-1"
    if all_traffic and any(template.named_by(each) is group for each in others):
        return "efa"
    ports = [str(fields.at(key).value) for key in ("FromPort", "ToPort")]
    if all(port.isdigit() for port in ports) and not all_traffic:
        first, last = map(int, ports)
        return "lustre" if first <= 988 <= last or (first >= 1018 and last <= 1023) else ""
    inward = "SecurityGroupIngress" in rule.location or (
        str(rule.at("Type").value) == "AWS::EC2::SecurityGroupIngress"
    )
    outward = all_traffic and not inward and fields.at("CidrIp").value in _ANYWHERE
    return "out" if outward else ""
