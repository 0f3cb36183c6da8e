"""The destination of metrics of nodes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.monitoring import CLOUDWATCH, PROMETHEUS, WORKSPACE_ARN
from tests.support.parallelcluster import raw_p4de
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ConfigError


def said(monitoring: dict[str, Any]) -> str:
    """Return what is wrong with `monitoring` in a stack file; empty if nothing is."""
    try:
        load_stack_config({**raw_p4de(), "monitoring": monitoring}, stack_file="Pulumi.x.yaml")
    except ConfigError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("monitoring", [CLOUDWATCH, PROMETHEUS, {}])
def test_a_destination_with_what_it_needs_is_accepted(monitoring: dict[str, Any]) -> None:
    assert said(monitoring) == ""


@pytest.mark.parametrize(
    ("monitoring", "expected"),
    [
        ({"node_metrics": "prometheus"}, "is missing"),
        (
            {**PROMETHEUS, "workspace_arn": WORKSPACE_ARN.rpartition("/")[2]},
            "the ARN of a workspace of Amazon Managed Service for Prometheus",
        ),
    ],
)
def test_prometheus_needs_a_workspace(monitoring: dict[str, Any], expected: str) -> None:
    found = said(monitoring)
    assert expected in found
    assert "monitoring.workspace_arn" in found
