"""Checks the report of an acceptance: its form, the files beside it, and what follows from it.

A report is a text that anybody can have written. The check shows that it was not changed after the
acceptance by mistake or in a part; it does not show who wrote it.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from trainyard.acceptance.answers import EMULATOR, RECORDINGS
from trainyard.acceptance.provenance import LOCK, program_facts, sha256_of
from trainyard.acceptance.report import (
    AWS,
    FILES,
    FORM,
    NOT_SEEN,
    SANDBOX,
    SHAPES,
    ComparedTime,
    content_sha256,
)
from trainyard.acceptance.shapes import table_of
from trainyard.acceptance.steps import REMAINS, log_of
from trainyard.stack_files.files import file_bytes

MOST_BYTES = 16 << 20
"""Size of the largest report, and of the largest file with shapes."""
ALWAYS = ("check", "up", "up again", "refresh", "change", "diagnose", "destroy")
"""Steps that every acceptance has."""
_CLOCK_SECONDS = 5.0
"""How much a clock can have been set meanwhile."""
_ROUNDED_SECONDS = 0.1
_MOST_PROBLEMS = 100
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_SHOWN_CHARACTERS = 60
_MOST_SECONDS = 1e9
_NAME_ONE = "name the report.json of an acceptance"


@dataclass(frozen=True, slots=True)
class Checked:
    """What the check of a report has found."""

    stack: str = ""
    account: str = ""
    """`AWS` or `sandbox`; empty if the report does not say it."""
    passed: bool = False
    """What the report says of the acceptance."""
    problems: list[str] = field(default_factory=list[str])
    """What contradicts the report."""
    not_checked: list[str] = field(default_factory=list[str])
    """What could not be compared."""
    notes: list[str] = field(default_factory=list[str])
    """What is different here without contradicting the report."""

    @property
    def holds(self) -> bool:
        """Whether all of it was checked, and nothing contradicts it."""
        return not self.problems and not self.not_checked


class _UnreadableError(Exception):
    """A file is none that can be checked; the message says why."""


Facts = Callable[[], Mapping[str, Any]]


def checked_report(path: Path, *, facts: Facts = program_facts) -> Checked:
    """Check a report and the files in its directory.

    Args:
        path: The `report.json`.
        facts: Returns the facts of the program that it is compared with.
    """
    try:
        report = _read(path)
    except _UnreadableError as error:
        return Checked(problems=[str(error)])
    form = list(itertools.islice(_form("", report, _REPORT), _MOST_PROBLEMS))
    if form:
        return Checked(problems=form)
    found = Checked(report["stack"], report["account"], report["passed"])
    if report["sha256"] != content_sha256(report):
        found.problems.append("it was changed: its SHA-256 is not that of its values")
    for check in (_verdict, _times, _order, _judged):
        found.problems.extend(check(report))
    _files(report, path.parent, found)
    _shapes(report, path.parent, found)
    _program(report, facts(), found)
    return found


def _read(path: Path) -> Any:
    text = _text(path, path.name)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        twice = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
        if twice:
            raise _UnreadableError(f"{path.name} has the key {_shown(twice[0])} twice")
        return dict(pairs)

    def refused(constant: str) -> Any:
        raise _UnreadableError(f"{path.name} has {constant}, which is not JSON")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=refused)
    except RecursionError as error:
        raise _UnreadableError(f"{path.name} is nested too deeply for a report") from error
    except ValueError as error:
        raise _UnreadableError(f"{path.name} is not JSON: {error}") from error


def _text(path: Path, name: str) -> str:
    """Return the text of a regular file of limited size."""
    try:
        content = file_bytes(path, most_bytes=MOST_BYTES)
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise _UnreadableError(f"{name} cannot be read: {said}; {_NAME_ONE}") from error
    try:
        return content.decode("utf-8")
    except ValueError as error:
        raise _UnreadableError(f"{name} is not a text in UTF-8") from error


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a value must be."""

    words: str
    """`a text`"""
    test: Callable[[Any], bool]


def _matching(words: str, form: re.Pattern[str]) -> _Kind:
    return _Kind(words, lambda value: isinstance(value, str) and form.fullmatch(value) is not None)


def _among(*values: str) -> _Kind:
    words = " or ".join(filter(None, (", ".join(values[:-1]), values[-1])))
    return _Kind(words, lambda value: isinstance(value, str) and value in values)


