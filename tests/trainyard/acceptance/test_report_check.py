"""The check of a report: what it finds in one that was changed, and in a file that is none."""

from __future__ import annotations

import copy
import dataclasses
import functools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.accepted_report import VERDICT, accepted, make
from trainyard.acceptance import ANSWERS
from trainyard.acceptance.plan import steps_of
from trainyard.acceptance.provenance import program_facts, sha256_of
from trainyard.acceptance.report import content_sha256, write_shapes
from trainyard.acceptance.report_check import ALWAYS, MOST_BYTES, Checked, checked_report
from trainyard.acceptance.steps import REMAINS, Record

Report = dict[str, Any]
Change = Callable[[Report], None]


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return make(tmp_path)


@functools.cache
def this_program() -> Mapping[str, Any]:
    """The checkout is hashed once, not for every check."""
    return program_facts()


def check(path: Path, **facts: Any) -> Checked:
    """Check a report with this program, or one of other facts."""
    return checked_report(path, facts=lambda: {**this_program(), **facts})


def changed(path: Path, change: Change, *, sealed: bool = True, **facts: Any) -> Checked:
    """Change a report, with the SHA-256 of its values unless that is forgotten, and check it."""
    values = json.loads(path.read_text("utf-8"))
    change(values)
    if sealed:
        values["sha256"] = content_sha256(values)
    path.write_text(json.dumps(values), encoding="utf-8")
    return check(path, **facts)


def said(found: Checked) -> str:
    return "\n".join((*found.problems, *found.not_checked))


def test_a_report_holds_that_was_not_changed(report: Path) -> None:
    found = check(report)
    assert (found.problems, found.not_checked, found.notes) == ([], [], [])
    assert (found.holds, found.passed, found.stack, found.account) == (True, True, "dev", "AWS")


def test_the_steps_that_every_acceptance_has_are_those_of_a_stack_without_nodes() -> None:
    made = steps_of(dataclasses.replace(accepted(Path("/d")), test=()))
    assert {each.name for each in made} == {*ALWAYS}


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values in a document that have none below them."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in items:
        if isinstance(each, dict | list) and each:
            yield from leaves(each, (*path, key))
        else:
            yield (*path, key)


def put(values: Any, path: tuple[Any, ...], value: Any) -> None:
    for key in path[:-1]:
        values = values[key]
    values[path[-1]] = value


