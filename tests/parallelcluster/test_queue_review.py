"""Problems of a queue other than its zone and subnets."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.parallelcluster import raw_g4dn, raw_p4de
from tests.support.stack_files import PRIVATE_B, RESERVATION, notes, refusals

QUEUE = "architecture.queues.compute"
BLOCK = {"kind": "capacity-block", "reservation_id": RESERVATION}
RESOURCE = {"instance_type": "g4dn.8xlarge", "maximum": 1}


def queue(**changes: Any) -> dict[str, Any]:
    return raw_g4dn(
        **{f"architecture__queues__compute__{key}": value for key, value in changes.items()}
    )


@pytest.mark.parametrize(
    ("raw", "key", "says"),
    [
        (queue(purchase_option="odcr"), f"{QUEUE}.purchase_option", "neither a purchase option"),
        (
            queue(compute_resources__g4dn__purchase_option="spot"),
            f"{QUEUE}.compute_resources.g4dn.purchase_option",
            "different purchase option",
        ),
        (
            queue(allocation_strategy="capacity-optimized"),
            f"{QUEUE}.allocation_strategy",
            "Spot capacity",
        ),
        (
            queue(gpu_health_check=True, compute_resources__g4dn__instance_type="c5.4xlarge"),
            f"{QUEUE}.gpu_health_check",
            "no compute resource",
        ),
        (
            queue(slurm_settings={"suspendTime": 3}),
            f"{QUEUE}.slurm_settings.suspendTime",
            "ParallelCluster sets itself",
        ),
    ],
)
def test_a_queue_that_does_not_work_is_refused(raw: dict[str, Any], key: str, says: str):
    found = refusals(raw)
    assert list(found) == [key]
    assert says in found[key].problem


def test_a_queue_on_demand_cannot_hold_a_block():
    """`CapacityType` belongs to the queue, and depends on the kind of reservation."""
    raw = raw_g4dn(
        reservations={"block": BLOCK},
        architecture__queues__compute__subnet_ids=[PRIVATE_B],
        architecture__queues__compute__compute_resources={
            "p5": {
                "instance_type": "p5.48xlarge",
                "minimum": 2,
                "maximum": 2,
                "purchase_option": "block",
            }
        },
    )
    (problem,) = refusals(raw).values()
    assert problem.allowed == "on-demand"
    assert problem.remedy.endswith(f"`{QUEUE}.purchase_option` to `block`")


@pytest.mark.parametrize("strategy", ["lowest-price", "price-capacity-optimized"])
def test_spot_takes_every_strategy_and_a_reservation_none(strategy: str):
    assert not refusals(queue(purchase_option="spot", allocation_strategy=strategy))
    key = "architecture__queues__compute-gpu__allocation_strategy"
    found = refusals(raw_p4de(**{key: strategy}))
    assert list(found) == ["architecture.queues.compute-gpu.allocation_strategy"]


def test_a_gpu_health_check_of_gpus_passes():
    assert not refusals(queue(gpu_health_check=True))


def test_a_scratch_directory_without_disks_is_noted():
    without = {"instance_type": "c5.4xlarge", "maximum": 1}
    raw = queue(scratch_directory="/local", compute_resources={"c5": without})
    assert "queue compute: `scratch_directory` has no effect" in notes(raw)
    assert "scratch_directory" not in notes(queue(scratch_directory="/local"))


@pytest.mark.parametrize(
    ("queues", "resources", "refused"), [(50, 1, False), (51, 1, True), (1, 50, False)]
)
def test_fifty_queues_and_fifty_compute_resources_are_the_most(
    queues: int, resources: int, *, refused: bool
):
    each = {"compute_resources": {f"r{number}": RESOURCE for number in range(resources)}}
    raw = raw_g4dn(
        architecture__queues={f"q{number}": each for number in range(queues)},
    )
    assert list(refusals(raw)) == ["architecture.queues"] * refused
