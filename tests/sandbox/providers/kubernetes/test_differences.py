"""Changes that require a new object; the recordings of the provider cover the rest."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.sandbox.providers.kubernetes.differences import Kinds, changes, fixed_fields, pruned
from trainyard.sandbox.providers.kubernetes.kinds import Kind

DAEMON_SET = Kind("apps/v1", "DaemonSet", False)
REPLICA_SET = Kind("apps/v1", "ReplicaSet", False)
CONFIG_MAP = Kind("v1", "ConfigMap", False)
PATCH = Kind("v1", "ConfigMap", True)
CLAIM = Kind("v1", "PersistentVolumeClaim", False)
MUTABLE = frozenset({"ConfigMap"})


def test_changes_are_named_down_to_the_value_and_to_what_comes_or_goes_whole() -> None:
    before = {"a": {"b": [{"c": 1}, {"c": 2}], "x.y": 1}, "gone": {"d": 1}}
    after = {"a": {"b": [{"c": 1}, {"c": 3}, {"c": 4}], "x.y": 2}, "new": [1]}
    assert changes(before, after, ["a.b", "gone.d"]) == {
        "a.b[1].c": Kinds.UPDATE_REPLACE,
        "a.b[2]": Kinds.ADD_REPLACE,
        'a["x.y"]': Kinds.UPDATE,
        "gone": Kinds.DELETE,
        "new": Kinds.ADD,
    }


@pytest.mark.parametrize(
    ("kind", "mutable", "inputs", "field", "fixed"),
    [
        (DAEMON_SET, (), {}, "metadata.name", True),
        (DAEMON_SET, (), {}, "spec.selector", True),
        (DAEMON_SET, (), {}, "spec.template", False),
        (REPLICA_SET, (), {}, "spec.selector", False),
        (CONFIG_MAP, (), {}, "data", True),
        (CONFIG_MAP, (), {"immutable": False}, "data", True),
        (CONFIG_MAP, MUTABLE, {"immutable": False}, "data", False),
        (CONFIG_MAP, MUTABLE, {"immutable": True}, "data", True),
        (PATCH, (), {}, "data", False),
        (PATCH, (), {}, "metadata.namespace", True),
        (CLAIM, (), {}, "spec.volumeName", True),
        (CLAIM, (), {}, "spec.resources", False),
    ],
)
def test_only_what_the_provider_lists_replaces(
    kind: Kind, mutable: Any, inputs: dict[str, Any], field: str, fixed: bool
) -> None:
    assert (field in fixed_fields(kind, inputs, mutable)) == fixed


def test_a_refresh_takes_over_what_was_asked_for_only() -> None:
    wanted = {"a": {"b": "mine"}, "list": [{"x": 1}], "removed": 1}
    found = {"a": {"b": "changed", "other": "theirs"}, "list": [{"x": 1, "y": 2}, {}], "status": {}}
    assert pruned(found, wanted) == {"a": {"b": "changed"}, "list": [{"x": 1}]}
