"""The security group of a Lustre file system, and the rules between it and its clients.

Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pulumi
import pulumi_aws as aws

from trainyard.components.storage.fsx_lustre_plan import LUSTRE_PORTS

ALL_PROTOCOLS = "-1"

GroupId = pulumi.Input[str]
Ports = tuple[int, int] | None
"""TCP ports; None for all traffic, which EFA needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LustreClientRulesArgs:
    """Arguments of `LustreClientRules`."""

    servers: GroupId
    """Security group of the file system."""
    clients: GroupId
    """Security group of the nodes."""
    efa_clients: GroupId | None
    """Security group of the nodes' EFA interfaces, if the file system supports EFA."""
    tags: Mapping[str, str]


class LustreSecurityGroup(pulumi.ComponentResource):
    """The security group of a file system, which allows traffic between its servers.

    It does not depend on the cluster, so it can stay with its file system when the cluster is
    deleted. It has no egress to the internet: servers connect to clients only. `LustreClientRules`
    allows clients; clients that are not yet known are allowed by CIDR block.

    Children: `<name>-group` (`aws.ec2.SecurityGroup`), its rules to itself, and those for
    `client_cidrs`.
    """

    security_group_id: pulumi.Output[str]
    rules: list[pulumi.Resource]
    """Rules that must exist before the file system, because FSx checks them."""

    def __init__(
        self,
        name: str,
        *,
        vpc_id: pulumi.Input[str],
        efa: bool,
        tags: Mapping[str, str],
        client_cidrs: Sequence[str] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:storage:LustreSecurityGroup", name, {}, opts)
        group = aws.ec2.SecurityGroup(
            f"{name}-group",
            vpc_id=vpc_id,
            description="Lustre traffic of one file system",
            tags={"Name": name, **tags},
            opts=pulumi.ResourceOptions(parent=self),
        )
        rules = _Rules(name, self, tags)
        for ports in [None] if efa else LUSTRE_PORTS:
            rules.both_ways("servers", group.id, "servers", group.id, ports)
        for cidr in client_cidrs:
            for ports in LUSTRE_PORTS:
                rules.both_ways_by_address("servers", group.id, cidr, ports)
        self.rules = rules.made
        self.security_group_id = group.id
        self.register_outputs({"security_group_id": self.security_group_id})


class LustreClientRules(pulumi.ComponentResource):
    """Allows traffic between nodes and a file system in both directions, by group id.

    Children: standalone rules in the group of the file system and in that of the nodes.
    """

    made: list[pulumi.Resource]

    def __init__(
        self,
        name: str,
        args: LustreClientRulesArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:storage:LustreClientRules", name, {}, opts)
        rules = _Rules(name, self, args.tags)
        for ports in LUSTRE_PORTS:
            rules.both_ways("servers", args.servers, "clients", args.clients, ports)
            rules.both_ways("clients", args.clients, "servers", args.servers, ports)
        if args.efa_clients is not None:
            rules.both_ways("servers", args.servers, "efa", args.efa_clients, None)
            rules.both_ways("efa", args.efa_clients, "servers", args.servers, None)
        self.made = rules.made
        self.register_outputs({})


class _Rules:
    """Registers rules of security groups under the names `<name>-<group>-<direction>-…`."""

    def __init__(self, name: str, parent: pulumi.Resource, tags: Mapping[str, str]) -> None:
        self.made: list[pulumi.Resource] = []
        self._name = name
        self._tags = dict(tags)
        self._opts = pulumi.ResourceOptions(parent=parent)

    def both_ways(self, one: str, group: GroupId, other: str, peer: GroupId, ports: Ports) -> None:
        """Allow ingress to a group from another group, and egress to it."""
        for direction in ("ingress", "egress"):
            self._add(direction, f"{one}-{direction}-{other}", group, ports, peer=peer)

    def both_ways_by_address(self, one: str, group: GroupId, cidr: str, ports: Ports) -> None:
        """Allow ingress to a group from a CIDR block, and egress to it."""
        for direction in ("ingress", "egress"):
            role = f"{one}-{direction}-{cidr.replace('/', '-')}"
            self._add(direction, role, group, ports, cidr=cidr)

    def _add(
        self,
        direction: Literal["ingress", "egress"],
        role: str,
        group: GroupId,
        ports: Ports,
        *,
        peer: GroupId | None = None,
        cidr: str | None = None,
    ) -> None:
        kinds = {
            "ingress": aws.vpc.SecurityGroupIngressRule,
            "egress": aws.vpc.SecurityGroupEgressRule,
        }
        first, last = ports or (None, None)
        suffix = "all" if ports is None else str(first)
        rule = kinds[direction](
            f"{self._name}-{role}-{suffix}",
            security_group_id=group,
            referenced_security_group_id=peer,
            cidr_ipv4=cidr,
            ip_protocol=ALL_PROTOCOLS if ports is None else "tcp",
            from_port=first,
            to_port=last,
            description="Lustre" if ports else "Lustre over EFA",
            tags=self._tags,
            opts=self._opts,
        )
        self.made.append(rule)
