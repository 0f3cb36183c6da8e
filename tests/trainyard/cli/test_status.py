"""`status` adds the last update and the queued jobs to the panel of `up`."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from trainyard.cli.closing_panel import Summary
from trainyard.commands.deployment.status import last_update
from trainyard.deployment.network_summary import print_summary
from trainyard.schedulers.batch.summary import disabled_in, jobs_in
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import target_of


class Batch:
    """Answers `ListJobs` for one queue, in pages."""

    def __init__(self, **jobs: list[int]) -> None:
        self._pages = jobs

    def get_paginator(self, operation: str) -> Batch:
        assert operation == "list_jobs"
        return self

    def paginate(self, *, jobQueue: str, jobStatus: str) -> Iterator[dict[str, Any]]:  # noqa: N803
        assert jobQueue == "training"
        for count in self._pages.get(jobStatus, [0]):
            yield {"jobSummaryList": [{}] * count}


def test_jobs_are_counted_over_all_pages_by_state() -> None:
    assert jobs_in(Batch(RUNNING=[100, 2], RUNNABLE=[3]), "training") == "3 RUNNABLE, 102 RUNNING"


def test_a_queue_without_jobs_has_none() -> None:
    assert jobs_in(Batch(), "training") == "none"


def test_disabled_compute_environments_are_named() -> None:
    states = {"b-p5-1": "DISABLED", "b-p5-next-1": "ENABLED"}

    def describe(*, computeEnvironments: list[str]) -> dict[str, Any]:  # noqa: N803
        found = [{"computeEnvironmentName": e, "state": states[e]} for e in computeEnvironments]
        return {"computeEnvironments": found}

    batch = SimpleNamespace(describe_compute_environments=describe)
    assert [*disabled_in(batch, [*states])] == ["b-p5-1"]


def test_environments_of_other_stacks_are_not_asked_for() -> None:
    """Batch describes all environments if the request names none."""
    assert [*disabled_in(SimpleNamespace(), [])] == []


def test_the_last_update_is_the_newest_of_the_history() -> None:
    newest = {"kind": "update", "result": "failed", "endTime": "2026-11-23T16:49:40.000Z"}
    assert [*last_update([newest, {"kind": "destroy"}])] == [
        ("last update", "update failed, 2026-11-23 16:49 UTC")
    ]
    running = {"kind": "update", "result": "in-progress", "startTime": "2026-11-23T16:49:40.000Z"}
    assert [*last_update([running])] == [
        ("last update", "update in-progress, began 2026-11-23 16:49 UTC")
    ]
    assert [*last_update([])] == []


def test_the_panel_has_the_facts_and_no_count_of_changes(capsys) -> None:
    outputs = {
        "vpc_id": "vpc-1",
        "cidrs": ["10.0.0.0/16"],
        "availability_zones": [],
        "public_subnet_ids": [],
        "private_subnet_ids": [],
        "security_group_ids": {},
    }
    facts = (("last update", "update succeeded"),)
    target = target_of(find_stack_file("vpc-one-az"), sandbox=True)
    print_summary(Summary(target, outputs, None, facts))
    said = capsys.readouterr().out
    assert "update succeeded" in said
    assert "Resources:" not in said
    assert "./trainyard destroy vpc-one-az --sandbox --yes" in said
