"""The security group for EFA traffic between the nodes of one cluster.

Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html, step 1: an EFA needs
a group "that allows all inbound and outbound traffic to and from the security group itself".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

ALL_PROTOCOLS = "-1"
ANYWHERE_IPV4 = "0.0.0.0/0"


@dataclass(frozen=True, slots=True, kw_only=True)
class EfaSecurityGroupArgs:
    """Arguments of `EfaSecurityGroup`."""

    vpc_id: pulumi.Input[str]
    """VPC of the nodes."""
    tags: Mapping[str, str]
    """Tags of the group and of its rules; `Name` is added."""


class EfaSecurityGroup(pulumi.ComponentResource):
    """A security group that allows all traffic between its members, in both directions.

    Both directions have a rule that references the group itself: rules with CIDR blocks do not
    allow EFA traffic, so egress to 0.0.0.0/0 does not replace it (the symptom is NCCL waiting for
    an "unresponsive receiver"). The group has no `kubernetes.io/cluster` tag: EKS tags the cluster
    security group, and a second tagged group on one interface breaks the AWS Load Balancer
    Controller.

    Children: `<name>-group` (`aws.ec2.SecurityGroup`), `<name>-ingress-self`
    (`aws.vpc.SecurityGroupIngressRule`), `<name>-egress-self` and `<name>-egress-internet`
    (`aws.vpc.SecurityGroupEgressRule`).
    """

    security_group_id: pulumi.Output[str]
    """Id of the group."""

    def __init__(
        self,
        name: str,
        args: EfaSecurityGroupArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:network:EfaSecurityGroup", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)

        group = aws.ec2.SecurityGroup(
            f"{name}-group",
            vpc_id=args.vpc_id,
            description="EFA traffic between the nodes of one cluster",
            tags={"Name": name, **args.tags},
            opts=child,
        )
        aws.vpc.SecurityGroupIngressRule(
            f"{name}-ingress-self",
            security_group_id=group.id,
            referenced_security_group_id=group.id,
            ip_protocol=ALL_PROTOCOLS,
            description="EFA from the other nodes of this group",
            tags=dict(args.tags),
            opts=child,
        )
        aws.vpc.SecurityGroupEgressRule(
            f"{name}-egress-self",
            security_group_id=group.id,
            referenced_security_group_id=group.id,
            ip_protocol=ALL_PROTOCOLS,
            description="EFA to the other nodes of this group",
            tags=dict(args.tags),
            opts=child,
        )
        aws.vpc.SecurityGroupEgressRule(
            f"{name}-egress-internet",
            security_group_id=group.id,
            cidr_ipv4=ANYWHERE_IPV4,
            ip_protocol=ALL_PROTOCOLS,
            description="Images, packages and AWS endpoints",
            tags=dict(args.tags),
            opts=child,
        )

        self.security_group_id = group.id
        self.register_outputs({"security_group_id": self.security_group_id})
