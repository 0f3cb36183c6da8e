"""VPC endpoints for AWS services.

Sources:
    https://docs.aws.amazon.com/vpc/latest/privatelink/gateway-endpoints.html
    https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws

from trainyard.components.network.adopted_resource import adopting

HTTPS = 443


@dataclass(frozen=True, slots=True, kw_only=True)
class VpcEndpointsArgs:
    """Arguments of `VpcEndpoints`."""

    vpc_id: pulumi.Input[str]
    blocks: Sequence[str]
    """CIDR blocks of the VPC that can reach interface endpoints."""
    gateway_services: Sequence[str]
    """Full names of services, such as `com.amazonaws.us-west-2.s3`."""
    interface_services: Sequence[str]
    """Full names of services, such as `com.amazonaws.us-west-2.ecr.dkr`."""
    route_table_ids: Sequence[pulumi.Input[str]]
    """Route tables that get a route to the gateway endpoints."""
    subnet_ids: Sequence[pulumi.Input[str]]
    """Subnets of the interface endpoints; in different zones."""
    tags: Mapping[str, str]
    adopted: Mapping[str, str] = field(default_factory=dict[str, str])
    """Ids of gateway endpoints that exist, by service."""


class VpcEndpoints(pulumi.ComponentResource):
    """Gateway endpoints, and interface endpoints with private DNS and a group that allows port 443.

    With private DNS, the default host names of the services resolve to the endpoints, so programs
    need no changes.

    Children: `<name>-<service>` for each endpoint (`ecr-dkr`), and for interface endpoints
    `<name>-group` (`aws.ec2.SecurityGroup`) with `<name>-ingress-<network>` for each network of
    the VPC.
    """

    def __init__(
        self, name: str, args: VpcEndpointsArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trainyard:network:VpcEndpoints", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)

        for service in args.gateway_services:
            aws.ec2.VpcEndpoint(
                f"{name}-{_short(service)}",
                vpc_id=args.vpc_id,
                service_name=service,
                vpc_endpoint_type="Gateway",
                route_table_ids=list(args.route_table_ids),
                tags={"Name": f"{name}-{_short(service)}", **args.tags},
                opts=adopting(pulumi.ResourceOptions(parent=self), args.adopted.get(service)),
            )
        if args.interface_services:
            group_id = self._security_group(name, args)
            for service in args.interface_services:
                aws.ec2.VpcEndpoint(
                    f"{name}-{_short(service)}",
                    vpc_id=args.vpc_id,
                    service_name=service,
                    vpc_endpoint_type="Interface",
                    subnet_ids=list(args.subnet_ids),
                    security_group_ids=[group_id],
                    private_dns_enabled=True,
                    tags={"Name": f"{name}-{_short(service)}", **args.tags},
                    opts=child,
                )
        self.register_outputs({})

    def _security_group(self, name: str, args: VpcEndpointsArgs) -> pulumi.Output[str]:
        child = pulumi.ResourceOptions(parent=self)
        group = aws.ec2.SecurityGroup(
            f"{name}-group",
            vpc_id=args.vpc_id,
            description="HTTPS from the VPC to interface endpoints",
            tags={"Name": name, **args.tags},
            opts=child,
        )
        for block in args.blocks:
            aws.vpc.SecurityGroupIngressRule(
                f"{name}-ingress-{block.replace('/', '-')}",
                security_group_id=group.id,
                cidr_ipv4=block,
                ip_protocol="tcp",
                from_port=HTTPS,
                to_port=HTTPS,
                description="HTTPS from the VPC",
                tags=dict(args.tags),
                opts=child,
            )
        return group.id


def _short(service: str) -> str:
    """Return `ecr-dkr` for `com.amazonaws.us-west-2.ecr.dkr`."""
    return service.split(".", maxsplit=3)[3].replace(".", "-")
