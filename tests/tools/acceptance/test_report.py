"""The reports of an acceptance have no secret that a command has said."""

from __future__ import annotations

from pathlib import Path

from tests.support.secret_forms import TEXTS
from tools.acceptance.report import as_html, as_json
from tools.acceptance.steps import Done, Record


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
    for report in (as_json(record, []), as_html(record, [])):
        assert [each.id for each in TEXTS if each.secret in report] == []
        assert "it failed" in report
