"""The result of `verify` for CI has no secret that a log has said."""

from __future__ import annotations

from tests.support.secret_forms import TEXTS
from trainyard.verify.report import junit
from trainyard.verify.stages import Stage


def test_no_reason_has_a_secret() -> None:
    stages = [
        Stage(name=f"{result} {each.id}", result=result, reason=f"it said:\n{each.text}")
        for each in TEXTS
        for result in ("pass", "fail", "skipped")
    ]
    said = junit("p5-cb", stages)
    assert [each.id for each in TEXTS if each.secret in said] == []
    assert said.count("it said:") == len(stages)
