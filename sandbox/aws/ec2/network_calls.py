"""Calls on VPCs, subnets, gateways, endpoints and security groups, where moto differs from EC2."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any, NoReturn

from moto.core.responses import ActionResult
from moto.ec2.models.security_groups import SecurityGroup, SecurityGroupRule
from moto.ec2.models.vpcs import AWS_ENDPOINT_SERVICES, COVERED_ENDPOINT_SERVICES
from moto.ec2.responses import EC2Response

from trainyard.sandbox.aws.errors import refuse
from trainyard.sandbox.aws.transitions import TRANSITIONS

# Security groups as EC2 creates them; moto omits a rule of the default group.
#
# https://docs.aws.amazon.com/vpc/latest/userguide/default-security-group.html


class Ec2SecurityGroup(SecurityGroup):
    """A security group; the default one of a VPC admits its members."""

    def __init__(self, ec2_backend: Any, group_id: str, *arguments: Any, **settings: Any) -> None:
        super().__init__(ec2_backend, group_id, *arguments, **settings)
        if self.is_default:
            members = {"GroupId": self.id, "OwnerId": self.owner_id, "UserId": self.owner_id}
            rule: Any = SecurityGroupRule(
                ec2_backend, "-1", self.id, None, None, None, members, is_egress=False
            )
            self.ingress_rules.append(rule)


# Calls on VPCs, subnets and gateways with EC2's dependency checks, which moto lacks.
#
# https://docs.aws.amazon.com/vpc/latest/userguide/delete-vpc.html


DEPENDENCY = "DependencyViolation"
_NAT_TYPE = "aws:ec2/natGateway:NatGateway"


class NetworkCalls(EC2Response):
    """Mixed into the EC2 response class."""

    def create_subnet(self) -> ActionResult:
        """CreateSubnet, without moto's additions.

        moto makes the first subnet of a zone a default subnet with public addresses, and assigns no
        zone to a subnet that is created by zone id.
        """
        result = super().create_subnet()
        answer: Any = result.result
        subnet = answer["Subnet"]
        subnet.default_for_az = False
        subnet.map_public_ip_on_launch = False
        zones = self.ec2_backend.subnets
        for subnets in zones.values():
            subnets.pop(subnet.id, None)
        zones[subnet.availability_zone][subnet.id] = subnet
        return result

    def delete_subnet(self) -> ActionResult:
        """DeleteSubnet, rejected while it has an interface; also deletes its associations."""
        ec2, subnet_id = self.ec2_backend, self._get_param("SubnetId")
        ec2.get_subnet(subnet_id)
        if any(each.subnet.id == subnet_id for each in ec2.enis.values()):
            refuse(DEPENDENCY, f"The subnet '{subnet_id}' has dependencies and cannot be deleted.")
        for table in ec2.route_tables.values():
            for association, target in [*table._associations.items()]:  # noqa: SLF001 - moto's own
                if target == subnet_id:
                    del table._associations[association]  # noqa: SLF001 - moto's own
        return super().delete_subnet()

    def delete_vpc(self) -> ActionResult:
        """DeleteVpc, rejected while the VPC has anything except its default objects."""
        ec2, vpc_id = self.ec2_backend, self._get_param("VpcId")
        ec2.get_vpc(vpc_id)
        left = [
            *(g for g in ec2.internet_gateways.values() if g.vpc and g.vpc.id == vpc_id),
            *(e for e in ec2.vpc_end_points.values() if e.vpc_id == vpc_id),
            *(g for g in ec2.groups.get(vpc_id, {}).values() if g.name != "default"),
        ]
        if left:
            refuse(DEPENDENCY, f"The vpc '{vpc_id}' has dependencies and cannot be deleted.")
        result = super().delete_vpc()
        for acl in [*ec2.network_acls.values()]:
            if acl.vpc_id == vpc_id:
                del ec2.network_acls[acl.id]
        return result

    def disassociate_vpc_cidr_block(self) -> ActionResult:
        """DisassociateVpcCidrBlock; moto fails on an association that has ended."""
        association_id = self._get_param("AssociationId")
        for vpc in self.ec2_backend.vpcs.values():
            for association in vpc.get_cidr_block_association_set():
                ended = association["cidr_block_state"]["state"] == "disassociated"
                if association["association_id"] == association_id and ended:
                    refuse(
                        "InvalidVpcCidrBlockAssociationID.NotFound",
                        f"The vpc CIDR block association ID '{association_id}' does not exist",
                    )
        return super().disassociate_vpc_cidr_block()

    def detach_internet_gateway(self) -> ActionResult:
        """DetachInternetGateway, rejected while a public address of the VPC is in use."""
        vpc_id = self._get_param("VpcId")
        for address in self.ec2_backend.addresses:
            if address.eni is not None and address.eni.subnet.vpc_id == vpc_id:
                refuse(
                    DEPENDENCY,
                    f"Network {vpc_id} has some mapped public address(es). Please unmap those "
                    "public address(es) before detaching the gateway.",
                )
        return super().detach_internet_gateway()

    def create_nat_gateway(self) -> ActionResult:
        """CreateNatGateway; a public one requires an address and an internet gateway."""
        ec2 = self.ec2_backend
        subnet = ec2.get_subnet(self._get_param("SubnetId"))
        if self._get_param("ConnectivityType") != "private":
            if not self._get_param("AllocationId"):
                refuse("MissingParameter", "The request must contain the parameter AllocationId")
            attached = (g.vpc.id for g in ec2.internet_gateways.values() if g.vpc)
            if subnet.vpc_id not in attached:
                refuse(
                    "Gateway.NotAttached",
                    f"Network {subnet.vpc_id} has no Internet gateway attached",
                )
        before = set(ec2.nat_gateways)
        result = super().create_nat_gateway()
        (gateway_id,) = set(ec2.nat_gateways) - before
        gateway = ec2.nat_gateways[gateway_id]
        gateway.state = "pending"
        # The defaults with a subnet: CreateNatGateway, AvailabilityMode and ConnectivityType.
        gateway.availability_mode = "zonal"
        gateway.connectivity_type = self._get_param("ConnectivityType") or "public"
        TRANSITIONS.begin(_NAT_TYPE, "create", lambda: setattr(gateway, "state", "available"))
        return result

    def delete_nat_gateway(self) -> ActionResult:
        """DeleteNatGateway; also deletes its interface and frees its address."""
        ec2, gateway_id = self.ec2_backend, self._get_param("NatGatewayId")
        if gateway_id not in ec2.nat_gateways:
            refuse("NatGatewayNotFound", f"The Nat Gateway {gateway_id} was not found")
        gateway = ec2.nat_gateways[gateway_id]
        result = super().delete_nat_gateway()
        gateway.state = "deleting"
        TRANSITIONS.begin(_NAT_TYPE, "delete", lambda: _let_go(ec2, gateway))
        return result

    def release_address(self) -> ActionResult:
        """ReleaseAddress, rejected while the address is in use."""
        wanted = {self._get_param("AllocationId"), self._get_param("PublicIp")}
        for address in self.ec2_backend.addresses:
            in_use = address.eni is not None or address.instance is not None
            if in_use and wanted & {address.allocation_id, address.public_ip}:
                refuse("InvalidIPAddress.InUse", f"Address {address.public_ip} is in use.")
        return super().release_address()


def _let_go(ec2: Any, gateway: Any) -> None:
    """Delete the interfaces of a NAT gateway, and free its addresses."""
    for address_set in gateway.address_set:
        interface_id = address_set["networkInterfaceId"]
        for address in ec2.addresses:
            if address.eni is not None and address.eni.id == interface_id:
                ec2.disassociate_address(address=address.public_ip)
        ec2.enis.pop(interface_id, None)
    gateway.state = "deleted"


# Calls on VPC endpoints: service validation, security groups of interfaces, and routes.
#
# https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html


_TYPE = "aws:ec2/vpcEndpoint:VpcEndpoint"
_SERVICES = frozenset({*AWS_ENDPOINT_SERVICES, *COVERED_ENDPOINT_SERVICES})
"""Last parts of the names of endpoint services, from AWS data in moto."""


class EndpointCalls(EC2Response):
    """Mixed into the EC2 response class."""

    def create_vpc_endpoint(self) -> ActionResult:
        """CreateVpcEndpoint, rejected for a service that the region does not have."""
        ec2, service = self.ec2_backend, self._get_param("ServiceName")
        prefix, _, name = service.partition(f".{self.region}.")
        if prefix != "com.amazonaws" or name not in _SERVICES:
            refuse("InvalidServiceName", f"The Vpc Endpoint Service '{service}' does not exist")
        before = set(ec2.vpc_end_points)
        result = super().create_vpc_endpoint()
        (endpoint_id,) = set(ec2.vpc_end_points) - before
        endpoint = ec2.vpc_end_points[endpoint_id]
        _make_interfaces(ec2, endpoint)
        endpoint.state = "pending"
        TRANSITIONS.begin(
            _TYPE,
            "create",
            lambda: setattr(endpoint, "state", "available"),
            inputs={"vpcEndpointType": endpoint.vpc_endpoint_type},
        )
        return result

    def modify_vpc_endpoint(self) -> ActionResult:
        """ModifyVpcEndpoint; updates the routes of a gateway endpoint."""
        result = super().modify_vpc_endpoint()
        ec2 = self.ec2_backend
        endpoint = ec2.vpc_end_points[self._get_param("VpcEndpointId")]
        prefix_list = endpoint.destination_prefix_list_id
        for table_id in self._get_param("AddRouteTableIds", []) if prefix_list else []:
            ec2.create_route(
                table_id, None, gateway_id=endpoint.id, destination_prefix_list_id=prefix_list
            )
        for table_id in self._get_param("RemoveRouteTableIds", []) if prefix_list else []:
            ec2.delete_route(table_id, prefix_list)
        if self._get_param("AddSubnetIds", []) or self._get_param("RemoveSubnetIds", []):
            _make_interfaces(ec2, endpoint)
        return result

    def delete_vpc_endpoints(self) -> ActionResult:
        """DeleteVpcEndpoints; moto would continue to describe deleted endpoints."""
        result = super().delete_vpc_endpoints()
        for endpoint_id in self._get_param("VpcEndpointIds", []):
            if endpoint_id in self.ec2_backend.vpc_end_points:
                _forget(self.ec2_backend, endpoint_id)
        return result


def _forget(ec2: Any, endpoint_id: str) -> None:
    endpoint = ec2.vpc_end_points[endpoint_id]
    endpoint.state = "deleting"
    TRANSITIONS.begin(
        _TYPE,
        "delete",
        lambda: ec2.vpc_end_points.pop(endpoint_id, None),
        inputs={"vpcEndpointType": endpoint.vpc_endpoint_type},
    )


def _make_interfaces(ec2: Any, endpoint: Any) -> None:
    """Create one interface per subnet for an interface endpoint; moto's lack security groups."""
    for interface_id in endpoint.network_interface_ids:
        ec2.enis.pop(interface_id, None)
    if endpoint.vpc_endpoint_type != "Interface":
        return
    endpoint.network_interface_ids = [
        ec2.create_network_interface(
            ec2.get_subnet(subnet_id),
            [],
            group_ids=list(endpoint.security_group_ids),
            description=f"VPC Endpoint Interface {endpoint.id}",
        ).id
        for subnet_id in endpoint.subnet_ids or []
    ]


