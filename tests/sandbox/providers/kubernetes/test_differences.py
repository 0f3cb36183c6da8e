"""What of a change means a new object."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.providers.kubernetes.differences import as_found, changed_paths, replacing
from sandbox.providers.kubernetes.kinds import Kind

DAEMON_SET = Kind("apps/v1", "DaemonSet", False)
CONFIG_MAP = Kind("v1", "ConfigMap", False)
CLAIM = Kind("v1", "PersistentVolumeClaim", False)


def test_changes_are_named_down_to_the_value() -> None:
    before = {"a": {"b": [{"c": 1}, {"c": 2}]}, "gone": 1}
    after = {"a": {"b": [{"c": 1}, {"c": 3}]}, "new": [1]}
    assert list(changed_paths(before, after)) == ["a.b[1].c", "gone", "new"]


@pytest.mark.parametrize(
    ("kind", "inputs", "path", "replaces"),
    [
        (DAEMON_SET, {}, "metadata.name", True),
        (DAEMON_SET, {}, "metadata.namespace", True),
        (DAEMON_SET, {}, "metadata.labels.a", False),
        (DAEMON_SET, {}, "spec.selector.matchLabels.name", True),
        (DAEMON_SET, {}, "spec.template.spec.containers[0].image", False),
        (CONFIG_MAP, {}, "data.a", True),
        (CONFIG_MAP, {"immutable": True}, "data.a", True),
        (CONFIG_MAP, {"immutable": False}, "data.a", False),
        (CLAIM, {}, "spec.volumeName", True),
        (CLAIM, {}, "spec.resources.requests.storage", False),
    ],
)
def test_only_what_the_api_fixes_replaces(
    kind: Kind, inputs: dict[str, Any], path: str, replaces: bool
) -> None:
    assert replacing(kind, inputs, [path]) == ([path] if replaces else [])


def test_a_refresh_takes_over_what_was_asked_for_only() -> None:
    wanted = {"a": {"b": "mine"}, "list": [{"x": 1}], "removed": 1}
    found = {"a": {"b": "changed", "other": "theirs"}, "list": [{"x": 1, "y": 2}], "status": {}}
    assert as_found(wanted, found) == {"a": {"b": "changed"}, "list": [{"x": 1}]}
