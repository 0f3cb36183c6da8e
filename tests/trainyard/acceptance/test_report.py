"""The reports of an acceptance have no secret that a command has said."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.accepted_report import VERDICT, make
from tests.support.secret_forms import TEXTS
from trainyard.acceptance.report import as_html, as_json, report_of
from trainyard.acceptance.steps import Done, Record, read_record


def test_no_report_has_a_secret_of_a_reason(tmp_path: Path) -> None:
    failed = [
        Done(name=each.id, result="fail", seconds=1, reason=f"it failed\n{each.text}")
        for each in TEXTS
    ]
    record = Record(
        directory=tmp_path,
        stack="p5-cb",
        sandbox=True,
        began="2026-12-01T10:00:00Z",
        done=failed,
        after=[each.text for each in TEXTS],
    )
    made = report_of(record, [])
    for report in (as_json(made), as_html(made)):
        assert [each.id for each in TEXTS if each.secret in report] == []
        assert "it failed" in report


def test_the_page_shows_with_what_the_acceptance_was_made(tmp_path: Path) -> None:
    report = json.loads(make(tmp_path).read_text("utf-8"))
    record = read_record(tmp_path)
    assert record is not None
    unseen = {**VERDICT, "id": "c", "assumes": "it <never> fails", "verdict": "not seen"}
    page = as_html(report_of(record, [], [VERDICT, unseen]))
    (run,) = report["runs"]
    shown = [
        *run["program"].values(),
        *run["stack_file"].values(),
        *(each["log"]["sha256"] for each in report["steps"] if each["log"]),
        *(each["sha256"] for each in report["files"]),
        *(each["command"] for each in report["steps"]),
        *(report["region"], *report["instance_types"], report["began"], "Accepted."),
    ]
    assert [each for each in shown if each is not None and each not in page] == []
    assert '<tr class="skipped"><td>it &lt;never&gt; fails</td><td>not seen</td>' in page
    assert '<tr class="confirmed"><td>b</td>' in page


def test_an_acceptance_without_a_step_of_its_plan_has_not_passed(tmp_path: Path) -> None:
    """Whatever the other steps say, as after a run with another plan."""
    make(tmp_path)
    record = read_record(tmp_path)
    assert record is not None
    assert json.loads(as_json(report_of(record, [])))["passed"] is True
    record.done = [each for each in record.done if each.name != "test"]
    assert record.passed
    assert json.loads(as_json(report_of(record, [])))["passed"] is False


def test_the_report_has_no_account_number_of_a_log(tmp_path: Path) -> None:
    reason = "exit code 1: error: arn:aws:iam::210987654321:role/a is not there"
    failed = Done(name="up", result="fail", seconds=1, reason=reason)
    record = Record(
        directory=tmp_path, stack="a", sandbox=False, began="2026-12-01T10:00:00Z", done=[failed]
    )
    seen = {**VERDICT, "evidence": "created in 210987654321 (3 s)"}
    made = report_of(record, [], [seen])
    for report in (as_json(made), as_html(made)):
        assert "210987654321" not in report
        assert "arn:aws:iam::ACCOUNT:role/a" in report
        assert "created in ACCOUNT (3 s)" in report
