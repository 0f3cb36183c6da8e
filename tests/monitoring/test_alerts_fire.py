"""Every alert fires once for a series that violates its threshold, and not for a normal one.

Prometheus' own query engine evaluates the rules files. The series are those of CloudWatch alarms,
as the exporters and the agent send them.
"""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.monitoring.test_alarms import SERIES
from tests.monitoring.test_alert_rules import ALERTS, rules_of
from tests.support.monitoring import Point
from tests.support.processes import PATIENCE
from tools.programs.alert_evaluator import ensure_alert_evaluator

pytestmark = pytest.mark.engine

PERIOD = 5
"""Minutes."""
OTHER_STACK = "other"
Sample = Mapping[str, Any]


@cache
def evaluator() -> Path:
    return ensure_alert_evaluator(print)


def series(name: str, values: Sequence[Point], **labels: str) -> Sample:
    """Return a series with a value a minute."""
    return {"labels": {"__name__": name, **labels}, "values": list(values)}


def fired(stack: str, samples: Sequence[Sample]) -> list[dict[str, Any]]:
    """Return the times at which alerts of a stack start to fire."""
    rules = rules_of(stack)
    assert rules is not None
    asked = json.dumps({"rules": rules.file, "series": samples})
    run = subprocess.run(
        [evaluator()], input=asked, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def minutes(points: Sequence[Point]) -> list[Point]:
    return [point for point in points for _ in range(PERIOD)]


def dcgm_utilization(points: Sequence[Point], cluster: str) -> list[Sample]:
    """Return the utilization of two GPUs, of which one is idle."""
    values = minutes(points)
    idle = [None if value is None else 0.0 for value in values]
    node = {"cluster": cluster, "node": f"{cluster}-node"}
    name = "DCGM_FI_DEV_GPU_UTIL"
    return [series(name, values, gpu="0", **node), series(name, idle, gpu="1", **node)]


def dcgm_xid(points: Sequence[Point], cluster: str) -> list[Sample]:
    """Return the last Xid error: a line of the driver is error 79, and an error stays the last."""
    values = minutes(points)
    first = next((at for at, value in enumerate(values) if value), len(values))
    labels = {"cluster": cluster, "node": f"{cluster}-node", "gpu": "3"}
    name, after = "DCGM_FI_DEV_XID_ERRORS", len(values) - first
    return [
        # A fault of a program.
        series(name, [31.0] * first + [None] * after, err_code="31", **labels),
        series(name, [None] * first + [79.0] * after, err_code="79", **labels),
    ]


def neuron_cores(points: Sequence[Point], cluster: str) -> list[Sample]:
    """Return the ratio of use, which is there while a program runs, and the node."""
    ratios = [value / 100 if value else None for value in minutes(points)]
    labels = {"cluster": cluster, "node": f"{cluster}-node", "job": "neuron-monitor"}
    return [
        series("neuroncore_utilization_ratio", ratios, neuroncore="0", **labels),
        series("instance_info", [1.0] * len(ratios), **labels),
    ]


def conditions(points: Sequence[Point], cluster: str) -> list[Sample]:
    """Return the conditions of a node that is not ready while the points count failed nodes."""
    values = minutes(points)
    ready = [0.0 if value else 1.0 for value in values]
    return [
        condition("Ready", ready, cluster),
        condition("Ready", [1 - value for value in ready], cluster, status="unknown"),
        condition("MemoryPressure", [0.0] * len(values), cluster),
        condition("MemoryPressure", [1.0] * len(values), cluster, status="false"),
    ]


def condition(name: str, values: Sequence[Point], cluster: str, status: str = "true") -> Sample:
    labels = {"condition": name, "status": status, "cluster": cluster, "node": f"{cluster}-node"}
    return series("kube_node_status_condition", values, **labels)


def agent_utilization(points: Sequence[Point], cluster: str) -> list[Sample]:
    labels = {"cluster": cluster, "InstanceId": f"i-{cluster}", "index": "0"}
    return [series("nvidia_smi_utilization_gpu", minutes(points), **labels)]


def total(points: Sequence[Point]) -> list[Point]:
    """Return a counter of which the points are the increase in a period."""
    each = ((value or 0) / PERIOD for value in minutes(points))
    return list(itertools.accumulate(each))


def efa_exporter_counter(name: str) -> Callable[[Sequence[Point], str], list[Sample]]:
    """Return a function that returns a counter of two devices of a node."""

    def counter(points: Sequence[Point], cluster: str) -> list[Sample]:
        labels = {"cluster": cluster, "node": f"{cluster}-node", "port": "1"}
        metric, totals = f"node_amazonefa_{name}", total(points)
        return [series(metric, totals, device=f"rdmap{each}s0", **labels) for each in (79, 80)]

    return counter


def agent_efa_counter(name: str) -> Callable[[Sequence[Point], str], list[Sample]]:
    """Return a function that returns a counter of two devices, and the memory of their node."""

    def counter(points: Sequence[Point], cluster: str) -> list[Sample]:
        metric, totals = f"efa_{name}", total(points)
        instance = {"InstanceId": f"i-{cluster}"}
        return [
            *(series(metric, totals, device=f"rdmap{each}s0", **instance) for each in (79, 80)),
            series("mem_used_percent", [7.5] * len(totals), cluster=cluster, **instance),
        ]

    return counter


EFA = {
    "efa-unresponsive": "unresponsive_remote_events",
    "efa-impaired": "impaired_remote_conn_events",
}
"""Counters of the driver, by alarm."""
EKS = {
    "nodes-failed": conditions,
    "gpus-idle": dcgm_utilization,
    "gpu-xid": dcgm_xid,
    "neuron-cores-idle": neuron_cores,
    **{alarm: efa_exporter_counter(name) for alarm, name in EFA.items()},
}
AGENT = {
    "gpus-idle": agent_utilization,
    **{alarm: agent_efa_counter(name) for alarm, name in EFA.items()},
}
SENT = {"p5-cb": EKS, "eks-trn1": EKS, "pc-gpu": AGENT, "batch-p5": AGENT}
"""What nodes send for the points of an alarm, by stack and alarm."""


@pytest.mark.parametrize(("stack", "alert"), [(s, a) for s, names in ALERTS.items() for a in names])
def test_an_alert_fires_once_for_a_series_that_violates_its_threshold(
    stack: str, alert: str
) -> None:
    violating, normal = SERIES[alert]
    sent = SENT[stack][alert]
    times = fired(stack, sent(violating, stack))
    assert [(each["alert"], each["labels"]["cluster"]) for each in times] == [(alert, stack)]
    # Another stack has its series in the same workspace.
    assert fired(stack, [*sent(normal, stack), *sent(violating, OTHER_STACK)]) == []


def test_an_alert_names_the_node_and_the_gpu() -> None:
    (xid,) = fired("p5-cb", dcgm_xid(SERIES["gpu-xid"].violating, "p5-cb"))
    named = {"node": "p5-cb-node", "gpu": "3", "err_code": "79", "cluster": "p5-cb"}
    assert xid["labels"] == named
    for stack, node in (("p5-cb", {"node": "p5-cb-node"}), ("pc-gpu", {"InstanceId": "i-pc-gpu"})):
        sent = SENT[stack]["efa-impaired"](SERIES["efa-impaired"].violating, stack)
        (impaired,) = fired(stack, sent)
        assert impaired["labels"] == {"cluster": stack, **node}


@pytest.mark.parametrize(
    ("name", "value", "fires"),
    [
        ("DiskPressure", 1.0, True),
        ("DiskPressure", 0.0, False),
        # A condition of the EKS node monitoring agent.
        ("AcceleratedHardwareReady", 0.0, True),
        ("AcceleratedHardwareReady", 1.0, False),
    ],
)
def test_conditions_whose_names_end_with_ready_are_true_on_a_healthy_node(
    name: str, value: float, fires: bool
) -> None:
    found = fired("p5-cb", [condition(name, [value] * 20, "p5-cb")])
    assert bool(found) == fires
