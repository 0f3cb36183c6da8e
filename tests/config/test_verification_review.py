"""Thresholds without nodes, and a requirement that nothing enforces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support import eks
from tests.support.batch import P5
from tests.support.eks import changed, p5, refusals
from tests.support.network_stack import NETWORK_RAW
from tests.support.parallelcluster import raw_p4de
from tests.support.stack_files import raw_config

THRESHOLDS = "verification.minimum_bus_bandwidth_gb_per_second"
REQUIRED = {"required": True}


def test_a_threshold_and_the_requirement_fit_nodes_with_accelerators() -> None:
    settings = {**REQUIRED, "minimum_bus_bandwidth_gb_per_second": {"p5.48xlarge": 300}}
    assert refusals(changed(verification=settings)) == {}


def test_the_requirement_fits_a_stack_that_has_other_nodes_too() -> None:
    cpu = {"instance_type": "c5.2xlarge", "desired": 1, "maximum": 1}
    raw = changed(verification=REQUIRED, architecture__node_groups__cpu=cpu)
    assert refusals(raw) == {}


@pytest.mark.parametrize("type_name", ["p5en.48xlarge", "c5.2xlarge"])
def test_a_threshold_for_nodes_that_the_stack_does_not_have_is_refused(type_name: str) -> None:
    settings = {"minimum_bus_bandwidth_gb_per_second": {type_name: 300}}
    (problem,) = refusals(changed(verification=settings)).items()
    assert problem[0] == f'{THRESHOLDS}["{type_name}"]'
    assert problem[1].allowed == "p5.48xlarge"


@pytest.mark.parametrize("required", [True, False])
def test_a_threshold_in_gbit_is_refused_with_the_same_in_gigabytes(*, required: bool) -> None:
    """The bus bandwidth is in GB/s, as nccl-tests prints it; networks are sold in Gbit/s."""
    settings = {
        "required": required,
        "minimum_bus_bandwidth_gb_per_second": {"p5.48xlarge": 3200},
    }
    ((key, problem),) = refusals(changed(verification=settings)).items()
    assert key == f'{THRESHOLDS}["p5.48xlarge"]'
    assert ("no job ever runs" in problem.problem) == required
    assert problem.found == "3200 GB/s"
    assert problem.allowed == "at most 800 GB/s; 3200 Gbit/s are 400 GB/s"
    assert '["p5.48xlarge"]\' 400; or ' in problem.remedy
    settings["minimum_bus_bandwidth_gb_per_second"] = {"p5.48xlarge": 400}
    assert refusals(changed(verification=settings)) == {}


def test_a_threshold_for_nodes_without_accelerators_is_refused() -> None:
    settings = {"minimum_bus_bandwidth_gb_per_second": {"c5.2xlarge": 300}}
    cpu = {"instance_type": "c5.2xlarge", "desired": 1, "maximum": 1}
    found = refusals(changed(verification=settings, architecture__node_groups__cpu=cpu))
    assert [*found] == [f'{THRESHOLDS}["c5.2xlarge"]']


def test_nothing_is_required_of_nodes_without_accelerators() -> None:
    raw = p5(instance_type="c5.2xlarge", efa_enabled=False, purchase_option="on-demand", desired=1)
    del raw["reservations"]
    (found,) = refusals({**raw, "verification": REQUIRED}).items()
    assert found[0] == "verification.required"
    assert "no nodes have accelerators" in found[1].problem


@pytest.mark.parametrize(
    ("problems", "raw"),
    [
        (eks.refusals, raw_config(P5)),
        (eks.refusals, raw_p4de()),
        (eks.refusals, NETWORK_RAW),
    ],
    ids=["batch", "slurm", "network"],
)
def test_only_eks_keeps_jobs_off_nodes(
    problems: Callable[[object], dict[str, Any]], raw: dict[str, Any]
) -> None:
    found = problems({**raw, "verification": REQUIRED})
    assert "only EKS can keep jobs off nodes" in found["verification.required"].problem
    assert "verify --drain" in found["verification.required"].remedy
