"""Calls on VPCs, subnets and gateways with EC2's dependency checks, which moto lacks.

https://docs.aws.amazon.com/vpc/latest/userguide/delete-vpc.html
"""

from __future__ import annotations

from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.responses import EC2Response

from trainyard.sandbox.aws.errors import refuse
from trainyard.sandbox.aws.transitions import TRANSITIONS

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
