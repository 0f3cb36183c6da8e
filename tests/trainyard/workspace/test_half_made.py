"""Incomplete objects are read again, and created again if AWS has abandoned them."""

from __future__ import annotations

from typing import Any

from trainyard.workspace.recovery.recover import half_made, read_anew

PREFIX = "urn:pulumi:p5-cb::trainyard::"
CLUSTER = f"{PREFIX}aws:eks/cluster:Cluster::p5-cb-eks"
GROUP = f"{PREFIX}aws:eks/nodeGroup:NodeGroup::p5-cb-p5-node-group"
ROLE = f"{PREFIX}aws:iam/role:Role::p5-cb-role"


def resource(urn: str, **more: Any) -> dict[str, Any]:
    return {"urn": urn, "custom": True, "id": "x", "inputs": {"name": "n"}, **more}


def state(*resources: dict[str, Any]) -> dict[str, Any]:
    return {"version": 3, "deployment": {"resources": list(resources)}}


UNFINISHED = {"initErrors": ["DescribeCluster: ExpiredTokenException"]}


def test_only_what_has_an_id_and_was_not_finished_is_half_made() -> None:
    deployment = state(
        resource(CLUSTER, **UNFINISHED),
        resource(ROLE),
        {**resource(GROUP, **UNFINISHED), "id": ""},
    )
    (half,) = half_made(deployment)
    assert (half.urn, half.inputs, half.type_token) == (
        CLUSTER,
        {"name": "n"},
        "aws:eks/cluster:Cluster",
    )


def test_it_is_read_before_it_is_compared_and_what_failed_is_made_anew() -> None:
    """Nothing else in the state changes."""
    deployment = state(
        resource(CLUSTER, **UNFINISHED), resource(GROUP, **UNFINISHED), resource(ROLE)
    )
    edited = read_anew(deployment, failed=[GROUP])
    cluster, group, role = edited["deployment"]["resources"]
    assert (cluster["refreshBeforeUpdate"], "taint" in cluster) == (True, False)
    assert (group["refreshBeforeUpdate"], group["taint"]) == (True, True)
    assert role == resource(ROLE)
    assert "refreshBeforeUpdate" not in deployment["deployment"]["resources"][0]


def test_what_failed_goes_with_its_successor_and_stays_protected_until_then() -> None:
    """The engine leaves retained objects in the account, where no state refers to them."""
    kept = resource(GROUP, **UNFINISHED, protect=True, retainOnDelete=True)
    (group,) = read_anew(state(kept), failed=[GROUP])["deployment"]["resources"]
    assert (group["protect"], group["retainOnDelete"]) == (True, False)
    (group,) = read_anew(state(kept), failed=[])["deployment"]["resources"]
    assert (group["protect"], group["retainOnDelete"]) == (True, True)


def test_a_state_without_resources_has_nothing_half_made() -> None:
    assert half_made({"version": 3}) == []
    assert half_made({"version": 3, "deployment": {}}) == []