# Calls on security groups and their rules, where moto differs from EC2.
#
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteSecurityGroup.html
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ModifySecurityGroupRules.html
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_SecurityGroupRuleRequest.html


_PROTOCOLS = {"6": "tcp", "17": "udp", "1": "icmp", "58": "icmpv6", "all": "-1"}
"""Protocol names by number (IANA), and the value for all protocols, as in rules."""
_PEERS = ("CidrIpv4", "CidrIpv6", "PrefixListId", "ReferencedGroupId")
"""Request fields of which exactly one is required."""


class SecurityGroupCalls(EC2Response):
    """Mixed into the EC2 response class."""

    def delete_security_group(self) -> ActionResult:
        """DeleteSecurityGroup, by id or name; rejected while the group is in use."""
        name = self._get_param("GroupId") or self._get_param("GroupName")
        group = self.ec2_backend.get_security_group_by_name_or_id(name)
        if group is not None and any(users_of(self.ec2_backend, group.id)):
            refuse("DependencyViolation", f"resource {group.id} has a dependent object")
        return super().delete_security_group()

    def revoke_security_group_ingress(self) -> ActionResult:
        """RevokeSecurityGroupIngress."""
        self._check_rule_ids()
        return super().revoke_security_group_ingress()

    def revoke_security_group_egress(self) -> ActionResult:
        """RevokeSecurityGroupEgress."""
        self._check_rule_ids()
        return super().revoke_security_group_egress()

    def modify_security_group_rules(self) -> ActionResult:
        """ModifySecurityGroupRules; atomic, so one invalid rule rejects the request."""
        self.error_on_dryrun()
        group_id = self._get_param("GroupId")
        group = known_group(self.ec2_backend, group_id)
        changed: dict[str, Any] = {}
        for update in self._get_param("SecurityGroupRules", []):
            rule_id = update["SecurityGroupRuleId"]
            rule = group.get_rule(rule_id)
            if rule is None:
                _refuse_rule_id(rule_id)
            request = update.get("SecurityGroupRule") or {}
            changed[rule_id] = _changed(self.ec2_backend, rule, request)
        for rules in (group.ingress_rules, group.egress_rules):
            permitted = [_permits(changed.get(rule.id, rule)) for rule in rules]
            if len(set(permitted)) < len(permitted):
                refuse("InvalidPermission.Duplicate", "The specified rule already exists")
        for rule_id, new in changed.items():
            vars(group.get_rule(rule_id)).update(vars(new))
        return ActionResult({"Return": True})

    def _check_rule_ids(self) -> None:
        """Reject ids of missing rules, with EC2's error code for ids.

        Raises:
            EC2ClientError: InvalidSecurityGroupRuleId.NotFound.
        """
        every = (g for groups in self.ec2_backend.groups.values() for g in groups.values())
        known = {rule.id for g in every for rule in (*g.ingress_rules, *g.egress_rules)}
        for rule_id in self._get_param("SecurityGroupRuleIds", []):
            if rule_id not in known:
                _refuse_rule_id(rule_id)


