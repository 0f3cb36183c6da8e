"""The report of an acceptance: what passed, with which program, and how long AWS took.

It can be checked (`trainyard.acceptance.report_check`): it has the hashes of the files beside it,
and what its verdict follows from.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from trainyard.acceptance import ANSWERS
from trainyard.acceptance.answers import merged
from trainyard.acceptance.provenance import programs_in, runs_in, sha256_of
from trainyard.acceptance.steps import Done, Record, log_of, rfc_3339
from trainyard.components import clock
from trainyard.components.secret_documents import hidden
from trainyard.pages.page import escaped, page, paragraph, section, table
from trainyard.progress.operation import short_type
from trainyard.sandboxes.client import latency_model
from trainyard.stack_files.files import write_whole

FORM = 2
"""Version of the form of `report.json`; the first one had no version."""
AWS, SANDBOX = "AWS", "sandbox"
SHAPES, OWN_FILE, CHANGED_FILE = "shapes.json", "stack.yaml", "changed.yaml"
FILES = (SHAPES, OWN_FILE, CHANGED_FILE)
"""Files beside the report that are evidence too: the shapes of answers, the stack file, and that of
the step `change`."""
NOT_SEEN = "not seen"
_ACCOUNT = re.compile(r"\b\d{12}\b")
_OF_ASSUMPTIONS = ("assumes", "verdict", "step", "evidence")
_CREATED = re.compile(
    r"^created (\S+) \S+ \((?:(\d+) h)? ?(?:(\d+) min)? ?(?:(\d+) s)?\)$", re.MULTILINE
)
_CONFIRMED = 2.0
"""A time is confirmed if it is between half of the assumed one and twice as long."""
_SHORTEST_SECONDS = 10.0
"""Assumed times below it are not compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedTime:
    """The time that a resource was assumed to take, and what it took."""

    type: str
    assumed_seconds: float
    seen_seconds: float

    @property
    def confirmed(self) -> bool:
        """Whether it took about as long as assumed."""
        ratio = self.seen_seconds / self.assumed_seconds
        return 1 / _CONFIRMED <= ratio <= _CONFIRMED


def compared_times(said: str) -> list[ComparedTime]:
    """Return the longest time of each type that `up` created, with the assumed one.

    Args:
        said: Output of `up` without a terminal.
    """
    assumed = {
        short_type(token): max(each.seconds.get("create", 0.0) for each in entries)
        for token, entries in latency_model().types.items()
    }
    seen: dict[str, float] = {}
    for type_, hours, minutes, seconds in _CREATED.findall(said):
        took = 3600 * int(hours or 0) + 60 * int(minutes or 0) + int(seconds or 0)
        seen[type_] = max(took, seen.get(type_, 0.0))
    return [
        ComparedTime(type=type_, assumed_seconds=assumed[type_], seen_seconds=took)
        for type_, took in sorted(seen.items())
        if assumed.get(type_, 0.0) >= _SHORTEST_SECONDS
    ]


def write_shapes(record: Record) -> None:
    """Write the shapes of AWS's answers; without space for them, there are none."""
    program = (runs_in(record.directory) or [{}])[-1].get("program") or {}
    commit = str(program.get("commit") or program.get("sha256") or "")
    with suppress(OSError):
        text = merged(record.directory / ANSWERS, sandbox=record.sandbox, commit=commit)
        write_whole(record.directory / SHAPES, text)


