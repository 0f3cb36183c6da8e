"""Xid errors of NVIDIA GPUs, counted in the kernel's messages.

The driver writes a line such as
`NVRM: Xid (PCI:0000:53:00): 79, pid=1234, name=python3, GPU has fallen off the bus.`

Sources:
    https://docs.nvidia.com/deploy/xid-errors/index.html
    https://github.com/aws/eks-node-monitoring-agent, `monitors/nvidia/dcgm/dcgm_policies.go`: Xid
        errors after which a GPU needs a reset or a replacement.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/regex-expressions.html: a pattern has
        no groups, and neither parentheses nor spaces.
"""

from __future__ import annotations

from trainyard.components.monitoring.plan import (
    AlarmPlan,
    Graph,
    LogMetricPlan,
    Metric,
    Sources,
    Subject,
    own_namespace,
)

FATAL_XIDS = (
    *(46, 48, 54, 62, 63, 64, 74, 79, 95, 109, 110, 119, 120, 136, 140, 142, 143, 151, 155),
    *(156, 158),
)
"""Xid errors that a program cannot cause."""
_LINE = "|".join(rf"Xid..PCI:[0-9a-fA-F:]+.:\s{xid}," for xid in FATAL_XIDS)
TEXT_PATTERN = f"%{_LINE}%"
"""Filter pattern of lines with a fatal Xid error."""
JSON_PATTERN = f"{{ $.message = %{_LINE}% }}"
"""Filter pattern of JSON objects whose `message` is such a line."""


XID_ALARM = "gpu-xid"
"""Name of the alarm."""


def xid_description(where: str) -> str:
    """Return the message of the alarm.

    Args:
        where: Where to find the line of the driver and its node.
    """
    return (
        "The NVIDIA driver reported an Xid error after which the GPU needs a reset or the node "
        f"a replacement. {where} Search for `NVRM: Xid`."
    )


def xid_errors(cluster: str, log_group: str | Subject, pattern: str, *, where: str) -> Sources:
    """Return the metric of a cluster's fatal Xid errors, its graph and its alarm.

    Args:
        cluster: Name of the cluster.
        log_group: Log group with the kernel's messages.
        pattern: `TEXT_PATTERN` or `JSON_PATTERN`.
        where: As for `xid_description`.
    """
    errors = Metric(
        namespace=own_namespace(cluster), name="GpuXidErrors", statistic="Sum", label="log lines"
    )
    alarm = AlarmPlan(
        name=XID_ALARM,
        description=xid_description(where),
        metric=errors,
        comparison="GreaterThanThreshold",
        threshold=0,
    )
    graph = Graph(title="Xid errors", metrics=(errors,), unit="log lines in 5 minutes")
    counted = LogMetricPlan(log_group=log_group, pattern=pattern, metric=errors)
    return Sources(graphs=(graph,), alarms=(alarm,), log_metrics=(counted,))