def _refuse_rule_id(rule_id: str) -> NoReturn:
    refuse(
        "InvalidSecurityGroupRuleId.NotFound",
        f"The security group rule ID '{rule_id}' does not exist",
    )


def _changed(ec2: Any, rule: Any, request: Mapping[str, Any]) -> Any:
    """Return a copy of a rule with the requested changes; an omitted description stays.

    Raises:
        EC2ClientError: MissingParameter, InvalidParameterCombination, InvalidParameterValue,
            InvalidGroup.NotFound, InvalidPrefixListID.NotFound.
    """
    changed, peer = copy(rule), _requested_peer(rule, request)
    changed.ip_protocol, changed.from_port, changed.to_port = _protocol_and_ports(request)
    value, description = request[peer], request.get("Description") or rule.description
    described = {"Description": description} if description else {}
    if peer == "ReferencedGroupId":
        known_group(ec2, value)
        owner = {"OwnerId": ec2.account_id, "UserId": ec2.account_id}
        changed.source_group = {"GroupId": value, **owner, **described}
        return changed
    if peer == "PrefixListId":
        if value not in ec2.managed_prefix_lists:
            message = f"The prefix list ID '{value}' does not exist"
            refuse("InvalidPrefixListID.NotFound", message)
        changed.prefix_list_id, changed.ip_range = value, described
    elif peer == "CidrIpv6":
        changed.ip_range = {"CidrIpv6": _network(value, version=6), **described}
    else:
        changed.ip_range = {"CidrIp": _network(value, version=4), **described}
    return changed


