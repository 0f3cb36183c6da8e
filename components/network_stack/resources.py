"""The network architecture: a VPC for other stacks, and their shared security groups.

The plan decides which resources exist.
"""

from __future__ import annotations

import pulumi

from trainyard.components.network.efa_security_group import EfaSecurityGroup, EfaSecurityGroupArgs
from trainyard.components.network.vpc import Vpc, VpcArgs
from trainyard.components.network_stack.plan import NetworkStackPlan
from trainyard.components.storage.fsx_lustre import LustreSecurityGroup


class NetworkArchitecture(pulumi.ComponentResource):
    """The VPC of a `NetworkStackPlan`.

    With `deletion_protection`, the engine refuses to delete or replace its resources (`protect`),
    because other stacks depend on them.

    Children: `<name>-network` (`Vpc`), `<name>-efa` (`EfaSecurityGroup`) and `<name>-lustre`
    (`LustreSecurityGroup`), if planned.
    """

    def __init__(
        self, name: str, plan: NetworkStackPlan, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trainyard:architectures:NetworkArchitecture", name, {}, opts)
        self._plan = plan
        # Children inherit `protect`.
        child = pulumi.ResourceOptions(parent=self, protect=plan.deletion_protection)

        self._vpc = Vpc(f"{name}-network", VpcArgs(plan=plan.network, tags=plan.tags), child)
        self._security_groups: dict[str, pulumi.Output[str]] = {}
        if plan.efa_security_group:
            efa = EfaSecurityGroupArgs(vpc_id=self._vpc.vpc_id, tags=plan.tags)
            group = EfaSecurityGroup(f"{name}-efa", efa, child)
            self._security_groups["efa"] = group.security_group_id
        if plan.lustre_security_group:
            lustre = LustreSecurityGroup(
                f"{name}-lustre",
                vpc_id=self._vpc.vpc_id,
                efa=False,
                client_cidrs=plan.network.blocks,
                tags=plan.tags,
                opts=child,
            )
            self._security_groups["lustre"] = lustre.security_group_id
        self.register_outputs({})

    def outputs(self) -> dict[str, pulumi.Input[object]]:
        """Return the stack outputs, by name; other stacks read the VPC and the subnets."""
        network = self._plan.network
        return {
            "region": self._plan.region,
            "vpc_id": self._vpc.vpc_id,
            "cidrs": list(network.blocks),
            "availability_zones": list(network.availability_zones),
            "public_subnet_ids": [
                self._vpc.subnet_id(subnet.name) for subnet in network.public_subnets
            ],
            "private_subnet_ids": [
                self._vpc.subnet_id(subnet.name) for subnet in network.private_subnets
            ],
            "security_group_ids": dict(self._security_groups),
            "notes": list(self._plan.notes),
        }
