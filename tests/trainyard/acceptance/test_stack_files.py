"""The stack files of an acceptance: what they add, and what they change."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from trainyard.acceptance.stack_files import accepted_content, changed_content
from trainyard.schedulers.registry import SCHEDULERS, scheduler_class
from trainyard.stack_files.stack_config import plan_of
from trainyard.stack_files.stack_files import CLUSTER_KEY, StackFile, find_stack_file


def accepted(stack: str) -> StackFile:
    found = find_stack_file(stack)
    content = accepted_content(found.content, scheduler_class(found))
    return dataclasses.replace(found, content=content)


def differing(one: Any, other: Any, path: str = "") -> Iterator[str]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in one.keys() | other.keys():
            yield from differing(one.get(key), other.get(key), f"{path}.{key}".lstrip("."))
    elif one is None and isinstance(other, Mapping):
        yield from differing({}, other, path)
    elif one != other:
        yield path


def test_a_stack_without_storage_gets_a_file_system_that_is_deleted_with_it() -> None:
    plan: Any = plan_of(accepted("dev"))
    (file_system,) = plan.file_systems
    assert file_system.claim.name == "acceptance"
    stored = accepted("dev").cluster["storage"]["acceptance"]
    assert stored["deletion_protection"] is False
    assert accepted("dev").cluster["monitoring"]["node_metrics"] == "cloudwatch"


def test_what_the_user_has_stays() -> None:
    found = find_stack_file("pc-gpu")
    storage = accepted("pc-gpu").cluster["storage"]
    assert storage == found.cluster["storage"]
    content = dict(found.content)
    content["config"][CLUSTER_KEY]["monitoring"] = {"dashboard": False}
    kept = accepted_content(content, SCHEDULERS["parallelcluster"])["config"][CLUSTER_KEY]
    assert kept["monitoring"] == {"dashboard": False}


def test_the_file_of_the_user_is_not_changed() -> None:
    before = find_stack_file("dev").content
    found = find_stack_file("dev")
    accepted_content(found.content, SCHEDULERS["eks"])
    changed_content(found.content, SCHEDULERS["eks"])
    assert found.content == before


@pytest.mark.parametrize(
    ("stack", "changes"),
    [
        ("dev", "architecture.system_node_group.maximum"),
        ("p5-cb", "architecture.system_node_group.maximum"),
        ("pc-trn1", "architecture.monitoring.dashboard"),
        ("batch-p5", "architecture.job_definitions.nccl-tests.timeout_minutes"),
        ("vpc-one-az", "tags.Acceptance"),
    ],
)
def test_one_key_changes(stack: str, changes: str) -> None:
    found = find_stack_file(stack)
    scheduler = scheduler_class(found)
    content = accepted_content(found.content, scheduler)
    changed, named = changed_content(content, scheduler)
    assert changes.startswith(named)
    clusters = (each["config"][CLUSTER_KEY] for each in (content, changed))
    assert [*differing(*clusters)] in ([changes], [named])
