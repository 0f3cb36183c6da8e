"""Networks alone for tests: a stack file, plans by hand, and a registered stack."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tests.support.cloud import Cloud, Registered
from tests.support.stack_files import REGION
from trainyard.components.config.network import NewVpc
from trainyard.components.network.network_plan import plan_network
from trainyard.components.network_stack.plan import NetworkStackPlan

NETWORK_RAW: dict[str, Any] = {
    "name": "vpc-one-az",
    "network": {
        "kind": "new-vpc",
        "availability_zones": ["us-west-2b"],
        "addresses": "vpc-one-az",
        "flow_logs": True,
    },
    "architecture": {"kind": "network"},
}
"""A VPC of one zone, without a cluster."""


def new_network(*zones: str, **settings: Any) -> NewVpc:
    """Return a new VPC of these zones, by default that of the one-zone template."""
    defaults: dict[str, Any] = {
        "availability_zones": zones or ("us-west-2b",),
        "addresses": "vpc-multi-az" if len(zones) > 1 else "vpc-one-az",
        "flow_logs": True,
    }
    return NewVpc(kind="new-vpc", **{**defaults, **settings})


def network_stack_plan(*zones: str, **changes: Any) -> NetworkStackPlan:
    """Return a network alone, of one zone or of these."""
    stack = NetworkStackPlan(
        name="vpc-one-az",
        region=REGION,
        tags={"trainyard:cluster": "vpc-one-az"},
        network=plan_network(new_network(*zones), region=REGION),
        efa_security_group=True,
        lustre_security_group=True,
        deletion_protection=True,
    )
    return replace(stack, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkStack:
    """A registered network stack."""

    plan: NetworkStackPlan
    cloud: Cloud

    def every(self, type_: str) -> list[Registered]:
        """Return the resources of a type of EC2, such as `subnet:Subnet`, by name."""
        return self.cloud.of_type(f"aws:ec2/{type_}")

    def subnets(self, *, public: bool) -> list[dict[str, Any]]:
        """Return the public or the private subnets, in the order of the zones."""
        kind = "public" if public else "private"
        found = [s.inputs for s in self.every("subnet:Subnet") if f"-network-{kind}-" in s.name]
        zones = self.plan.network.availability_zones
        return sorted(found, key=lambda s: zones.index(s["availabilityZoneId"]))

    def rules(self, group: str, direction: str) -> list[dict[str, Any]]:
        """Return the rules (`Ingress` or `Egress`) of the group `efa` or `lustre`."""
        kind = f"SecurityGroup{direction}Rule"
        group_id = f"{self.plan.name}-{group}-group-id"
        made = self.cloud.of_type(f"aws:vpc/{kind[0].lower()}{kind[1:]}:{kind}")
        return [each.inputs for each in made if each.inputs["securityGroupId"] == group_id]


def open_ports(rules: list[dict[str, Any]]) -> set[tuple[Any, ...]]:
    """Return protocol, first and last port and peer of each rule; the group itself is `self`."""
    return {
        (
            rule["ipProtocol"],
            rule.get("fromPort"),
            rule.get("toPort"),
            rule.get("cidrIpv4", "self"),
        )
        for rule in rules
    }
