"""The faults of workloads: which containers and devices an entry hits, and what they do then."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from trainyard.sandbox.faults.kinds import StartedContainer, course_of, unhealthy_devices
from trainyard.sandbox.faults.schedule import (
    FaultScheduleError,
    InForce,
    parse_schedule,
    read_schedule,
)

GPU = "nvidia.com/gpu"


def in_force(*entries: dict[str, Any], directory: Path | None = None) -> InForce:
    faults = InForce()
    faults.use(parse_schedule(list(entries), directory))
    return faults


def started(job: str = "train", index: int = 0, **labels: str) -> StartedContainer:
    return StartedContainer(job=job, index=index, labels=labels)


def exit_codes(faults: InForce, *containers: StartedContainer) -> list[int | None]:
    """Return the exit codes of containers that start one after the other; None if none is set."""
    courses = [course_of(faults, each) for each in containers]
    return [each.exit_code if each else None for each in courses]


def test_a_container_that_the_schedule_does_not_name_has_no_course() -> None:
    assert course_of(in_force(), started()) is None
    faults = in_force({"happens": "container-fails", "job": "train", "index": 1})
    assert exit_codes(faults, started(index=0), started(job="other", index=1)) == [None, None]


def test_a_container_is_chosen_by_job_index_labels_and_number_of_starts() -> None:
    faults = in_force(
        {
            "happens": "container-fails",
            "job": "train*",
            "index": 1,
            "labels": {"team": "a"},
            "nth": 2,
            "times": 2,
            "exit_code": 9,
        }
    )
    mine = started("train-x", 1, team="a", other="b")
    starts = [mine, started("train-x", 1, team="b"), mine, started("train-x", 0, team="a")]
    assert exit_codes(faults, *starts, mine, mine) == [None, None, 9, None, 9, None]
    (entry,) = faults.described()
    assert (entry["matched"], entry["happened"]) == (4, 2)


def test_a_batch_job_is_chosen_without_its_suffix() -> None:
    faults = in_force({"happens": "container-fails", "job": "train", "times": "always"})
    assert exit_codes(faults, started("train-1a2b3c4d"), started("train-more")) == [1, None]


def test_a_container_does_what_its_entry_says(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("step 1\nstep 2\n", encoding="utf-8")
    (tmp_path / "stop.log").write_text("checkpoint\n", encoding="utf-8")
    logs = {"log": "run.log", "stop_log": "stop.log", "stop_seconds": 4}
    course = course_of(
        in_force(
            {"happens": "container-hangs", "job": "train", **logs},
            directory=tmp_path,
        ),
        started(),
    )
    assert course is not None
    assert (course.lines, course.stop_lines) == (("step 1", "step 2"), ("checkpoint",))
    assert (course.ends_after, course.stops_after) == (None, timedelta(seconds=4))
    lost = course_of(
        in_force({"happens": "node-lost", "job": "train", "after_seconds": 3}), started()
    )
    assert lost is not None
    assert (lost.ends_after, lost.node_lost_after) == (None, timedelta(seconds=3))


def test_a_schedule_in_force_shows_the_path_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.touch()
    faults = in_force(
        {"happens": "container-succeeds", "job": "train", "log": "run.log"}, directory=tmp_path
    )
    assert faults.described()[0]["log"] == str(log)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{happens: container-fails}", "container-fails needs `job`"),
        ("{happens: container-hangs, job: x, exit_code: 1}", "container-hangs has no such key"),
        ("{happens: container-hangs, job: x, after_seconds: 1}", "container-hangs has no such key"),
        ("{happens: container-fails, job: x, exit_code: 0}", "[0].exit_code: "),
        ("{happens: container-fails, job: x, log: none.log}", "none.log cannot be read: No such"),
        ("{happens: container-fails, job: x, log: 3}", "[0].log: Value error, is the path of"),
        ("{happens: container-fails, job: x, call: 'ec2:*'}", "container-fails has no such key"),
        ("{happens: device-lost, node_group: p5, resource: gpu}", "[0].resource: "),
        ("{happens: device-lost, node_group: p5}", "device-lost needs `resource`"),
    ],
)
def test_what_cannot_be_is_refused(text: str, said: str) -> None:
    with pytest.raises(FaultScheduleError) as caught:
        read_schedule(f"- {text}")
    assert said in str(caught.value)


def test_one_node_of_a_group_loses_devices_and_its_replacement_has_all() -> None:
    faults = in_force(
        {"happens": "device-lost", "node_group": "p5", "resource": GPU, "devices": 2, "nth": 2}
    )

    def lost(node: str, group: str = "p5-cb-p5-nodes-0c5d1e2") -> dict[str, int]:
        return unhealthy_devices(faults, node, [group], {GPU: 8})

    for _ in range(2):  # a node keeps its state
        assert [lost(node) for node in ("i-1", "i-2", "i-3")] == [{}, {GPU: 2}, {}]
    assert lost("i-4", "p5-cb-system-nodes-0c5d1e2") == {}
    assert unhealthy_devices(faults, "i-5", ["p5"], {GPU: 0}) == {}
    assert faults.described()[0]["happened"] == 1
