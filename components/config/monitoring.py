"""The dashboard and the alarms of a stack.

Sources:
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
    https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html
    https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
    https://docs.aws.amazon.com/prometheus/latest/APIReference/API_CreateWorkspace.html
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from trainyard.components.config.base import (
    ARN_PARTITION,
    ARN_REGION,
    EffectiveWith,
    Form,
    StrictModel,
    Switch,
)

LogRetentionDays = Literal[
    0, 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827, 3653
]
"""Days to keep logs of a Slurm cluster, of those that ParallelCluster supports; 0 is forever.

https://docs.aws.amazon.com/parallelcluster/latest/ug/Monitoring-v3.html
"""
# fmt: off
GroupRetentionDays = Literal[
    0, 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922,
    3288, 3653,
]
# fmt: on
"""Days that a log group keeps its events; 0 is forever.

https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
"""
Email = Annotated[
    str,
    Form(
        pattern=r"[^@\s]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+",
        expected="an e-mail address",
        example="ml-infra@example.com",
    ),
]
TopicArn = Annotated[
    str,
    Form(
        # A FIFO topic, whose name ends with `.fifo`, cannot be the action of an alarm.
        pattern=rf"arn:{ARN_PARTITION}:sns:{ARN_REGION}:\d{{12}}:[A-Za-z0-9_-]{{1,256}}",
        expected="the ARN of a standard SNS topic",
        example="arn:aws:sns:us-west-2:123456789012:ml-infra",
        names="sns-topic",
        where="an ARN that `aws sns list-topics` prints",
    ),
]
WorkspaceArn = Annotated[
    str,
    Form(
        pattern=rf"arn:{ARN_PARTITION}:aps:{ARN_REGION}:\d{{12}}:workspace/ws-[0-9a-f-]{{36}}",
        expected="the ARN of a workspace of Amazon Managed Service for Prometheus",
        example=(
            "arn:aws:aps:us-west-2:123456789012:workspace/ws-0a000000-0000-4000-8000-000000000001"
        ),
        names="prometheus-workspace",
        where="an ARN that `aws amp list-workspaces` prints",
    ),
]
NodeMetrics = Literal["cloudwatch", "prometheus"]
# A Capacity Block lasts at most 182 days.
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-how.html
WarningHours = Annotated[int, Field(ge=1, le=182 * 24)]
PERIOD_MINUTES = 5
"""Period of the metrics of alarms. `idle_minutes` is a multiple of it."""


class Alarms(StrictModel):
    """CloudWatch alarms, and the SNS topic that receives their messages."""

    emails: tuple[Email, ...] = ()
    """E-mail addresses that receive the messages. AWS sends each a link to confirm the
    subscription."""
    topic_arn: TopicArn | None = None
    """Existing SNS topic that receives the messages. If omitted, the stack creates one. The access
    policy of the topic must allow `cloudwatch.amazonaws.com` and `events.amazonaws.com` to
    publish."""
    idle_minutes: Annotated[int, Field(ge=5, le=1440, multiple_of=PERIOD_MINUTES)] = 60
    """Minutes after which unused instances of a reservation, and nodes whose accelerators do no
    work, raise an alarm. A multiple of 5."""
    block_warning_hours: Annotated[tuple[WarningHours, ...], Field(max_length=10)] = ()
    """Hours before the end of a Capacity Block at which a message is sent, such as `[24, 2]`, in
    addition to EC2's own events at its start and 40 minutes before its end. The next `up` after
    another `reservation_id` or `ends_at` moves them."""
    file_system_used_percent: Annotated[
        int,
        Field(ge=1, le=99),
        EffectiveWith((Switch("/storage"),), why="the stack has no file systems"),
    ] = 85
    """Used capacity at which an FSx for Lustre file system raises an alarm."""

    @model_validator(mode="after")
    def _subscribes_to_its_own_topic(self) -> Self:
        if self.emails and self.topic_arn is not None:
            raise PydanticCustomError(
                "contradiction",
                "is given together with `topic_arn`",
                {
                    "key": "emails",
                    "why": "the stack does not change the subscriptions of an existing topic",
                    "allowed": "one of `emails` and `topic_arn`",
                    "remedy": (
                        "remove `topic_arn`, or remove `emails` and subscribe the addresses with "
                        "`aws sns subscribe`"
                    ),
                },
            )
        return self


class StackMonitoring(StrictModel):
    """A CloudWatch dashboard and alarms for the stack."""

    node_metrics: NodeMetrics | None = None
    """Where nodes with accelerators or EFA send their metrics. `cloudwatch`: EKS gets the
    CloudWatch Observability add-on, and the CloudWatch agent of Slurm and Batch nodes measures
    NVIDIA GPUs, EFA and memory. AWS charges for each metric. `prometheus`: EKS gets
    exporters and a collector that AWS runs, and the agent of Slurm and Batch nodes sends to
    `workspace_arn`; the alarms on these metrics are alerts there, and CloudWatch has no graphs of
    them. If omitted, only what AWS measures without an agent has graphs and alarms."""
    workspace_arn: Annotated[
        WorkspaceArn | None,
        EffectiveWith(
            (Switch("node_metrics", ("prometheus",)),), why="nothing would be sent to the workspace"
        ),
    ] = None
    """Existing workspace of Amazon Managed Service for Prometheus that receives the metrics of
    `node_metrics: prometheus`. It is in the account and the region of the stack, and outlives it.
    """
    dashboard: bool = True
    """Whether to create a dashboard: reservations, nodes, accelerators, EFA, and file systems."""
    alarms: Alarms | None = None
    """Alarms, and who receives them. If omitted, the stack has no alarms. `{}` creates alarms and
    a topic without subscriptions."""

    @model_validator(mode="after")
    def _has_the_workspace_of_its_metrics(self) -> Self:
        if self.node_metrics == "prometheus" and self.workspace_arn is None:
            raise PydanticCustomError("needed", "is missing", {"key": "workspace_arn"})
        return self
