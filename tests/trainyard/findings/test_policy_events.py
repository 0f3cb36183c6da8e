"""Findings in an engine's event log; the logs are shortened ones of the real engine.

`refused.jsonl` is from a program with three launches into a Capacity Block with a placement group:
one is refused, one is suppressed, and one has an unknown market. In `broken.jsonl` the same program
then raises an exception.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from trainyard.engine.engine_events import resource_changes
from trainyard.findings.finding import Finding, as_json
from trainyard.findings.policy_events import event_findings
from trainyard.policies.pack.suppressions import Ledger, Suppression
from trainyard.stack_files.stack_files import StackFile

RECORDED = Path(__file__).parent / "recorded"
BLOCK = "capacity-block-no-placement-group"
PREFIX = "urn:pulumi:foreign::trainyard::aws:ec2/launchTemplate:LaunchTemplate::"


@pytest.fixture
def stack_file(tmp_path: Path) -> StackFile:
    path = tmp_path / "Pulumi.c.yaml"
    path.write_text("config:\n  aws:region: us-west-2\n  trainyard:cluster: {}\n")
    return StackFile("c", path, {})


def recorded(name: str) -> str:
    return (RECORDED / f"{name}.jsonl").read_text(encoding="utf-8")


def of(found: list[Finding], resource: str) -> list[Finding]:
    return [each for each in found if each.resource == PREFIX + resource]


def test_a_mandatory_violation_is_an_error_with_its_severity_and_resource(stack_file) -> None:
    (finding,) = of(event_findings(recorded("refused"), stack_file), "p5")
    assert (finding.rule, finding.level, finding.severity) == (BLOCK, "error", "critical")
    assert finding.message.startswith("p5: it launches into a Capacity Block and into")
    assert finding.message.endswith("remove the placement group")
    assert (finding.file, finding.line) == (stack_file.path, 3)


def test_what_a_rule_could_not_decide_is_a_note(stack_file) -> None:
    found = of(event_findings(recorded("refused"), stack_file), "late")
    notes = [each for each in found if each.level == "note"]
    assert {each.rule for each in notes} == {BLOCK, "reserved-market"}
    assert all("can't be known during preview" in each.message for each in notes)


def test_a_suppressed_violation_is_a_note_of_its_own_rule_with_the_reason(stack_file) -> None:
    (finding,) = of(event_findings(recorded("refused"), stack_file), "accepted")
    assert (finding.rule, finding.level) == (BLOCK, "note")
    assert finding.suppressed == "suppressed until 2030-01-01, because 'a test of AWS support'"
    assert finding.message.startswith("accepted: it launches into a Capacity Block")


def test_the_packs_own_words_for_a_suppression_are_understood(stack_file) -> None:
    """`policies/pack/suppressions.py` writes the sentence that is read here."""
    ledger = Ledger(lambda: date(2026, 1, 1))
    entry = Suppression("ebs-encrypted", "v", "scratch; it would not matter", date(2026, 2, 1))
    ledger.judge([entry], "v", "urn:v", "v: it is not encrypted; encrypt it")
    ((_, said),) = ledger.used()
    log = recorded("refused").replace(suppression_in(recorded("refused")), said)
    (finding,) = of(event_findings(log, stack_file), "accepted")
    assert (finding.rule, finding.message) == (
        "ebs-encrypted",
        "v: it is not encrypted; encrypt it",
    )
    assert "scratch; it would not matter" in finding.suppressed


def suppression_in(log: str) -> str:
    """Return the recorded message about the suppression, after the policy's description."""
    start = log.index(f"{BLOCK} is suppressed")
    return log[start : log.index('\\n"', start)]


def test_the_last_words_of_a_refused_preview_are_no_finding_of_their_own(stack_file) -> None:
    found = event_findings(recorded("refused"), stack_file)
    assert not [each for each in found if each.stage == "engine"]


def test_an_error_of_the_program_is_a_finding_beside_the_violations(stack_file) -> None:
    found = event_findings(recorded("broken"), stack_file)
    (error,) = [each for each in found if each.stage == "engine"]
    assert (error.rule, error.level) == ("engine/error", "error")
    assert "RuntimeError: the program broke" in error.message
    assert of(found, "p5")


def test_a_preview_that_only_failed_says_so(stack_file) -> None:
    lines = recorded("refused").splitlines()
    log = "\n".join(line for line in lines if '"policyEvent"' not in line)
    assert [each.message for each in event_findings(log, stack_file)] == ["preview failed"]


def test_a_violation_that_is_told_twice_is_one_finding(stack_file) -> None:
    log = recorded("refused")
    assert event_findings(log + log, stack_file) == event_findings(log, stack_file)


def test_an_empty_log_finds_nothing(stack_file) -> None:
    assert event_findings("", stack_file) == []
    assert resource_changes("") == {}


def test_the_changes_are_counted_by_operation() -> None:
    assert resource_changes(recorded("refused")) == {"create": 5}


def test_a_finding_as_json_leaves_out_what_it_does_not_have(stack_file) -> None:
    (finding,) = of(event_findings(recorded("refused"), stack_file), "p5")
    assert set(as_json(finding)) == {
        "rule", "stage", "level", "severity", "message", "file", "line", "resource",
    }  # fmt: skip