def report_of(
    record: Record,
    times: Sequence[ComparedTime],
    assumptions: Sequence[Mapping[str, str]] = (),
) -> dict[str, Any]:
    """Return the report, without secrets.

    Args:
        record: The results.
        times: What AWS took.
        assumptions: Verdicts about what the program assumes of AWS, with the fields of
            `trainyard.acceptance.assumptions.Verdict`.
    """
    runs = runs_in(record.directory)
    last = runs[-1] if runs else {}
    plan = last.get("plan", [])
    paths = [record.directory / name for name in FILES]
    report = hidden(
        {
            "form": FORM,
            "stack": record.stack,
            "account": SANDBOX if record.sandbox else AWS,
            "began": _utc(record),
            "ended": rfc_3339(clock.now()),
            "passed": record.passed and {*plan} <= {each.name for each in record.done},
            "region": last.get("region", ""),
            "instance_types": last.get("instance_types", []),
            **programs_in(record.directory),
            "runs": [
                {key: run.get(key) for key in ("began", "program", "stack_file")} for run in runs
            ],
            "plan": plan,
            "steps": [_step(record, each) for each in record.done],
            "files": [
                {"file": path.name, "sha256": sha256_of(path)} for path in paths if path.is_file()
            ],
            "times": [{**asdict(each), "confirmed": each.confirmed} for each in times],
            "assumptions": [
                {**each, "evidence": _ACCOUNT.sub("ACCOUNT", each["evidence"])}
                for each in assumptions
            ],
            "left_behind": record.left_behind,
        }
    )
    return {**report, "sha256": content_sha256(report)}


def content_sha256(report: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a report's values: its JSON with sorted keys, without this one."""
    content = {key: value for key, value in report.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _step(record: Record, done: Done) -> dict[str, Any]:
    log = record.directory / log_of(done.name)
    there = done.command and log.is_file()
    hashed = {"file": log.name, "sha256": sha256_of(log)} if there else None
    return {**asdict(done), "reason": _ACCOUNT.sub("ACCOUNT", done.reason), "log": hashed}


def as_json(report: Mapping[str, Any]) -> str:
    """Return a report as JSON."""
    return json.dumps(report, indent=2) + "\n"


def as_html(report: Mapping[str, Any]) -> str:
    """Return a report as a page that needs no other file."""
    where = "the sandbox: emulated AWS" if report["account"] == SANDBOX else "AWS"
    begun = f"Began {report['began']}, ended {report['ended']}."
    left = "".join(f"<li>{escaped(each)}</li>" for each in report["left_behind"])
    seen = [
        (
            each["type"],
            "confirmed" if each["confirmed"] else "contradicted",
            f"{each['assumed_seconds']:g} s",
            f"{each['seen_seconds']:g} s",
        )
        for each in report["times"]
    ]
    judged = [tuple(each[key] for key in _OF_ASSUMPTIONS) for each in report["assumptions"]]
    header = ("Assumption", "Result", "Step", "Evidence")
    verdicts = _results(header, judged) if judged else ""
    steps = [
        (each["name"], each["result"], f"{each['seconds']:g} s", each["reason"], each["command"])
        for each in report["steps"]
    ]
    return page(
        f"Acceptance of {report['stack']} on {where}",
        paragraph("Accepted." if report["passed"] else "Not accepted."),
        paragraph(begun),
        _results(("Step", "Result", "Time", "Reason", "Command"), steps),
        section("What AWS was assumed to do", verdicts),
        section(
            "Assumed and seen times", _results(("Resource type", "Result", "Assumed", "Seen"), seen)
        ),
        section("Left behind", f"<ul>{left or '<li>nothing</li>'}</ul>"),
        section("Made with", table(("What", "Value"), [*_made_with(report)])),
        section("Files", table(("File", "SHA-256"), [*_files(report)])),
    )


def _made_with(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "region", report["region"]
    yield "instance types", ", ".join(report["instance_types"])
    yield "Pulumi", report["engine"] or "not known"
    for each in report["plugins"]:
        yield f"plugin {each['name']}", each["version"]
    for run in report["runs"]:
        stack_file = run["stack_file"] or {}
        facts = {**(run["program"] or {}), stack_file.get("name", ""): stack_file.get("sha256")}
        for name, value in facts.items():
            yield f"run of {run['began']}: {name}", str(value or "not known")


def _files(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    logs = [each["log"] for each in report["steps"] if each["log"]]
    for each in (*logs, *report["files"]):
        yield each["file"], each["sha256"] or "not known"


def _results(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    kinds = ["skipped" if row[1] == NOT_SEEN else row[1] for row in rows]
    return table(header, rows, results=kinds)


def _utc(record: Record) -> str:
    return rfc_3339(datetime.fromisoformat(record.began))
