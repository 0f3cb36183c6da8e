"""Monitoring: where metrics of nodes go, the metrics that AWS collects, and alarms.

CloudWatch evaluates the most recent points that exist. If fewer than the evaluation periods exist
in a range of some more periods, it uses missing points, as few as possible:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html

Sources of the metrics, by namespace:
    AWS/AutoScaling: https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-metrics.html
    AWS/EC2CapacityReservations:
        https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservation-cw-metrics.html
    AWS/ECS: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/available-metrics.html
    AWS/FSx: https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html
    CWAgent: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch-Agent-NVIDIA-GPU.html
        and `translator/translate/otel/receiver/awsefa/testdata/emptyMeasurements.yaml` of
        https://github.com/aws/amazon-cloudwatch-agent; without dimensions, as it adds them up
    ContainerInsights: `test/gpu/common/gpu_validation.go`, `test/efa/efa_test.go`,
        `test/awsneuron/neuron_metrics_test.go` and `test/metric_value_benchmark/eks_resources` of
        https://github.com/aws/amazon-cloudwatch-agent-test
    EFA exporter: `class_amazon_efa.go` of `4.validation_and_observability/3.efa-node-exporter` in
        https://github.com/awslabs/awsome-distributed-ai; a counter has the name of its file
    ParallelCluster: `cw_dashboard_builder.py` and `cluster_stack.py` of aws-parallelcluster 3.16.1
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, Literal

CLOUDWATCH: dict[str, Any] = {"node_metrics": "cloudwatch"}
WORKSPACE_ID = "ws-0a000000-0000-4000-8000-000000000001"
"""The workspace of the sandbox's account."""
WORKSPACE_ARN = f"arn:aws:aps:us-west-2:123456789012:workspace/{WORKSPACE_ID}"
PROMETHEUS: dict[str, Any] = {"node_metrics": "prometheus", "workspace_arn": WORKSPACE_ARN}


_NODE_EFA = (
    *("rx_bytes", "tx_bytes", "rx_dropped", "rdma_read_bytes", "rdma_write_bytes"),
    *("rdma_write_recv_bytes", "unresponsive_remote_events", "retrans_bytes", "retrans_pkts"),
    *("impaired_remote_conn_events", "retrans_timeout_events"),
)
_NODE_GPU = (
    *("memory_total", "memory_used", "power_draw", "temperature", "utilization"),
    *("memory_utilization", "tensor_core_utilization"),
)
_AGENT_GPU = (
    *("utilization_gpu", "temperature_gpu", "power_draw", "utilization_memory", "memory_total"),
    *("memory_used", "memory_free", "clocks_current_graphics", "clocks_current_sm"),
)
_NODE_NEURON = (
    *("neuroncore_utilization", "neuroncore_memory_usage_total"),
    *("neurondevice_hw_ecc_events_total", "neuron_execution_errors_total"),
)

EFA_EXPORTER_COUNTERS = frozenset(
    {
        *("alloc_pd_err", "alloc_ucontext_err", "cmds_err", "completed_cmds", "create_ah_err"),
        *("create_cq_err", "create_qp_err", "keep_alive_rcvd", "impaired_remote_conn_events"),
        *("lifespan", "mmap_err", "no_completion_cmds", "rdma_read_bytes", "rdma_read_resp_bytes"),
        *("rdma_read_wr_err", "rdma_read_wrs", "rdma_write_bytes", "rdma_write_recv_bytes"),
        *("rdma_write_wr_err", "rdma_write_wrs", "recv_bytes", "recv_wrs", "reg_mr_err"),
        *("retrans_bytes", "retrans_pkts", "retrans_timeout_events", "rx_bytes", "rx_drops"),
        *("rx_pkts", "send_bytes", "send_wrs", "submitted_cmds", "tx_bytes", "tx_pkts"),
        "unresponsive_remote_events",
    }
)
"""Counters of the EFA driver that AWS's fork of node exporter sends as `node_amazonefa_COUNTER`."""

