"""Arguments of node groups, for tests of the components."""

from __future__ import annotations

from collections.abc import Callable

import pulumi
import pytest

from tests.support.eks_account import (
    account,
    block,
    chicago,
    configure,
    facts,
    reader,
    server,
    with_subnet,
)
from trainyard.components.eks.cluster import ClusterAccess
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.components.eks.node_groups import NodeGroupArgs
from trainyard.components.identity.node_role import NodeRole, NodeRoleArgs

__all__ = ["account", "block", "chicago", "configure", "facts", "reader", "server", "with_subnet"]


@pytest.fixture
def node_group_args() -> Callable[..., NodeGroupArgs]:
    """Return the arguments of a node group; call it inside a program."""

    def arguments(plan: NodeGroupPlan, *launch_after: pulumi.Resource) -> NodeGroupArgs:
        return NodeGroupArgs(
            cluster_name="p5-cb",
            kubernetes_version="1.35",
            plan=plan,
            access=ClusterAccess(
                cluster_name=pulumi.Output.from_input("p5-cb"),
                endpoint=pulumi.Output.from_input("https://example.eks.amazonaws.com"),
                certificate_authority=pulumi.Output.from_input("Q0E="),
                service_cidr=pulumi.Output.from_input("172.20.0.0/16"),
                security_group_id=pulumi.Output.from_input("sg-cluster"),
            ),
            subnet_ids=list(plan.subnets),
            efa_security_group_id="sg-efa",
            role=NodeRole(
                "role",
                NodeRoleArgs(extra_policies=(), cluster_name="p5-cb", region="us-west-2", tags={}),
            ),
            launch_after=launch_after,
            tags={"team": "vision"},
        )

    return arguments
