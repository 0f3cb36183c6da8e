"""A new VPC: CIDR blocks, subnets, gateways, routes, endpoints and flow logs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws

from trainyard.components.config.base import is_zone_id
from trainyard.components.identity.trust import service_trust
from trainyard.components.network.network_plan import ANYWHERE_IPV4, NetworkPlan, SubnetPlan

LEFT_AS_IT_IS = (
    "assignGeneratedIpv6CidrBlock",
    "assignIpv6AddressOnCreation",
    "customerOwnedIpv4Pool",
    "enableDns64",
    "enableNetworkAddressUsageMetrics",
    "enableResourceNameDnsARecordOnLaunch",
    "enableResourceNameDnsAaaaRecordOnLaunch",
    "instanceTenancy",
    "ipv6CidrBlock",
    "ipv6CidrBlockNetworkBorderGroup",
    "mapPublicIpOnLaunch",
    "policy",
    "privateDnsHostnameTypeOnLaunch",
    "tags",
)
"""Properties of VPCs, subnets and endpoints that a stack file does not describe.

Names: https://www.pulumi.com/registry/packages/aws/api-docs/ec2/
"""


def adopting(options: pulumi.ResourceOptions, import_id: str | None) -> pulumi.ResourceOptions:
    """Return options that import an object, protect it and keep it in the account.

    `import_id` is None for an object that the stack creates, which keeps its options.
    """
    if import_id is not None:
        options.import_ = import_id
        options.ignore_changes = [*LEFT_AS_IT_IS]
        options.protect = options.retain_on_delete = True
    return options


# VPC flow logs in CloudWatch Logs.
#
# Source: https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs-iam-role.html


RETENTION_DAYS = 7
"""As in the VPC templates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VpcFlowLogsArgs:
    """Arguments of `VpcFlowLogs`."""

    vpc_id: pulumi.Input[str]
    tags: Mapping[str, str]


class VpcFlowLogs(pulumi.ComponentResource):
    """Flow logs of accepted and rejected traffic of a VPC, in a dedicated log group.

    Children: `<name>-group` (`aws.cloudwatch.LogGroup`), `<name>-role` (`aws.iam.Role`) with
    `<name>-policy` (`aws.iam.RolePolicy`), `<name>-log` (`aws.ec2.FlowLog`).
    """

    log_group_name: pulumi.Output[str]

    def __init__(
        self, name: str, args: VpcFlowLogsArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trainyard:network:VpcFlowLogs", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)

        group = aws.cloudwatch.LogGroup(
            f"{name}-group", retention_in_days=RETENTION_DAYS, tags=dict(args.tags), opts=child
        )
        role = aws.iam.Role(
            f"{name}-role",
            description="Flow logs of a VPC",
            assume_role_policy=group.arn.apply(trust),
            tags=dict(args.tags),
            opts=child,
        )
        policy = aws.iam.RolePolicy(
            f"{name}-policy", role=role.name, policy=group.arn.apply(_policy), opts=child
        )
        aws.ec2.FlowLog(
            f"{name}-log",
            vpc_id=args.vpc_id,
            traffic_type="ALL",
            log_destination_type="cloud-watch-logs",
            log_destination=group.arn,
            iam_role_arn=role.arn,
            tags={"Name": name, **args.tags},
            opts=pulumi.ResourceOptions(parent=self, depends_on=[policy]),
        )
        self.log_group_name = group.name
        self.register_outputs({"log_group_name": self.log_group_name})


def trust(log_group_arn: str) -> str:
    """Return the trust policy of the role: flow logs of the log group's account and region.

    The id of the flow log is a wildcard, as AWS recommends while it is not known: the flow log
    needs the role first.
    """
    _, partition, _, region, account, *_ = log_group_arn.split(":")
    flow_logs = f"arn:{partition}:ec2:{region}:{account}:vpc-flow-log/*"
    return service_trust("vpc-flow-logs.amazonaws.com", account, flow_logs)


def _policy(log_group_arn: str) -> str:
    return json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Action": [
                        "logs:CreateLogStream",
                        "logs:PutLogEvents",
                        "logs:DescribeLogGroups",
                        "logs:DescribeLogStreams",
                    ],
                    "Resource": [log_group_arn, f"{log_group_arn}:*"],
                }
            ],
        }
    )


# VPC endpoints for AWS services.
#
# Sources:
#     https://docs.aws.amazon.com/vpc/latest/privatelink/gateway-endpoints.html
#     https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html


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


