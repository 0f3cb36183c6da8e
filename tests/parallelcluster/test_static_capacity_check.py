"""A new cluster whose static nodes do not fit into the free part of their reservation."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.account import (
    account,
    configured,
    odcr,
    prepared,
)
from tests.support.parallelcluster import RAW_P4DE
from tests.support.sandbox_aws import BLOCK, Account, p5_block, use_account
from tests.support.stack_files import RESERVATION, raw_config
from trainyard.components.architectures.lookup import look_up
from trainyard.components.config.problems import ROOT, ConfigError, Problem
from trainyard.sandbox.aws.server import AwsServer

CLUSTER = RAW_P4DE["name"]
OWNED = [{"ResourceType": "instance", "Tags": [{"Key": "trainyard:cluster", "Value": "team-a"}]}]


def refused(
    available: int | None, *holders: str, minimum: int = 4, readable: bool = True, **facts: Any
) -> list[Problem]:
    """Return the problems with a reservation of four instances, some of them available."""
    found = odcr(available_count=available)
    held = {name: (f"i-{index}",) for index, name in enumerate(holders)}
    raw = raw_config(RAW_P4DE)
    for nodes in raw["architecture"]["queues"]["compute-gpu"]["compute_resources"].values():
        nodes["minimum"] = minimum
    known = account(
        reservations={RESERVATION: found},
        reservation_holders={RESERVATION: held} if readable else {},
        **facts,
    )
    try:
        prepared(raw, known)
    except ConfigError as error:
        return list(error.problems)
    return []


def test_static_nodes_that_cannot_launch_are_refused_with_the_holders() -> None:
    (problem,) = refused(1, "team-a", "team-b")
    assert problem.path.startswith(f"{ROOT}.reservations.")
    assert problem.found == (
        f"{RESERVATION}: 1 used by team-a, 1 used by team-b, 1 by instances in other accounts"
    )
    assert "1 of 4 instances are available, and the new cluster has 4 static nodes" in (
        problem.problem
    )
    assert ".minimum' 1" in problem.remedy


@pytest.mark.parametrize(
    ("available", "minimum"),
    [(4, 4), (1, 1), (0, 0), (None, 4)],
    ids=["all are free", "enough are free", "no static nodes", "EC2 does not say"],
)
def test_what_can_launch_is_not_refused(available: int | None, minimum: int) -> None:
    assert refused(available, minimum=minimum) == []


def test_the_instances_of_the_cluster_itself_are_its_own() -> None:
    assert refused(3, CLUSTER) == []


def test_a_deployed_cluster_holds_its_reservation_itself() -> None:
    found = refused(0, deployed_cluster={"Scheduling": {"SlurmQueues": []}})
    assert not [each for each in found if "ParallelCluster waits for them" in each.problem]


def test_holders_that_cannot_be_read_are_not_guessed() -> None:
    (problem,) = refused(1, readable=False)
    assert problem.found == f"{RESERVATION}: 3 used"


def test_the_holders_of_a_full_reservation_are_read_by_cluster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = raw_config(RAW_P4DE)
    (entry,) = raw["reservations"].values()
    entry["reservation_id"] = BLOCK
    with AwsServer(keep_time=False) as server:
        use_account(monkeypatch, server.access)
        held = Account(server)
        template = held.template("p5", **p5_block(held.group()), TagSpecifications=OWNED)
        made = held.autoscaling_group("p5", template, DesiredCapacity=2)
        found = look_up(configured(raw), region="us-west-2").reservation_holders
    assert {name: {*ids} for name, ids in found[BLOCK].items()} == {
        "team-a": {each["InstanceId"] for each in made["Instances"]}
    }