METRICS: Mapping[tuple[str, tuple[str, ...]], frozenset[str]] = {
    ("AWS/AutoScaling", ("AutoScalingGroupName",)): frozenset(
        {
            *("GroupMinSize", "GroupMaxSize", "GroupDesiredCapacity", "GroupInServiceInstances"),
            *("GroupPendingInstances", "GroupTerminatingInstances", "GroupTotalInstances"),
        }
    ),
    ("AWS/EC2CapacityReservations", ("CapacityReservationId",)): frozenset(
        {
            *("UsedInstanceCount", "AvailableInstanceCount", "TotalInstanceCount"),
            "InstanceUtilization",
        }
    ),
    ("AWS/ECS", ("ClusterName",)): frozenset(
        {
            *("CPUReservation", "CPUUtilization", "MemoryReservation", "MemoryUtilization"),
            "GPUReservation",
        }
    ),
    ("AWS/FSx", ("FileSystemId",)): frozenset(
        {
            *("DataReadBytes", "DataWriteBytes", "DataReadOperations", "DataWriteOperations"),
            *("MetadataOperations", "FreeDataStorageCapacity"),
        }
    ),
    ("CWAgent", ()): frozenset(
        {
            "mem_used_percent",
            *(f"nvidia_smi_{name}" for name in _AGENT_GPU),
            *(f"efa_{name}" for name in (*_NODE_EFA, "tx_pkts", "rx_pkts", "send_bytes")),
        }
    ),
    ("ContainerInsights", ("ClusterName",)): frozenset(
        {
            *("cluster_node_count", "cluster_failed_node_count"),
            *(f"node_efa_{name}" for name in _NODE_EFA),
            *(f"node_gpu_{name}" for name in _NODE_GPU),
            *(f"node_{name}" for name in _NODE_NEURON),
        }
    ),
    ("ParallelCluster", ("ClusterName",)): frozenset(
        {
            *("IamPolicyErrors", "VcpuLimitErrors", "VolumeLimitErrors"),
            *("InsufficientCapacityErrors", "OtherInstanceLaunchFailures"),
            *("InstanceBootstrapTimeoutErrors", "EC2HealthCheckErrors"),
            *("ScheduledEventHealthCheckErrors", "NoCorrespondingInstanceErrors"),
            *("SlurmNodeNotRespondingErrors", "GpuHealthCheckFailures"),
        }
    ),
    ("ParallelCluster", ("ClusterName", "InstanceId")): frozenset({"ClustermgtdHeartbeat"}),
}
"""Names of metrics, by namespace and names of dimensions."""


State = Literal["OK", "ALARM"]
Point = float | None
"""The value of a metric in a period; None without data."""
_EXTRA_PERIODS = 2
"""The documentation has a range of 5 periods for 3 evaluation periods."""
_COMPARISONS = {"GreaterThanThreshold": operator.gt, "LessThanThreshold": operator.lt}


def state(
    points: Sequence[Point],
    *,
    comparison: str,
    threshold: float,
    periods: int,
    to_alarm: int,
    missing: Literal["breaching", "notBreaching"],
) -> State:
    """Return the state of an alarm after the last point."""
    recent = points[-(periods + _EXTRA_PERIODS) :]
    real = [point for point in recent if point is not None][-periods:]
    breaching = sum(_COMPARISONS[comparison](point, threshold) for point in real)
    if missing == "breaching":
        breaching += periods - len(real)
    return "ALARM" if breaching >= to_alarm else "OK"


def times_fired(
    points: Sequence[Point],
    *,
    comparison: str,
    threshold: float,
    periods: int,
    missing: Literal["breaching", "notBreaching"],
) -> int:
    """Return how often an alarm goes off while the points arrive, one a period."""
    states = [
        state(
            points[:end],
            comparison=comparison,
            threshold=threshold,
            periods=periods,
            to_alarm=periods,
            missing=missing,
        )
        for end in range(1, len(points) + 1)
    ]
    return sum(
        (before, after) == ("OK", "ALARM")
        for before, after in zip(["OK", *states], states, strict=False)
    )
