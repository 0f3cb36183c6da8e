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

from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.config.parallelcluster import ParallelClusterStackConfig
from trainyard.components.config.problems import Review
from trainyard.components.monitoring.node_agent import (
    Measured,
    agent_access,
    agent_script,
    measured_on_pools,
)
from trainyard.components.monitoring.plan import AgentPlan
from trainyard.components.parallelcluster.ssh_review import SESSION_MANAGER_POLICY
from trainyard.components.tagging import NODE_METRICS_TAG

_SYSTEMS_MANAGER_ENDPOINTS = ("ssm", "ssmmessages")
"""Services that nodes call which Systems Manager configures.

https://docs.aws.amazon.com/systems-manager/latest/userguide/setup-create-vpc.html
"""
_WITHOUT_SSM_AGENT = ("rhel", "rocky")
"""Prefixes of the operating systems whose AMIs have no SSM Agent.

https://docs.aws.amazon.com/systems-manager/latest/userguide/ami-preinstalled-agent.html
"""


def metrics_policies(config: ParallelClusterStackConfig) -> tuple[str, ...]:
    """Return the managed policies of nodes that send metrics; empty if none do."""
    access = agent_access(config)
    return (SESSION_MANAGER_POLICY, access.policy) if access else ()


def metrics_endpoints(config: ParallelClusterStackConfig) -> tuple[str, ...]:
    """Return the interface endpoints of the services that these nodes call."""
    access = agent_access(config)
    return (access.endpoint, *_SYSTEMS_MANAGER_ENDPOINTS) if access else ()


def metrics_tag(config: ParallelClusterStackConfig, measured: Measured | None) -> str | None:
    """Return the value of `NODE_METRICS_TAG` of nodes; None for nodes that send no metrics."""
    if measured is None or config.node_metrics is None:
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
            script=agent_script(config, measured),
        )
        for measured in measured_on_pools(pools)
        if (tag := metrics_tag(config, measured))
    )


def note_ssm_agent(config: ParallelClusterStackConfig, review: Review) -> None:
    """Note that the AMI must have the SSM Agent, where AWS does not install it."""
    system = config.architecture.operating_system
    if config.node_metrics and system.startswith(_WITHOUT_SSM_AGENT):
        review.note(
            f"monitoring.node_metrics: AMIs of {system} have no SSM Agent; without it in a custom "
            "AMI, nodes send no metrics"
        )