def other(value: Any) -> Any:
    """Return another value of the same form."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str) and len(value) in (40, 64) and set(value) <= set("0123456789abcdef"):
        return value[1:] + ("0" if value[0] != "0" else "1")
    return f"{value}x" if isinstance(value, str) else "x"


def test_every_value_that_is_changed_is_noticed(report: Path) -> None:
    values = json.loads(report.read_text("utf-8"))
    paths = list(leaves(values))
    assert len(paths) > 100
    for path in paths:
        tampered = copy.deepcopy(values)
        before = values
        for key in path:
            before = before[key]
        put(tampered, path, other(before))
        report.write_text(json.dumps(tampered), encoding="utf-8")
        assert check(report).problems, path


def test_every_key_is_needed_and_no_other_known(report: Path) -> None:
    values = json.loads(report.read_text("utf-8"))
    objects: list[tuple[Any, ...]] = [(), *{path[:-1] for path in leaves(values)}]
    for path in objects:
        inner = values
        for key in path:
            inner = inner[key]
        if not isinstance(inner, dict):
            continue
        for key in inner:
            tampered = copy.deepcopy(values)
            below = tampered
            for each in path:
                below = below[each]
            del below[key]
            report.write_text(json.dumps(tampered), encoding="utf-8")
            words = "the form of the report is None" if key == "form" else f"lacks {key}"
            assert words in said(check(report))
            below["evil"] = 1
            report.write_text(json.dumps(tampered), encoding="utf-8")
            assert key == "form" or "has 'evil'" in said(check(report))


def step(name: str, /, **values: Any) -> Change:
    def change(report: Report) -> None:
        (found,) = [each for each in report["steps"] if each["name"] == name]
        found.update(values)

    return change


def without(name: str) -> Change:
    def change(report: Report) -> None:
        report["steps"] = [each for each in report["steps"] if each["name"] != name]

    return change


def with_(**values: Any) -> Change:
    return lambda report: report.update(values)


def moved(name: str, seconds: float) -> Change:
    """Let a step begin and end at another time."""

    def change(report: Report) -> None:
        (found,) = [each for each in report["steps"] if each["name"] == name]
        for key in ("began", "ended"):
            time = datetime.fromisoformat(found[key]) + timedelta(seconds=seconds)
            found[key] = time.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"

    return change


def log(name: str, **values: Any) -> Change:
    def change(report: Report) -> None:
        (found,) = [each for each in report["steps"] if each["name"] == name]
        found["log"].update(values)

    return change


def run(**values: Any) -> Change:
    return lambda report: report["runs"][0].update(values)


def program(**values: Any) -> Change:
    return lambda report: report["runs"][0]["program"].update(values)


def second_run(**values: Any) -> Change:
    return lambda report: report["runs"].append({**report["runs"][0], **values})


NONE = "0" * 64
OTHER_FILE = {"name": "stack.yaml", "sha256": NONE}
EMPTY: dict[str, Any] = {}
TIME = {"type": "a:b:C", "assumed_seconds": 600, "seen_seconds": 6000, "confirmed": True}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (step("up", result="fail"), "up has the result fail and no reason"),
        (step("up", reason="x"), "up has the result pass and a reason"),
        (step("up", result="fail", reason="x"), "it passed, but not that up did"),
        (without("test"), "it passed, but not that test did"),
        (without(REMAINS), "it passed, but not that remains did"),
        (with_(left_behind=["vpc-1"]), "remains is pass, and 1 objects are left behind"),
        (step(REMAINS, result="fail", reason="x"), "remains is fail, and 0 objects"),
        (with_(passed=False), "it did not pass, although every step did"),
        (with_(plan=["check", "up", "destroy"]), "the plan lacks the step refresh"),
        (with_(plan=[]), "the plan lacks the step up"),
        (lambda report: report["plan"].append("up"), "the plan has up twice"),
        (lambda report: report["steps"].append(report["steps"][1]), "the report has up twice"),
        (step("test", name="other"), "other is not in the plan"),
        (step("up", seconds=1.0), "up took 1 s, but its times are 60.2 s apart"),
        (step("up", began=""), "up has no begin or no end"),
        (step("up", began="", ended="", seconds=0), "up has no begin or no end"),
        (moved("up", -60), "up began before check ended"),
        (moved("check", -60), "check began before the acceptance began"),
        (moved(REMAINS, 7200), "the report was made before remains ended"),
        (lambda report: report["steps"].reverse(), "are not its last steps"),
        (lambda report: report["steps"].reverse(), "are not its first steps"),
        (run(began="2020-01-01T00:00:00.000Z"), "do not lie in the time of the acceptance"),
        (with_(times=[TIME]), "the time of 'a:b:C' is not as it says"),
        (with_(times=[{**TIME, "assumed_seconds": 0}]), "is not as it says"),
        (with_(assumptions=[VERDICT, VERDICT]), "the assumption 'a' has two verdicts"),
        (
            with_(assumptions=[{**VERDICT, "step": "resume"}]),
            "the assumption 'a' is confirmed by 'resume', which has not passed",
        ),
        (log("up", sha256=NONE), "up.log is not the file of this acceptance"),
        (log("up", sha256=None), "up.log: it could not be read when the report was made"),
        (log("up", file="check.log"), "up: its log is check.log, not up.log"),
        (step("up", log=None), "up: it has no log"),
        (with_(files=[]), "shapes.json: the report has none"),
        (
            lambda report: report["files"].append(report["files"][0]),
            "has the file shapes.json twice",
        ),
        (lambda report: report["files"][1].update(sha256=NONE), "stack.yaml is not the file"),
        (with_(account="sandbox"), "it says that the account was a sandbox, but shapes.json does"),
        (run(program=None), "program: the report does not say which one made it"),
        (with_(runs=[]), "program: the report does not say which one made it"),
        (run(stack_file={"name": "stack.yaml", "sha256": None}), "it could not be read"),
        (run(stack_file=OTHER_FILE), "another stack.yaml was used than the one of the report"),
        (
            second_run(stack_file=OTHER_FILE),
            "the stack file was changed between the runs",
        ),
    ],
)
def test_what_contradicts_itself_is_found(report: Path, change: Change, words: str) -> None:
    found = changed(report, change)
    assert words in said(found).replace("it says that the acceptance ", "it ")
    assert not found.holds


def test_a_change_without_a_new_sum_is_found(report: Path) -> None:
    found = changed(report, with_(region="eu-west-1"), sealed=False)
    assert found.problems == ["it was changed: its SHA-256 is not that of its values"]


def test_everything_is_said_at_once(report: Path, tmp_path: Path) -> None:
    (tmp_path / "check.log").write_text("x", encoding="utf-8")
    (tmp_path / "diagnose.log").unlink()

    def change(values: Report) -> None:
        step("up", result="fail", reason="x")(values)
        moved("test", -120)(values)

    found = changed(report, change, sealed=False)
    assert len(found.problems) == 5
    assert found.not_checked == ["diagnose.log: it is not beside the report"]


def test_another_version_is_said_and_no_error(report: Path) -> None:
    found = changed(report, program(version="9.9.9", sha256=NONE, lock_sha256=NONE, commit=None))
    assert found.holds
    assert len(found.notes) == 3
    assert all(each.startswith("made by another version: ") for each in found.notes)


def test_runs_of_different_versions_prove_nothing_together(report: Path) -> None:
    def change(values: Report) -> None:
        other_program = {**values["runs"][0]["program"], "sha256": NONE, "commit": None}
        second_run(program=other_program)(values)

    assert changed(report, change).problems == ["different versions of the program have made it"]


def test_the_program_of_a_commit_has_one_sum(report: Path) -> None:
    commit = "a" * 40
    found = changed(report, program(commit=commit, sha256=NONE), commit=commit)
    assert found.problems == [f"the program of the commit {commit} has another SHA-256"]


@pytest.mark.parametrize(
    ("sandbox", "of_aws", "words"),
    [
        (False, False, "other hosts than AWS's have answered 1 calls"),
        (True, True, ""),  # what answers in a sandbox is no evidence, whatever its address is
        (True, False, ""),
    ],
)
def test_who_has_answered_must_be_the_account(
    tmp_path: Path, sandbox: bool, of_aws: bool, words: str
) -> None:
    found = check(make(tmp_path, sandbox=sandbox, of_aws=of_aws))
    assert words in said(found)
    assert found.holds == (not words)
    assert found.account == ("sandbox" if sandbox else "AWS")


def test_an_acceptance_without_an_answer_proves_nothing(report: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    (tmp_path / ANSWERS).rename(empty / "x")
    (tmp_path / ANSWERS).mkdir()
    record = Record(directory=tmp_path, stack="dev", sandbox=False, began="")
    write_shapes(record)
    found = changed(report, reseal(tmp_path))
    assert found.not_checked == ["shapes.json: it has no answers"]


def reseal(directory: Path) -> Change:
    """Give the shapes the sum of the file that lies there."""

    def change(values: Report) -> None:
        digest = sha256_of(directory / "shapes.json")
        values["files"][0]["sha256"] = digest

    return change


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"tables": [{}], "errors": []}', "[" * 100_000, '{"tables": 3}']
)
def test_shapes_without_their_form_are_found(report: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "shapes.json").write_text(text, encoding="utf-8")
    assert "has not the form" in said(changed(report, reseal(tmp_path)))


def test_a_log_that_is_missing_or_none_is_not_checked(report: Path, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}.log"
    (tmp_path / "up.log").rename(outside)
    (tmp_path / "up.log").symlink_to(outside)
    (tmp_path / "check.log").unlink()
    os.mkfifo(tmp_path / "check.log")
    (tmp_path / "refresh.log").unlink()
    (tmp_path / "refresh.log").mkdir()
    found = check(report)
    assert found.problems == []
    assert len(found.not_checked) == 3
    assert "up.log: it cannot be read, or is a link or too large" in found.not_checked
    assert not found.holds


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "a/../../b", "..", ".", "", "up.log\0", "a\nb", "é"]
)
def test_no_file_outside_of_the_directory_is_named(report: Path, name: str) -> None:
    for change in (
        log("up", file=name),
        lambda values: values["files"][0].update(file=name),
        run(stack_file={"name": name, "sha256": NONE}),
        step("up", name=name),
    ):
        found = changed(make_again(report), change)
        assert found.problems
        assert "report.json" not in said(found)


def make_again(report: Path) -> Path:
    """Return the report as it was made."""
    kept = report.with_name("kept.json")
    if not kept.exists():
        kept.write_bytes(report.read_bytes())
    report.write_bytes(kept.read_bytes())
    return report


WRONG = (None, True, 3, -1, 1e300, "", "x", [], {}, [None], {"a": 1}, "\ud800", "\x1b[31m", 10**400)


def test_values_of_other_types_are_found_and_break_nothing(report: Path) -> None:
    values = json.loads(report.read_text("utf-8"))
    paths = [*leaves(values), *((key,) for key in values), *((("steps", 0), ("runs", 0)))]
    for path in paths:
        for wrong in WRONG:
            tampered = copy.deepcopy(values)
            put(tampered, path, wrong)
            if tampered == values:
                continue
            report.write_text(json.dumps(tampered), encoding="utf-8")
            found = check(report)
            assert not found.holds
            assert b"\x1b" not in said(found).encode("ascii")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "report.json is not JSON"),
        (b"{", "report.json is not JSON"),
        (b"\xff\xfe{}", "report.json is not a text in UTF-8"),
        (b"null", "the report is None, not an object"),
        (b"[]", "the report is a list, not an object"),
        (b"3", "the report is 3, not an object"),
        (b"{}", "the form of the report is None, and this version checks the form 2"),
        (b'{"form": 1}', "the form of the report is 1"),
        (b'{"form": 2}', "the report lacks steps"),
        (b'{"form": 2, "form": 2}', "has the key 'form' twice"),
        (b'{"form": NaN}', "has NaN, which is not JSON"),
        (b"[" * 1_000_000, "nested too deeply"),
        (b"9" * 100_000, "report.json is not JSON"),
        (b" " * (MOST_BYTES + 1), "it has more than 16777216 bytes"),
        (b'{"form": 2, "plan": [' + b"3," * 1_000_000 + b"3]}", "plan[0] is 3, not"),
    ],
)
def test_a_file_that_is_no_report_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(content)
    found = check(path)
    assert words in said(found)
    assert not found.holds
    assert len(found.problems) <= 100


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "none", tmp_path / "pipe", Path("/dev/zero"), Path("a\0b")):
        found = check(path)
        assert "name the report.json of an acceptance" in said(found)
        assert not found.account
