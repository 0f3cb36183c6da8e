"""Thresholds without nodes, and a requirement that nothing enforces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support import batch_reviews, parallelcluster_reviews
from tests.support.batch_configs import NETWORK_RAW, P5, raw_config
from tests.support.parallelcluster_configs import raw_p4de
from tests.support.stack_files import changed, p5, plan_problems

THRESHOLDS = "verification.minimum_bus_bandwidth_gb_per_second"
REQUIRED = {"required": True}


def test_a_threshold_and_the_requirement_fit_nodes_with_accelerators() -> None:
    settings = {**REQUIRED, "minimum_bus_bandwidth_gb_per_second": {"p5.48xlarge": 300}}
    assert plan_problems(changed(verification=settings)) == {}


def test_the_requirement_fits_a_stack_that_has_other_nodes_too() -> None:
    cpu = {"instance_type": "c5.2xlarge", "desired": 1, "maximum": 1}
    raw = changed(verification=REQUIRED, architecture__node_groups__cpu=cpu)
    assert plan_problems(raw) == {}


@pytest.mark.parametrize("type_name", ["p5en.48xlarge", "c5.2xlarge"])
def test_a_threshold_for_nodes_that_the_stack_does_not_have_is_refused(type_name: str) -> None:
    settings = {"minimum_bus_bandwidth_gb_per_second": {type_name: 300}}
    (problem,) = plan_problems(changed(verification=settings)).items()
    assert problem[0] == f"{THRESHOLDS}.{type_name}"
    assert problem[1].allowed == "p5.48xlarge"


def test_nothing_is_required_of_nodes_without_accelerators() -> None:
    raw = p5(instance_type="c5.2xlarge", efa_enabled=False, purchase_option="on-demand", desired=1)
    del raw["reservations"]
    (found,) = plan_problems({**raw, "verification": REQUIRED}).items()
    assert found[0] == "verification.required"
    assert "no nodes have accelerators" in found[1].problem


@pytest.mark.parametrize(
    ("problems", "raw"),
    [
        (batch_reviews.problems, raw_config(P5)),
        (parallelcluster_reviews.problems, raw_p4de()),
        (batch_reviews.network_problems, NETWORK_RAW),
    ],
    ids=["batch", "slurm", "network"],
)
def test_only_eks_keeps_jobs_off_nodes(
    problems: Callable[[object], dict[str, Any]], raw: dict[str, Any]
) -> None:
    found = problems({**raw, "verification": REQUIRED})
    assert "only EKS can keep jobs off nodes" in found["verification.required"].problem
    assert "verify --drain" in found["verification.required"].remedy