def _requested_peer(rule: Any, request: Mapping[str, Any]) -> str:
    """Return the request field that specifies the peer.

    Raises:
        EC2ClientError: MissingParameter, InvalidParameterCombination, or InvalidParameterValue if
            the rule has another type of peer.
    """
    given = [peer for peer in _PEERS if request.get(peer)]
    if not given:
        refuse("MissingParameter", f"The request must contain exactly one of: {', '.join(_PEERS)}")
    if len(given) > 1:
        refuse("InvalidParameterCombination", f"Only one of {', '.join(_PEERS)} can be specified")
    (peer,) = given
    if peer != _peer(rule):
        refuse(
            "InvalidParameterValue",
            f"Invalid rule type for security group rule '{rule.id}'. You may not specify {peer} "
            f"for an existing {_peer(rule)} rule.",
        )
    return peer


def _protocol_and_ports(request: Mapping[str, Any]) -> tuple[str, int | None, int | None]:
    """Return the requested protocol and ports, in the form of a rule.

    Raises:
        EC2ClientError: InvalidParameterValue.
    """
    asked: str | None = request.get("IpProtocol")
    if not asked:
        refuse(
            "InvalidParameterValue",
            "Invalid value 'null' for protocol. VPC security group rules must specify protocols "
            "explicitly.",
        )
    named = asked.lower()
    protocol = _PROTOCOLS.get(named, named)
    if protocol == "-1":
        return protocol, None, None
    ports = [request.get("FromPort"), request.get("ToPort")]
    if protocol in {"tcp", "udp"} and None in ports:
        refuse(
            "InvalidParameterValue",
            "Invalid value for portRange. Must specify both from and to ports with TCP/UDP.",
        )
    start, end = (None if port is None else int(port) for port in ports)
    return protocol, start, end


