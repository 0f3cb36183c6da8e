"""One interface to the VPC of a cluster, existing or new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pulumi

from trainyard.components.network.network_plan import NetworkPlan
from trainyard.components.network.vpc import Vpc, VpcArgs


class ClusterNetwork:
    """The VPC and the subnets of a plan.

    This is not a component: an existing VPC adds no resource to the stack. A new VPC is the
    component `<name>` (`Vpc`).
    """

    vpc_id: pulumi.Output[str]
    """Id of the VPC."""
    ready: Sequence[pulumi.Resource]
    """Resources that must exist before the first node and until after the last one: routes, NAT
    gateways and endpoints of a new VPC."""

    def __init__(
        self,
        name: str,
        plan: NetworkPlan,
        *,
        tags: Mapping[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Use the existing VPC of the plan, or create it with the name `name`."""
        self._plan = plan
        self._vpc: Vpc | None = None
        if plan.vpc_id is not None:
            self.vpc_id, self.ready = pulumi.Output.from_input(plan.vpc_id), ()
            return
        self._vpc = Vpc(name, VpcArgs(plan=plan, tags=tags), opts)
        self.vpc_id, self.ready = self._vpc.vpc_id, self._vpc.ready

    def subnet_id(self, reference: str) -> pulumi.Input[str]:
        """Return the id of a subnet by its reference in plans.

        Raises:
            KeyError: the plan has no such subnet.
        """
        if self._vpc is not None:
            return self._vpc.subnet_id(reference)
        # The reference of an existing subnet is its id.
        return self._plan.subnet(reference).name

    def subnet_ids(self) -> list[pulumi.Input[str]]:
        """Return the ids of all subnets, public ones first."""
        return [self.subnet_id(subnet.name) for subnet in self._plan.subnets]
