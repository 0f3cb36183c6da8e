"""What Amazon ECS and AWS Batch report of the compute environments and queues of a stack.

ECS sends the metrics of the cluster that Batch makes for a compute environment, while tasks run.

Sources:
    https://docs.aws.amazon.com/AmazonECS/latest/developerguide/available-metrics.html
    https://docs.aws.amazon.com/batch/latest/userguide/batch-job-queue-blocked-events.html
"""

from __future__ import annotations

from trainyard.components.batch.compute_environment_plan import ComputeEnvironmentPlan
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.monitoring.plan import EventPlan, Graph, Metric, Sources, Subject


def environment_metrics(environment: ComputeEnvironmentPlan) -> Sources:
    """Return the graph of what the jobs of a compute environment use of its nodes."""
    gpus = {"GPUReservation": "GPUs of jobs"} if environment.instance_type.has_nvidia_gpus else {}
    used = {**gpus, "CPUUtilization": "CPU", "MemoryUtilization": "memory"}
    metrics = tuple(
        Metric(
            namespace="AWS/ECS",
            name=name,
            dimensions={"ClusterName": Subject(kind="ecs-cluster", name=environment.name)},
            statistic="Average",
            label=label,
        )
        for name, label in used.items()
    )
    graph = Graph(title=f"Use of {environment.name}", metrics=metrics, unit="percent")
    return Sources(graphs=(graph,))


def queue_events(plan: BatchPlan) -> Sources:
    """Return the event that Batch sends when the first job of a queue cannot start."""
    blocked = EventPlan(
        name="queue-blocked",
        description=f"The first job of a queue of {plan.name} cannot start",
        pattern={
            "source": ["aws.batch"],
            "detail-type": ["Batch Job Queue Blocked"],
            "detail": {
                "jobQueue": [{"suffix": f":job-queue/{queue}"} for queue in plan.queue_names]
            },
        },
    )
    return Sources(events=(blocked,))
