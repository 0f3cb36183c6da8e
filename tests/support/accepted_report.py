"""The report of an acceptance that passed, with the files beside it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from trainyard.acceptance import ANSWERS
from trainyard.acceptance.plan import Accepted, steps_of
from trainyard.acceptance.provenance import begin_run
from trainyard.acceptance.report import (
    CHANGED_FILE,
    NOT_SEEN,
    OWN_FILE,
    ComparedTime,
    as_json,
    report_of,
    write_shapes,
)
from trainyard.acceptance.steps import REMAINS, Done, Record, log_of
from trainyard.components import clock
from trainyard.schedulers.registry import SCHEDULERS
from trainyard.stack_files.stack_files import find_stack_file

VERDICT = {"id": "a", "assumes": "b", "step": "up", "verdict": "confirmed", "evidence": "c"}
ANSWER = {"operation": "eks.ListClusters", "aws": True, "year": 2026}
SEEN = [["", "", 1, {"clusters": {"have": 1, "types": ["list"], "patterns": {}, "values": []}}]]


def accepted(directory: Path) -> Accepted:
    """Return the acceptance of an EKS stack without a training."""
    return Accepted(
        stack="dev",
        scheduler=SCHEDULERS["eks"],
        file=directory / OWN_FILE,
        changed=directory / CHANGED_FILE,
        changes="tags",
        directory=directory,
        test=("verify",),
    )


def make(directory: Path, *, sandbox: bool = False, of_aws: bool = True) -> Path:
    """Write the report of an acceptance that passed, with all that lies beside it."""
    began = clock.now() - timedelta(hours=1)
    record = Record(directory=directory, stack="dev", sandbox=sandbox, began=began.isoformat())
    own, changed = (directory / name for name in (OWN_FILE, CHANGED_FILE))
    steps = steps_of(accepted(directory))
    for path in (own, changed):
        path.write_text("config: {}\n", encoding="utf-8")
    begin_run(directory, replace(find_stack_file("dev"), path=own), steps)
    time = began
    for step in steps:
        (directory / log_of(step.name)).write_text(f"{step.name}\n", encoding="utf-8")
        done = Done(name=step.name, result="pass", seconds=60.2, reason="")
        record.add(done.timed(time, f"./trainyard {step.arguments[0]} dev"))
        time += timedelta(seconds=61)
    record.add(Done(name=REMAINS, result="pass", seconds=3.0, reason="").timed(time))
    (directory / ANSWERS).mkdir()
    line = json.dumps({**ANSWER, "aws": of_aws, "seen": SEEN})
    (directory / ANSWERS / "1.jsonl").write_text(line, encoding="utf-8")
    write_shapes(record)
    compared = [ComparedTime(type="aws:eks:Cluster", assumed_seconds=600, seen_seconds=590)]
    verdict = {**VERDICT, "verdict": NOT_SEEN} if sandbox else VERDICT
    path = directory / "report.json"
    path.write_text(as_json(report_of(record, compared, [verdict])), encoding="utf-8")
    return path
