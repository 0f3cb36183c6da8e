"""Calls on VPC endpoints: service validation, security groups of interfaces, and routes.

https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html
"""

from __future__ import annotations

from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.models.vpcs import AWS_ENDPOINT_SERVICES, COVERED_ENDPOINT_SERVICES
from moto.ec2.responses import EC2Response

from trainyard.sandbox.aws.errors import refuse
from trainyard.sandbox.aws.transitions import TRANSITIONS

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