def _is_number(value: Any) -> bool:
    is_one = isinstance(value, int | float) and not isinstance(value, bool)
    return is_one and 0 <= value < _MOST_SECONDS


def _is_time(value: Any) -> bool:
    try:
        return bool(_TIME.fullmatch(value)) and datetime.fromisoformat(value) is not None
    except (TypeError, ValueError):
        return False


_TEXT = _Kind("a text", lambda value: isinstance(value, str))
_TRUTH = _Kind("true or false", lambda value: isinstance(value, bool))
_NUMBER = _Kind("a number that is not negative", _is_number)
_RFC_3339 = _Kind("a time in UTC such as 2026-12-01T09:00:00.000Z", _is_time)
_MOMENT = _Kind("empty, or a time", lambda value: value == "" or _is_time(value))
_FILE_NAME = _matching("the name of a file beside the report, without a path", _NAME)
_DIGEST = _matching("a SHA-256 in hexadecimal digits", _SHA256)
_STEP_NAME = _matching("the name of a step", re.compile(r"[a-z][a-z -]{0,39}"))
_VERSION = _matching("a version", re.compile(r"[\w.+-]{1,60}"))


@dataclass(frozen=True, slots=True)
class _OrNull:
    kind: Any


_HASHED = {"file": _FILE_NAME, "sha256": _OrNull(_DIGEST)}
_PROGRAM = {
    "version": _VERSION,
    "commit": _OrNull(_matching("a git commit", _COMMIT)),
    "sha256": _DIGEST,
    "lock_sha256": _OrNull(_DIGEST),
    "python": _VERSION,
}
_STEP = {
    "name": _STEP_NAME,
    "result": _among("pass", "fail", "stopped"),
    "seconds": _NUMBER,
    "reason": _TEXT,
    "began": _MOMENT,
    "ended": _MOMENT,
    "command": _TEXT,
    "log": _OrNull(_HASHED),
}
_REPORT = {
    "form": _Kind(str(FORM), lambda value: value is not True and value == FORM),
    "stack": _matching("the name of a stack", _NAME),
    "account": _among(AWS, SANDBOX),
    "began": _RFC_3339,
    "ended": _RFC_3339,
    "passed": _TRUTH,
    "region": _matching("a region", re.compile(r"[a-z0-9-]{1,40}")),
    "instance_types": [_matching("an instance type", re.compile(r"[a-z0-9.-]{1,40}"))],
    "engine": _OrNull(_VERSION),
    "plugins": [{"name": _matching("the name of a plugin", _NAME), "version": _VERSION}],
    "runs": [
        {
            "began": _RFC_3339,
            "program": _OrNull(_PROGRAM),
            "stack_file": {"name": _FILE_NAME, "sha256": _OrNull(_DIGEST)},
        }
    ],
    "plan": [_STEP_NAME],
    "steps": [_STEP],
    "files": [_HASHED],
    "times": [
        {"type": _TEXT, "assumed_seconds": _NUMBER, "seen_seconds": _NUMBER, "confirmed": _TRUTH}
    ],
    "assumptions": [
        {
            "id": _TEXT,
            "assumes": _TEXT,
            "step": _TEXT,
            "verdict": _among("confirmed", "contradicted", NOT_SEEN),
            "evidence": _TEXT,
        }
    ],
    "left_behind": [_TEXT],
    "sha256": _DIGEST,
}
"""The form of a report: kinds of values, by key; a list has one kind."""


def _form(path: str, value: Any, kind: Any) -> Iterator[str]:
    """Yield how a value differs from its form."""
    where = path or "the report"
    if isinstance(kind, _OrNull):
        yield from () if value is None else _form(path, value, kind.kind)
    elif isinstance(kind, _Kind):
        if not kind.test(value):
            yield f"{where} is {_shown(value)}, not {kind.words}"
    elif not isinstance(value, type(kind)):
        named = "a list" if isinstance(kind, list) else "an object"
        yield f"{where} is {_shown(value)}, not {named}"
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _form(f"{path}[{index}]", each, kind[0])
    else:
        yield from _object(path, value, kind)


def _object(path: str, value: Mapping[str, Any], kind: Mapping[str, Any]) -> Iterator[str]:
    if not path and value.get("form") != FORM:
        yield (
            f"the form of the report is {_shown(value.get('form'))}, and this version checks the "
            f"form {FORM}; check it with the version that made it"
        )
        return
    where = path or "the report"
    yield from (f"{where} lacks {key}" for key in kind if key not in value)
    foreign = [key for key in value if key not in kind]
    yield from (f"{where} has {_shown(key)}, which no report has" for key in foreign)
    for key in kind:
        if key in value:
            yield from _form(f"{path}.{key}".lstrip("."), value[key], kind[key])


