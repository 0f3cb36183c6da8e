"""Metrics of the CloudWatch agent on Slurm nodes.

The AMIs of ParallelCluster contain the agent, which sends only logs of compute nodes. Systems
Manager adds a configuration to it, so that no node is replaced if the configuration changes. It
finds the nodes by a tag with their devices, because the agent does not start with the configuration
of GPUs on a node without them.

Source: https://github.com/aws/aws-parallelcluster-cookbook,
`cookbooks/aws-parallelcluster-environment/resources/cloudwatch/partial/_cloudwatch_common.rb`
"""

from __future__ import annotations

from collections.abc import Sequence

from components.compute.node_pool_plan import NodePoolPlan
from components.config.parallelcluster_stack import ParallelClusterStackConfig
from components.config.review import Review
from components.monitoring.node_agent import (
    AGENT_POLICY,
    Measured,
    agent_script,
    measured_on_pools,
)
from components.monitoring.plan import AgentPlan
from components.parallelcluster.ssh_review import SESSION_MANAGER_POLICY
from components.tagging import NODE_METRICS_TAG

METRICS_POLICIES = (SESSION_MANAGER_POLICY, AGENT_POLICY)
"""Managed policies of nodes that Systems Manager configures, and whose agent sends metrics."""
METRICS_ENDPOINTS = ("monitoring", "ssm", "ssmmessages")
"""Services that these nodes call.

https://docs.aws.amazon.com/systems-manager/latest/userguide/setup-create-vpc.html
"""
_WITHOUT_SSM_AGENT = ("rhel", "rocky")
"""Prefixes of the operating systems whose AMIs have no SSM Agent.

https://docs.aws.amazon.com/systems-manager/latest/userguide/ami-preinstalled-agent.html
"""


def metrics_tag(config: ParallelClusterStackConfig, measured: Measured | None) -> str | None:
    """Return the value of `NODE_METRICS_TAG` of nodes; None for nodes that send no metrics."""
    if measured is None or not config.sends_node_metrics:
        return None
    return f"{config.name}/{measured.name}"


def node_agents(
    config: ParallelClusterStackConfig, pools: Sequence[NodePoolPlan]
) -> tuple[AgentPlan, ...]:
    """Return the configurations of the agent, one for all nodes with the same devices."""
    return tuple(
        AgentPlan(
            name=measured.name,
            tag_key=NODE_METRICS_TAG,
            tag_value=tag,
            script=agent_script(config.name, measured),
        )
        for measured in measured_on_pools(pools)
        if (tag := metrics_tag(config, measured))
    )


def note_ssm_agent(config: ParallelClusterStackConfig, review: Review) -> None:
    """Note that the AMI must have the SSM Agent, where AWS does not install it."""
    system = config.architecture.operating_system
    if config.sends_node_metrics and system.startswith(_WITHOUT_SSM_AGENT):
        review.note(
            f"monitoring.node_metrics: AMIs of {system} have no SSM Agent; without it in a custom "
            "AMI, nodes send no metrics"
        )
