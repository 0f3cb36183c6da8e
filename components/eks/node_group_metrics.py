"""What Amazon EC2 Auto Scaling measures of the node groups of an EKS cluster.

EKS enables the metrics of the Auto Scaling groups of managed node groups. The program enables those
of self-managed node groups in stacks with `monitoring`.

Sources:
    https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-metrics.html
    https://docs.aws.amazon.com/eks/latest/userguide/enable-asg-metrics.html
"""

from __future__ import annotations

from typing import Literal

from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.components.monitoring.plan import AlarmPlan, Graph, Metric, Sources, Subject

WANTED, RUNNING = "GroupDesiredCapacity", "GroupInServiceInstances"
GRANULARITY = "1Minute"
"""The only granularity of group metrics."""
LAUNCH_PERIODS = 3
"""Periods of 5 minutes in which nodes can launch; a p5.48xlarge takes up to 10 minutes."""


def node_group_metrics(group: NodeGroupPlan) -> Sources:
    """Return the graph of a node group's nodes, and the alarm of missing ones."""

    def metric(name: str, statistic: Literal["Maximum", "Minimum"], label: str) -> Metric:
        where = Subject(kind="auto-scaling-group", name=group.name)
        return Metric(
            namespace="AWS/AutoScaling",
            name=name,
            dimensions={"AutoScalingGroupName": where},
            statistic=statistic,
            label=label,
        )

    # A node is missing in a period if it is in every minute of it.
    wanted = metric(WANTED, "Minimum", "wanted")
    running = metric(RUNNING, "Maximum", "running")
    missing = AlarmPlan(
        name=f"nodes-missing-{group.name}",
        description=(
            f"Node group {group.name} has had fewer nodes than wanted for {LAUNCH_PERIODS * 5} "
            "minutes: a node was lost, or EC2 cannot launch one. The scaling activities of its "
            "Auto Scaling group have the reason; `./trainyard diagnose STACK` collects them."
        ),
        metric=wanted,
        less=running,
        comparison="GreaterThanThreshold",
        threshold=0,
        periods=LAUNCH_PERIODS,
    )
    graph = Graph(title=f"Nodes of {group.name}", metrics=(wanted, running), unit="nodes")
    return Sources(graphs=(graph,), alarms=(missing,))