def _shown(value: Any) -> str:
    """Return a value in few characters that no terminal interprets."""
    if isinstance(value, Mapping | list):
        return "an object" if isinstance(value, Mapping) else "a list"
    text = ascii(value) if not isinstance(value, int) or abs(value) < _MOST_SECONDS else "a number"
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def _verdict(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield where the verdict does not follow from the steps."""
    steps: Sequence[Mapping[str, Any]] = report["steps"]
    plan: Sequence[str] = report["plan"]
    yield from (f"the plan lacks the step {name}" for name in ALWAYS if name not in plan)
    names = [each["name"] for each in steps]
    for what, listed in (("plan", plan), ("report", names)):
        yield from (f"the {what} has {name} twice" for name in _twice(listed))
    yield from (f"{name} is not in the plan" for name in names if name not in {*plan, REMAINS})
    for each in steps:
        if (each["result"] == "pass") == bool(each["reason"]):
            told = "a reason" if each["reason"] else "no reason"
            yield f"{each['name']} has the result {each['result']} and {told}"
    results = {each["name"]: each["result"] for each in steps}
    left = report["left_behind"]
    if results.get(REMAINS, "stopped") != "stopped" and (results[REMAINS] == "pass") == bool(left):
        yield f"{REMAINS} is {results[REMAINS]}, and {len(left)} objects are left behind"
    missing = [name for name in (*plan, REMAINS) if results.get(name) != "pass"]
    follows = not missing and not left
    if report["passed"] and not follows:
        yield f"it says that the acceptance passed, but not that {' and '.join(missing)} did"
    if follows and not report["passed"]:
        yield "it says that the acceptance did not pass, although every step did"


def _twice(names: Sequence[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def _times(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield where times are not in order, or do not fit the durations."""
    before, what = _time(report["began"]), "the acceptance began"
    for each in report["steps"]:
        name, seconds = each["name"], each["seconds"]
        if not each["began"] or not each["ended"]:
            if each["result"] == "pass" or seconds or each["began"] or each["ended"]:
                yield f"{name} has no begin or no end"
            continue
        began, ended = _time(each["began"]), _time(each["ended"])
        if abs(ended - began - seconds) > _ROUNDED_SECONDS:
            yield f"{name} took {seconds:g} s, but its times are {ended - began:g} s apart"
        if began < before - _CLOCK_SECONDS:
            yield f"{name} began before {what}"
        before, what = ended, f"{name} ended"
    if _time(report["ended"]) < before - _CLOCK_SECONDS:
        yield f"the report was made before {what}"


def _order(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield where steps or runs of the command are not in order."""
    order = [each["name"] for each in report["steps"]]
    starts = [name for name in ("check", "up") if name in order]
    if starts != order[: len(starts)]:
        yield "the check, and then the first `up`, are not its first steps"
    ends = [name for name in ("destroy", REMAINS) if name in order]
    if ends != order[len(order) - len(ends) :]:
        yield "the deletion, and then what remains, are not its last steps"
    runs = [_time(each["began"]) for each in report["runs"]]
    earliest = _time(report["began"]) - _CLOCK_SECONDS
    latest = _time(report["ended"]) + _CLOCK_SECONDS
    if runs != sorted(runs) or any(not earliest <= run <= latest for run in runs):
        yield "the runs of the command do not lie in the time of the acceptance"


def _time(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _judged(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield where compared times and assumptions contradict themselves."""
    for each in report["times"]:
        values = {key: each[key] for key in ("type", "assumed_seconds", "seen_seconds")}
        is_compared = each["assumed_seconds"] > 0
        if not is_compared or ComparedTime(**values).confirmed != each["confirmed"]:
            yield f"the time of {_shown(each['type'])} is not as it says, confirmed or not"
    for name in _twice([each["id"] for each in report["assumptions"]]):
        yield f"the assumption {_shown(name)} has two verdicts"
    passed = {each["name"] for each in report["steps"] if each["result"] == "pass"}
    for each in report["assumptions"]:
        seen = each["verdict"] != NOT_SEEN
        if seen and report["account"] == SANDBOX:
            yield f"the assumption {_shown(each['id'])} is {each['verdict']} by a sandbox"
        elif each["verdict"] == "confirmed" and each["step"] not in passed:
            yield (
                f"the assumption {_shown(each['id'])} is confirmed by {_shown(each['step'])}, "
                "which has not passed"
            )


def _files(report: Mapping[str, Any], directory: Path, found: Checked) -> None:
    """Compare the files beside the report with their hashes."""
    for step in report["steps"]:
        log, name = step["log"], step["name"]
        if log is None:
            if name != REMAINS:
                found.not_checked.append(f"{name}: it has no log")
        elif log["file"] != log_of(name):
            found.problems.append(f"{name}: its log is {log['file']}, not {log_of(name)}")
        else:
            _compare(log, directory, found)
    listed = [each["file"] for each in report["files"]]
    found.problems.extend(f"the report has the file {name} twice" for name in _twice(listed))
    found.not_checked.extend(f"{name}: the report has none" for name in FILES if name not in listed)
    for each in report["files"]:
        _compare(each, directory, found)


def _compare(entry: Mapping[str, Any], directory: Path, found: Checked) -> None:
    name, expected = entry["file"], entry["sha256"]
    path = directory / name
    if expected is None:
        found.not_checked.append(f"{name}: it could not be read when the report was made")
    elif not os.path.lexists(path):
        found.not_checked.append(f"{name}: it is not beside the report")
    elif (actual := sha256_of(path)) is None:
        found.not_checked.append(f"{name}: it cannot be read, or is a link or too large")
    elif actual != expected:
        found.problems.append(f"{name} is not the file of this acceptance: its SHA-256 is {actual}")


def _shapes(report: Mapping[str, Any], directory: Path, found: Checked) -> None:
    """Look who has answered: AWS, or something in its place."""
    entry = next((each for each in report["files"] if each["file"] == SHAPES), None)
    path = directory / SHAPES
    if entry is None or entry["sha256"] is None or sha256_of(path) != entry["sha256"]:
        return  # it was said
    try:
        written = json.loads(_text(path, SHAPES))
        evidence = Counter(table_of(each).evidence for each in written["tables"])
        evidence.update(each["evidence"] for each in written["errors"])
    except _UnreadableError as error:
        found.problems.append(str(error))
        return
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        found.problems.append(f"{SHAPES} has not the form of the shapes of an acceptance")
        return
    expected = RECORDINGS if report["account"] == AWS else EMULATOR
    foreign = evidence.total() - evidence[expected]
    if foreign and report["account"] == AWS:
        found.problems.append(
            f"it says that the account was AWS, but other hosts than AWS's have answered {foreign} "
            f"calls ({SHAPES})"
        )
    elif foreign:
        found.problems.append(f"it says that the account was a sandbox, but {SHAPES} does not")
    elif not evidence:
        found.not_checked.append(f"{SHAPES}: it has no answers")


def _program(report: Mapping[str, Any], here: Mapping[str, Any], found: Checked) -> None:
    """Compare the program and its lock with those that run here, and look at the stack file."""
    runs = report["runs"]
    if not runs or any(run["program"] is None for run in runs):
        found.not_checked.append("program: the report does not say which one made it")
        return
    if any(run["program"] != runs[0]["program"] for run in runs):
        found.problems.append("different versions of the program have made it")
    if any(run["stack_file"] != runs[0]["stack_file"] for run in runs):
        found.problems.append("the stack file was changed between the runs of the command")
    made = runs[-1]["program"]
    for key, what in (("version", "version"), ("sha256", "program"), ("lock_sha256", LOCK)):
        # A package has no lock.
        if None not in (made[key], here[key]) and made[key] != here[key]:
            found.notes.append(f"made by another version: {what} {made[key]}, here {here[key]}")
    if made["commit"] and made["commit"] == here["commit"] and made["sha256"] != here["sha256"]:
        found.problems.append(f"the program of the commit {made['commit']} has another SHA-256")
    _stack_file(runs[-1]["stack_file"], report["files"], found)


def _stack_file(
    used: Mapping[str, Any], files: Sequence[Mapping[str, Any]], found: Checked
) -> None:
    """Look whether the steps have used the stack file that lies beside the report."""
    name, digest = used["name"], used["sha256"]
    if digest is None:
        found.not_checked.append(f"{name}: it could not be read")
    elif {"file": name, "sha256": digest} not in files:
        found.problems.append(f"another {name} was used than the one of the report")