# A new VPC: CIDR blocks, subnets, gateways and routes.
#
# Source: https://docs.aws.amazon.com/vpc/latest/userguide/VPC_Internet_Gateway.html, and the
# templates that `trainyard.components.network.network_plan` names.


@dataclass(frozen=True, slots=True, kw_only=True)
class VpcArgs:
    """Arguments of `Vpc`."""

    plan: NetworkPlan
    """Plan of a new VPC."""
    tags: Mapping[str, str]
    """Tags of all resources; `Name` is added."""


class Vpc(pulumi.ComponentResource):
    """A VPC with private subnets, planned public subnets, and routes to the internet.

    Logical names contain the zone, so that adding a zone does not change the others. Every private
    subnet has its own route table: switching between one NAT gateway and one per zone then changes
    only routes. The private subnets of an adopted VPC can share one.

    An object of an adopted VPC is imported by the first update, protected, and kept by a deletion.

    Children: `<name>-vpc`, `<name>-cidr-<network>` for each secondary CIDR block, `<name>-internet`
    if there are public subnets, `<name>-<subnet>` and `<name>-<subnet>-routes` for each subnet
    (public ones share `<name>-public-routes`), with `-default` for the route and `-association`,
    `<name>-<zone>-nat` and `<name>-<zone>-address` for each NAT gateway, `<name>-endpoints`
    (`VpcEndpoints`), `<name>-flow-logs` (`VpcFlowLogs`, if planned).
    """

    vpc_id: pulumi.Output[str]
    ready: Sequence[pulumi.Resource]
    """Resources that must exist before the first node and until after the last one."""

    def __init__(
        self, name: str, args: VpcArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trainyard:network:Vpc", name, {}, opts)
        self._name, self._plan, self._tags = name, args.plan, args.tags
        self._child = pulumi.ResourceOptions(parent=self)
        plan = args.plan

        vpc = aws.ec2.Vpc(
            f"{name}-vpc",
            cidr_block=plan.cidr,
            enable_dns_support=True,
            enable_dns_hostnames=True,
            tags=self._named("vpc"),
            opts=self._options("vpc"),
        )
        self.vpc_id = vpc.id
        self._blocks = self._further_networks()
        self._subnets = {subnet.name: self._subnet(subnet) for subnet in plan.subnets}
        tables, routes = self._routes()
        endpoints = VpcEndpoints(
            f"{name}-endpoints",
            VpcEndpointsArgs(
                vpc_id=vpc.id,
                blocks=plan.blocks,
                gateway_services=plan.gateway_endpoints,
                interface_services=plan.interface_endpoints,
                route_table_ids=[table.id for table in tables],
                subnet_ids=[self.subnet_id(subnet) for subnet in plan.private_names],
                adopted=plan.adoption.endpoints,
                tags=args.tags,
            ),
            self._child,
        )
        if plan.flow_logs:
            VpcFlowLogs(
                f"{name}-flow-logs", VpcFlowLogsArgs(vpc_id=vpc.id, tags=args.tags), self._child
            )
        self.ready = [*routes, endpoints]
        self.register_outputs({"vpc_id": self.vpc_id})

    def subnet_id(self, reference: str) -> pulumi.Output[str]:
        """Return the id of a subnet by its reference in plans."""
        return self._subnets[reference].id

    def _options(self, part: str, *depends_on: pulumi.Resource) -> pulumi.ResourceOptions:
        """Return the options of the resource whose name ends with a part."""
        options = pulumi.ResourceOptions(parent=self, depends_on=[*depends_on])
        return adopting(options, self._plan.adoption.parts.get(part))

    def _named(self, what: str, tags: Mapping[str, str] | None = None) -> dict[str, str]:
        return {"Name": f"{self._name}-{what}", **(tags or {}), **self._tags}

    def _further_networks(self) -> list[aws.ec2.VpcIpv4CidrBlockAssociation]:
        return [
            aws.ec2.VpcIpv4CidrBlockAssociation(
                f"{self._name}-cidr-{cidr.replace('/', '-')}",
                vpc_id=self.vpc_id,
                cidr_block=cidr,
                opts=self._options(f"cidr-{cidr.replace('/', '-')}"),
            )
            for cidr in self._plan.secondary_cidrs
        ]

    def _subnet(self, subnet: SubnetPlan) -> aws.ec2.Subnet:
        zone = subnet.availability_zone or ""
        by_id = is_zone_id(zone)
        tags = self._plan.public_subnet_tags if subnet.public else self._plan.private_subnet_tags
        return aws.ec2.Subnet(
            f"{self._name}-{subnet.name}",
            vpc_id=self.vpc_id,
            cidr_block=subnet.cidr,
            availability_zone=None if by_id else zone,
            availability_zone_id=zone if by_id else None,
            map_public_ip_on_launch=subnet.public,
            tags=self._named(subnet.name, tags),
            # The subnet can be in a secondary CIDR block of the VPC.
            opts=self._options(subnet.name, *self._blocks),
        )

    def _routes(self) -> tuple[list[aws.ec2.RouteTable], list[pulumi.Resource]]:
        plan = self._plan
        tables: list[aws.ec2.RouteTable] = []
        routes: list[pulumi.Resource] = []
        nat_gateways: dict[str, aws.ec2.NatGateway] = {}
        if plan.public_subnets:
            gateway = aws.ec2.InternetGateway(
                f"{self._name}-internet",
                vpc_id=self.vpc_id,
                tags=self._named("internet"),
                opts=self._options("internet"),
            )
            table, made = self._public_routes(gateway)
            tables.append(table)
            routes += made
            for reference in plan.nat_gateways:
                nat_gateways[reference] = self._nat_gateway(plan.subnet(reference), gateway)
        private: dict[str, aws.ec2.RouteTable] = {}
        for subnet in plan.private_subnets:
            owner = plan.adoption.shared_tables.get(subnet.name)
            if owner is not None:
                routes.append(self._associate(subnet, private[owner]))
                continue
            through = plan.nat_gateway_of(subnet)
            table, made = self._private_routes(subnet, nat_gateways[through] if through else None)
            private[subnet.name] = table
            routes += made
        return [*tables, *private.values()], routes

    def _public_routes(
        self, gateway: aws.ec2.InternetGateway
    ) -> tuple[aws.ec2.RouteTable, list[pulumi.Resource]]:
        table = self._route_table("public")
        route = aws.ec2.Route(
            f"{self._name}-public-default",
            route_table_id=table.id,
            destination_cidr_block=ANYWHERE_IPV4,
            gateway_id=gateway.id,
            opts=self._options("public-default"),
        )
        associations = [self._associate(subnet, table) for subnet in self._plan.public_subnets]
        return table, [route, *associations]

    def _private_routes(
        self, subnet: SubnetPlan, nat_gateway: aws.ec2.NatGateway | None
    ) -> tuple[aws.ec2.RouteTable, list[pulumi.Resource]]:
        table = self._route_table(subnet.name)
        made: list[pulumi.Resource] = [self._associate(subnet, table)]
        if nat_gateway is not None:
            route = aws.ec2.Route(
                f"{self._name}-{subnet.name}-default",
                route_table_id=table.id,
                destination_cidr_block=ANYWHERE_IPV4,
                nat_gateway_id=nat_gateway.id,
                opts=self._options(f"{subnet.name}-default"),
            )
            made.append(route)
        return table, made

    def _route_table(self, what: str) -> aws.ec2.RouteTable:
        return aws.ec2.RouteTable(
            f"{self._name}-{what}-routes",
            vpc_id=self.vpc_id,
            tags=self._named(what),
            opts=self._options(f"{what}-routes"),
        )

    def _associate(
        self, subnet: SubnetPlan, table: aws.ec2.RouteTable
    ) -> aws.ec2.RouteTableAssociation:
        return aws.ec2.RouteTableAssociation(
            f"{self._name}-{subnet.name}-association",
            subnet_id=self.subnet_id(subnet.name),
            route_table_id=table.id,
            opts=self._options(f"{subnet.name}-association"),
        )

    def _nat_gateway(
        self, subnet: SubnetPlan, gateway: aws.ec2.InternetGateway
    ) -> aws.ec2.NatGateway:
        what = f"{subnet.availability_zone}-nat"
        # EC2 refuses to detach the internet gateway while the VPC has mapped public addresses.
        address = aws.ec2.Eip(
            f"{self._name}-{subnet.availability_zone}-address",
            domain="vpc",
            tags=self._named(what),
            opts=self._options(f"{subnet.availability_zone}-address", gateway),
        )
        return aws.ec2.NatGateway(
            f"{self._name}-{what}",
            allocation_id=address.id,
            subnet_id=self.subnet_id(subnet.name),
            tags=self._named(what),
            opts=self._options(what, gateway),
        )
