"""The state after a kill, and the state with the recovered objects."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.workspace.recovery.operations import (
    PendingCreate,
    TakenUp,
    changes_begun,
    deletions_begun,
    is_pending,
    pending_creates,
    read_by,
    taken_up,
    written_at,
)

VPC = "urn:pulumi:p5::trainyard::trainyard:network:Vpc$aws:ec2/vpc:Vpc::p5-vpc"
GROUP = "urn:pulumi:p5::trainyard::aws:ec2/securityGroup:SecurityGroup::p5-group"
PROVIDER = "urn:pulumi:p5::trainyard::pulumi:providers:aws::default"


def resource(urn: str, **more: Any) -> dict[str, Any]:
    """Return a resource as the engine exports it."""
    token = urn.split("::")[2].rpartition("$")[2]
    return {
        "urn": urn,
        "custom": True,
        "type": token,
        "inputs": {"cidrBlock": "10.0.0.0/16"},
    } | more


def state(*operations: tuple[str, dict[str, Any]], resources: Any = ()) -> dict[str, Any]:
    """Return an exported stack."""
    pending = [{"type": kind, "resource": each} for kind, each in operations]
    inner = {"resources": list(resources), "pending_operations": pending}
    return {"version": 3, "deployment": inner}


def test_a_create_knows_what_it_is_of() -> None:
    (create,) = pending_creates(state(("creating", resource(VPC))))
    assert (create.stack, create.project) == ("p5", "trainyard")
    assert (create.type_token, create.name) == ("aws:ec2/vpc:Vpc", "p5-vpc")
    assert create.inputs == {"cidrBlock": "10.0.0.0/16"}


def test_a_create_that_stands_there_twice_is_one() -> None:
    """The engine keeps an old pending operation when the same operation begins again."""
    twice = state(("creating", resource(VPC)), ("creating", resource(VPC)))
    assert len(pending_creates(twice)) == 1


def test_a_create_knows_what_it_is_to_replace() -> None:
    old = resource(VPC, id="vpc-old")
    (create,) = pending_creates(state(("creating", resource(VPC)), resources=[old]))
    assert create.known_ids == {"vpc-old"}


def test_updates_and_deletions_made_nothing() -> None:
    begun = state(("updating", resource(VPC)), ("deleting", resource(GROUP)))
    assert pending_creates(begun) == []
    assert changes_begun(begun) == [VPC, GROUP]


@pytest.mark.parametrize("empty", [{"version": 3, "deployment": {}}, {"version": 3}, state()])
def test_a_stack_with_nothing_begun_is_left_alone(empty: dict[str, Any]) -> None:
    assert not is_pending(empty)
    assert pending_creates(empty) == []
    assert written_at(empty) is None


def test_what_exists_is_a_resource_that_the_engine_reads_first() -> None:
    created = resource(VPC, inputs={"cidrBlock": "10.0.0.0/16", "__defaults": ["x"]})
    (made,) = taken_up(state(("creating", created)), [TakenUp(VPC, "vpc-1")])["deployment"][
        "resources"
    ]
    assert made["id"] == "vpc-1"
    assert made["refreshBeforeUpdate"] is True
    assert made["outputs"] == {"cidrBlock": "10.0.0.0/16"}
    assert made["inputs"] == created["inputs"]
    assert "taint" not in made


def test_a_type_on_the_plugin_framework_is_read_by_id_and_version_of_its_schema() -> None:
    outputs = read_by("aws:batch/jobQueue:JobQueue", {"name": "q"}, "arn:q")
    assert outputs == {"name": "q", "id": "arn:q", "__meta": '{"schema_version": "2"}'}


def test_what_does_not_exist_leaves_no_trace() -> None:
    edited = taken_up(state(("creating", resource(VPC))), [])
    assert edited == {"version": 3, "deployment": {"resources": []}}


def test_what_failed_is_replaced_even_where_it_is_protected() -> None:
    """The failed object is deleted afterwards, and the engine does not delete retained ones."""
    created = resource(VPC, protect=True, retainOnDelete=True)
    edited = taken_up(state(("creating", created)), [TakenUp(VPC, "vpc-1", replace=True)])
    (made,) = edited["deployment"]["resources"]
    assert (made["taint"], made["protect"], made["retainOnDelete"]) == (True, False, False)


def test_what_came_to_be_keeps_its_protection() -> None:
    created = resource(VPC, protect=True, retainOnDelete=True)
    edited = taken_up(state(("creating", created)), [TakenUp(VPC, "vpc-1")])
    (made,) = edited["deployment"]["resources"]
    assert (made["protect"], made["retainOnDelete"]) == (True, True)


def test_what_was_to_be_replaced_is_deleted_when_its_successor_exists() -> None:
    before = state(("creating", resource(VPC)), resources=[resource(VPC, id="vpc-old")])
    old, new = taken_up(before, [TakenUp(VPC, "vpc-new")])["deployment"]["resources"]
    assert (old["id"], old["delete"]) == ("vpc-old", True)
    assert (new["id"], new.get("delete")) == ("vpc-new", None)
    assert "delete" not in before["deployment"]["resources"][0]


def test_what_was_deleted_before_its_successor_came_is_gone() -> None:
    old = resource(VPC, id="vpc-old", pendingReplacement=True)
    edited = taken_up(state(("creating", resource(VPC)), resources=[old]), [TakenUp(VPC, "vpc-1")])
    assert [each["id"] for each in edited["deployment"]["resources"]] == ["vpc-1"]


def test_what_was_being_changed_is_read_anew_and_providers_are_not() -> None:
    resources = [resource(PROVIDER, id="x"), resource(VPC, id="vpc-1"), resource(GROUP, id="sg-1")]
    begun = state(("updating", resources[0]), ("updating", resources[1]), resources=resources)
    edited = taken_up(begun, [])["deployment"]["resources"]
    assert [each.get("refreshBeforeUpdate", False) for each in edited] == [False, True, False]


def test_what_is_gone_leaves_the_state_and_nothing_depends_on_it_any_more() -> None:
    needs = {
        "dependencies": [GROUP, PROVIDER],
        "propertyDependencies": {"groups": [GROUP], "tags": None},
        "deletedWith": GROUP,
    }
    gone, kept = resource(GROUP, id="sg-1"), resource(VPC, id="vpc-1", **needs)
    begun = state(("deleting", gone), resources=[gone, kept])
    assert deletions_begun(begun) == [(GROUP, "sg-1")]
    (left,) = taken_up(begun, [], {(GROUP, "sg-1")})["deployment"]["resources"]
    assert left == {
        **resource(VPC, id="vpc-1"),
        "dependencies": [PROVIDER],
        "propertyDependencies": {"groups": [], "tags": []},
    }


def test_the_successor_of_what_is_gone_keeps_its_dependents() -> None:
    new, old = resource(GROUP, id="sg-2"), resource(GROUP, id="sg-1", delete=True)
    needing = resource(VPC, id="vpc-1", dependencies=[GROUP])
    begun = state(("deleting", old), resources=[new, needing, old])
    edited = taken_up(begun, [], {(GROUP, "sg-1")})["deployment"]["resources"]
    assert [each["id"] for each in edited] == ["sg-2", "vpc-1"]
    assert edited[1]["dependencies"] == [GROUP]


def test_the_last_write_is_the_state_s_own() -> None:
    told = {"version": 3, "deployment": {"manifest": {"time": "2026-11-21T10:00:00.5Z"}}}
    found = written_at(told)
    assert found is not None
    assert found.isoformat() == "2026-11-21T10:00:00.500000+00:00"
    assert written_at({"deployment": {"manifest": {"time": "soon"}}}) is None


def test_a_component_is_no_object_of_the_account() -> None:
    component = {"urn": VPC, "type": "trainyard:network:Vpc"}
    assert pending_creates(state(("creating", component))) == [PendingCreate(VPC, {}, custom=False)]
