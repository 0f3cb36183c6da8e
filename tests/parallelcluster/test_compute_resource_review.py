"""Problems of a compute resource."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.parallelcluster import raw_g4dn, raw_p4de
from tests.support.stack_files import RESERVATION, refusals
from trainyard.components.catalog.instance_types import INSTANCE_TYPES, instance_type
from trainyard.components.parallelcluster import queue_plan

G4DN = "architecture.queues.compute.compute_resources.g4dn"
P4DE = "architecture.queues.compute-gpu.compute_resources.distributed-ml"


def resource(**changes: Any) -> dict[str, Any]:
    key = "architecture__queues__compute__compute_resources__g4dn"
    return raw_g4dn(**{f"{key}__{name}": value for name, value in changes.items()})


@pytest.mark.parametrize(
    ("changes", "key", "says"),
    [
        ({"minimum": 3}, "minimum", "more than `maximum`"),
        ({"instance_type": "g4dn.7xlarge"}, "instance_type", "catalog"),
        ({"purchase_option": "sopt"}, "purchase_option", "neither"),
        ({"schedulable_memory_mib": 131073}, "schedulable_memory_mib", "g4dn.8xlarge has"),
        ({"slurm_settings": {"Weight": 1}}, "slurm_settings.Weight", "sets itself"),
    ],
)
def test_a_compute_resource_that_does_not_work_is_refused(
    changes: dict[str, Any], key: str, says: str
):
    found = refusals(resource(**changes))
    assert list(found) == [f"{G4DN}.{key}"]
    assert says in found[f"{G4DN}.{key}"].problem


def test_the_remedy_for_memory_is_what_parallelcluster_takes_by_itself():
    (problem,) = refusals(resource(schedulable_memory_mib=200000)).values()
    assert problem.remedy.endswith(str(131072 * 95 // 100))


@pytest.mark.parametrize(("minimum", "refused"), [(0, True), (3, True), (4, False)])
def test_every_node_of_a_block_is_static(minimum: int, *, refused: bool):
    raw = raw_p4de(
        reservations__p4de={"kind": "capacity-block", "reservation_id": RESERVATION},
        **{
            "architecture__queues__compute-gpu__compute_resources__distributed-ml__minimum": minimum
        },
    )
    assert list(refusals(raw)) == [f"{P4DE}.minimum"] * refused


def test_the_reservation_holds_the_most_nodes_of_all_compute_resources():
    """ParallelCluster counts `MaxCount`; EKS counts the desired size."""
    raw = raw_p4de(reservations__p4de__instance_count=3)
    (problem,) = refusals(raw).values()
    assert (problem.path.rpartition(".")[2], problem.found) == (
        "maximum",
        "compute-gpu/distributed-ml 4",
    )
    assert problem.remedy.endswith("maximum' 3")


def test_head_node_and_nodes_run_on_one_architecture(monkeypatch: pytest.MonkeyPatch):
    """InstanceArchitectureCompatibilityValidator."""
    arm = replace(instance_type("m5.8xlarge"), architecture="arm64")
    types = {**INSTANCE_TYPES, arm.name: arm}
    monkeypatch.setattr(queue_plan, "INSTANCE_TYPES", types)
    (problem,) = refusals(resource()).values()
    assert problem.path.endswith("g4dn.instance_type")
    assert "m5.8xlarge, is arm64" in problem.problem
