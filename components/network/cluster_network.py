"""The VPC that a cluster lives in, adopted or made, behind one face."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pulumi

from components.network.network_plan import NetworkPlan
from components.network.vpc import Vpc, VpcArgs


class ClusterNetwork:
    """The VPC and the subnets of a plan, as resources of the cluster need them.

    No component of its own: an adopted VPC is not a resource of the stack, and adds none. A new
    one is the component `<name>` (`Vpc`).
    """

    vpc_id: pulumi.Output[str]
    """Id of the VPC."""
    ready: Sequence[pulumi.Resource]
    """What must be there before a node can reach anything, and must go after the last node: the
    routes, NAT gateways and endpoints of a new VPC."""

    def __init__(
        self,
        name: str,
        plan: NetworkPlan,
        *,
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Adopt the VPC of the plan, or make it under the name `name`."""
        self._plan = plan
        self._vpc: Vpc | None = None
        if plan.vpc_id is not None:
            self.vpc_id, self.ready = pulumi.Output.from_input(plan.vpc_id), ()
            return
        self._vpc = Vpc(name, VpcArgs(plan=plan, tags=tags), opts)
        self.vpc_id, self.ready = self._vpc.vpc_id, self._vpc.ready

    def subnet_id(self, reference: str) -> pulumi.Input[str]:
        """Return the id of a subnet by the reference that plans use.

        Raises:
            KeyError: the plan has no such subnet.
        """
        if self._vpc is not None:
            return self._vpc.subnet_id(reference)
        # Of an existing subnet the reference is the id.
        return self._plan.subnet(reference).name

    def subnet_ids(self) -> list[pulumi.Input[str]]:
        """Return the ids of all subnets, public ones first."""
        return [self.subnet_id(subnet.name) for subnet in self._plan.subnets]
