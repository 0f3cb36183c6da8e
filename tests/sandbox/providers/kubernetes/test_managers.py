"""The managers that own the fields of an object."""

from __future__ import annotations

from typing import Any

from trainyard.sandbox.providers.kubernetes.managers import (
    creates_by_update,
    is_of_others,
    taken_over,
)


def entry(manager: str, operation: str, *fields: str, **more: Any) -> dict[str, Any]:
    owned: dict[str, Any] = {"f:data": {f"f:{field}": {} for field in fields}}
    return {"manager": manager, "operation": operation, "fieldsV1": owned, **more}


CREATED = entry("pulumi-kubernetes", "Update", "a")
STATUS = entry("pulumi-kubernetes", "Update", "s", subresource="status")
THEIRS = entry("somebody", "Apply", "b")


def test_the_first_update_takes_over_what_was_made() -> None:
    assert taken_over([CREATED, THEIRS, STATUS], "ours") == [
        THEIRS,
        STATUS,
        entry("ours", "Apply", "a"),
    ]


def test_fields_that_are_owned_already_stay_owned() -> None:
    taken = taken_over([entry("ours", "Apply", "c"), CREATED], "ours")
    assert taken is not None
    assert taken[0]["fieldsV1"] == {"f:data": {"f:c": {}, "f:a": {}}}


def test_there_is_nothing_to_take_over_from_others() -> None:
    assert taken_over([THEIRS, entry("ours", "Apply", "a")], "ours") is None
    assert creates_by_update([CREATED])
    assert not creates_by_update([THEIRS])


def test_a_field_is_of_others_where_we_do_not_own_it() -> None:
    both = [THEIRS, entry("ours", "Apply", "a", "b")]
    assert is_of_others([THEIRS], "ours", ["data", "b"])
    assert not is_of_others(both, "ours", ["data", "b"])
    assert not is_of_others(both, "ours", ["data", "none"])
