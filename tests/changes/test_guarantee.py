"""The guarantee about reserved capacity finds updates that would break it."""

from __future__ import annotations

import pytest

from tests.support.changes.edits import Edit
from tests.support.changes.guarantee import surges, unannounced
from tests.support.changes.rows import Row
from tests.support.stacks import account_facts
from tests.support.steps import BLOCK, cluster_template, managed, self_managed, step, template
from trainyard.changes.losses import SLURM_CLUSTER, losses
from trainyard.changes.reserved_capacity import NODE_GROUP
from trainyard.changes.steps import PlannedStep

NEXT = "cr-0cb00000000000001"
RESERVATIONS = account_facts().reservations
EDIT = Edit(("key",), "a -> b", {})


def update(*steps: PlannedStep, deletes_first: bool = True) -> Row:
    first = frozenset(each.urn for each in steps if deletes_first)
    return Row(edit=EDIT, everything=steps, deletes_first=first)


def managed_update(strategy: str) -> PlannedStep:
    inputs = {
        "scalingConfig": {"desiredSize": 2},
        "subnetIds": ["subnet-1"],
        "updateConfig": {"updateStrategy": strategy},
    }
    changed = ("launchTemplate.version",)
    return step("update", NODE_GROUP, "p5-node-group", old=inputs, new=inputs, changed=changed)


SAME = template("same", "p5", BLOCK, block=True)


@pytest.mark.parametrize(
    ("row", "surge"),
    [
        (update(SAME, managed_update("DEFAULT")), True),
        (update(SAME, managed_update("MINIMAL")), False),
        (update(SAME, managed("replace", "p5"), deletes_first=False), True),
        (update(SAME, managed("replace", "p5")), False),
        (update(SAME, self_managed("update", "p5")), False),
        (
            update(
                template("delete", "p5", BLOCK, block=True),
                self_managed("delete", "p5"),
                template("create", "new", BLOCK, block=True),
                self_managed("create", "new"),
            ),
            True,
        ),
    ],
)
def test_nodes_beyond_a_reservation_are_found(row: Row, surge: bool) -> None:
    assert bool(surges(row, RESERVATIONS)) == surge


def slurm(*targets: str | None) -> PlannedStep:
    def body(target: str | None) -> str:
        resource = {"Name": "nodes", "MinCount": 2}
        queue = {"Name": "p5", "CapacityType": "CAPACITY_BLOCK", "ComputeResources": [resource]}
        if target:
            resource["CapacityReservationTarget"] = {"CapacityReservationId": target}
        return cluster_template(queues=[queue])

    old, new = ({"templateBody": body(each)} for each in targets)
    return step("update", SLURM_CLUSTER, "pc-deployment", old=old, new=new)


@pytest.mark.parametrize(
    "steps",
    [
        (SAME, self_managed("delete", "p5")),
        (SAME, managed("replace", "p5")),
        (
            template("update", "p5", BLOCK, block=True, next_one=NEXT),
            self_managed("update", "p5"),
        ),
        (slurm(BLOCK, NEXT),),
        (slurm(BLOCK, None),),
    ],
)
def test_lost_nodes_are_found_unless_the_update_names_them(steps: tuple[PlannedStep, ...]) -> None:
    assert unannounced(update(*steps))
    named = Row(edit=EDIT, everything=steps, losses=losses(steps))
    assert unannounced(named) == set()