def _network(text: str, *, version: int) -> str:
    """Return the canonical form of a CIDR block, which AWS stores.

    Raises:
        EC2ClientError: InvalidParameterValue.
    """
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        network = None
    if network is None or network.version != version:
        refuse("InvalidParameterValue", f"invalid CIDR subnet specification: {text}")
    return str(network)


def _peer(rule: Any) -> str:
    """Return the request field that specifies the peer of a rule."""
    if rule.source_group:
        return "ReferencedGroupId"
    if rule.prefix_list_id:
        return "PrefixListId"
    return "CidrIpv6" if rule.cidr_ipv6 else "CidrIpv4"


def _permits(rule: Any) -> tuple[object, ...]:
    """Return the identity of a rule within its direction, without the description."""
    peers = (rule.cidr_ipv4, rule.cidr_ipv6, rule.prefix_list_id, rule.source_group.get("GroupId"))
    return (rule.ip_protocol, rule.from_port, rule.to_port, *peers)


def known_group(ec2: Any, group_id: str) -> Any:
    """Return a security group.

    Raises:
        EC2ClientError: InvalidGroup.NotFound.
    """
    group = ec2.get_security_group_from_id(group_id)
    if group is None:
        refuse("InvalidGroup.NotFound", f"The security group '{group_id}' does not exist")
    return group


def users_of(ec2: Any, group_id: str) -> Iterator[str]:
    """Yield the ids of the users of a security group: interfaces, and rules of other groups."""
    for interface in ec2.enis.values():
        if any(group.id == group_id for group in interface.group_set):
            yield interface.id
    for groups in ec2.groups.values():
        for other in groups.values():
            rules = [*other.ingress_rules, *other.egress_rules]
            if other.id != group_id and any(
                rule.source_group.get("GroupId") == group_id for rule in rules
            ):
                yield other.id
