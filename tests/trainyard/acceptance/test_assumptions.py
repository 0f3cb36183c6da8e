"""The catalogue of assumptions about AWS, and what an acceptance says of each of them."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from tests.support.secret_forms import TEXTS
from tests.support.tracked import ROOT
from tests.witness.support.calls import called
from trainyard.acceptance.assumptions import (
    DOCUMENT,
    Assumption,
    Line,
    Outcome,
    Verdict,
    catalogue,
    verdicts,
    with_tables,
)
from trainyard.acceptance.steps import Done, Result
from trainyard.progress.display import ended_line
from trainyard.progress.operation import Ended, Running, short_type
from trainyard.workspace.recovery.table import LOOKUPS

KINDS = ("batch", "eks", "network", "parallelcluster")
OTHER_TYPES = (
    "aws:ec2/capacityReservation:CapacityReservation",
    "kubernetes:apps/v1:DaemonSet",
    "kubernetes:core/v1:ConfigMap",
    "kubernetes:core/v1:PersistentVolumeClaim",
)
SETTLED = [each for each in catalogue() if each.step is not None]
LINES = [
    pytest.param(line, id=f"{each.id}-{name}")
    for each in catalogue()
    for name, line in (("says", each.says), ("contradicts", each.contradicts))
    if line is not None
]
ENTRY: dict[str, Any] = {
    "id": "an-assumption",
    "assumes": "AWS does what is written here",
    "place": "README.md",
    "kinds": ["eks"],
    "step": "up",
}
LINE = {"matches": "^created", "example": "created it", "printed_by": "README.md"}


def done(name: str, result: Result) -> Done:
    return Done(name=name, result=result, seconds=1, reason="")


def seen(
    assumption: Assumption,
    result: Result | None,
    log: str = "",
    *,
    kind: str | None = None,
    sandbox: bool = False,
    calls: tuple[str, ...] | None = None,
) -> Verdict:
    """Return the verdict on an assumption whose step has a result and an output."""
    step = assumption.step or ""
    found = verdicts(
        kind or assumption.kinds[0],
        [] if result is None else [done(step, result)],
        {step: log},
        sandbox=sandbox,
        called=assumption.calls if calls is None else calls,
        assumptions=[assumption],
    )
    return found[0]


def confirming(assumption: Assumption) -> str:
    return assumption.says.example if assumption.says else ""


@pytest.mark.parametrize("assumption", SETTLED, ids=lambda each: each.id)
class TestEveryAssumptionOfAStep:
    def test_a_step_that_passed_and_said_it_confirms(self, assumption: Assumption) -> None:
        found = seen(assumption, "pass", f"before\n{confirming(assumption)}\nafter")
        assert found.verdict == "confirmed"
        assert found.evidence == (confirming(assumption).strip() or f"{assumption.step} passed")

    @pytest.mark.parametrize("result", ["fail", "stopped", None])
    def test_a_step_that_did_not_pass_shows_nothing(
        self, assumption: Assumption, result: Result | None
    ) -> None:
        assert seen(assumption, result, confirming(assumption)).verdict == "not seen"

    def test_the_sandbox_shows_nothing(self, assumption: Assumption) -> None:
        for line in (assumption.says, assumption.contradicts):
            said = line.example if line else ""
            found = seen(assumption, "pass", said, sandbox=True)
            assert (found.verdict, found.evidence) == ("not seen", "the sandbox is not AWS")

    def test_a_stack_of_another_kind_shows_nothing(self, assumption: Assumption) -> None:
        for kind in {*KINDS} - {*assumption.kinds}:
            assert seen(assumption, "pass", confirming(assumption), kind=kind).verdict == "not seen"

    def test_a_step_that_passed_without_the_line_shows_nothing(
        self, assumption: Assumption
    ) -> None:
        wanted: Outcome = "not seen" if assumption.says else "confirmed"
        assert seen(assumption, "pass", "another line").verdict == wanted

    def test_a_step_without_the_calls_shows_nothing(self, assumption: Assumption) -> None:
        for missing in assumption.calls:
            others = tuple(each for each in assumption.calls if each != missing)
            found = seen(assumption, "pass", confirming(assumption), calls=others)
            assert found.verdict == "not seen"
            assert missing in found.evidence

    @pytest.mark.parametrize("result", ["pass", "fail", "stopped"])
    def test_a_line_that_contradicts_counts_however_the_step_ended(
        self, assumption: Assumption, result: Result
    ) -> None:
        if assumption.contradicts is None:
            return
        line = assumption.contradicts.example
        found = seen(assumption, result, f"{confirming(assumption)}\n{line}")
        assert (found.verdict, found.evidence) == ("contradicted", line.strip())


def test_what_no_step_settles_is_never_seen() -> None:
    everything = [done(name, "pass") for name in {each.step or "" for each in SETTLED}]
    found = verdicts("eks", everything, {}, sandbox=False, called=())
    unsettled = {each.id: each.unsettled for each in catalogue() if each.unsettled}
    assert {each.id: each.evidence for each in found if each.id in unsettled} == unsettled
    assert {each.verdict for each in found if each.id in unsettled} <= {"not seen"}


@given(
    kind=st.sampled_from(KINDS),
    results=st.dictionaries(
        st.sampled_from(sorted({each.step or "" for each in SETTLED})),
        st.sampled_from(["pass", "fail", "stopped"]),
    ),
    sandbox=st.booleans(),
)
def test_every_assumption_has_one_verdict_with_evidence(
    kind: str, results: dict[str, Result], sandbox: bool
) -> None:
    steps = [done(name, result) for name, result in results.items()]
    found = verdicts(kind, steps, {}, sandbox=sandbox, called=())
    assert [each.id for each in found] == [each.id for each in catalogue()]
    assert all(each.evidence for each in found)
    # Without any output, only steps that passed can have shown something.
    passed = {name for name, result in results.items() if result == "pass" and not sandbox}
    assert {each.step for each in found if each.verdict != "not seen"} <= passed
    assert not [each for each in found if each.verdict == "contradicted"]


def test_no_secret_of_a_log_is_evidence() -> None:
    line = Line(matches=".", example="any line", printed_by="README.md")
    assumption = TypeAdapter(Assumption).validate_python({**ENTRY, "says": line})
    found = {each.id: seen(assumption, "pass", each.text) for each in TEXTS}
    assert {each.verdict for each in found.values()} == {"confirmed"}
    assert [each.id for each in TEXTS if each.secret in found[each.id].evidence] == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": None}, "either `step` or `unsettled`"),
        ({"unsettled": "no step asks for it, another one would"}, "either `step` or `unsettled`"),
        (
            {"step": None, "unsettled": "no step asks for it, one would", "says": LINE},
            "need `step`",
        ),
        ({"step": "upp"}, "'up again'"),
        ({"kinds": []}, "at least 1 item"),
        ({"kinds": ["ecs"]}, "'parallelcluster'"),
        ({"says": {**LINE, "matches": "^deleted"}}, "does not match its example"),
        ({"calls": ["ec2.DescribeInstances"]}, "pattern"),
        ({"id": "An assumption"}, "pattern"),
        ({"assumes": "two\nlines of text, which are too many"}, "pattern"),
        ({"when": "always"}, "Extra inputs"),
    ],
)
def test_an_entry_of_another_form_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(message)):
        TypeAdapter(Assumption).validate_python({**ENTRY, **change})


def test_every_place_exists() -> None:
    assert not [each.place for each in catalogue() if not (ROOT / each.place).is_file()]


def test_every_call_is_one_that_commands_make() -> None:
    made = {each.replace(".", ":") for each in called()}
    assert not {call for each in catalogue() for call in each.calls} - made


@pytest.mark.parametrize("line", LINES)
def test_the_example_of_every_line_is_printed_by_its_source(line: Line) -> None:
    """The source has the text of the example: as a string, with values in its gaps."""
    if line.printed_by.startswith("https://"):
        return  # what AWS or the provider printed there
    path = ROOT / line.printed_by
    if path.suffix != ".py":
        assert line.example in path.read_text(encoding="utf-8")
    elif path == ROOT / "src" / "trainyard" / "progress" / "display.py":
        assert ended(line.example) == line.example
    elif line.example.startswith("│ "):
        # A fact: its name is a string of the source, and so are the words in its text.
        name, _, fact = line.example.strip("│ ").partition("  ")
        assert any(each.fullmatch(name) for each in templates(path, least_letters=3))
        assert fact.strip()
    else:
        assert any(each.search(line.example) for each in templates(path, least_letters=8))


ENDED = re.compile(
    r"(?P<said>(?:found )?\w+) (?P<type>\S+:\S+) (?P<name>\S+)"
    r"(?: \((?:(?P<minutes>\d+) min)? ?(?:(?P<seconds>\d+) s)?\))?"
)
TYPES = {short_type(token) for token in (*LOOKUPS, *OTHER_TYPES)}


def ended(example: str) -> str:
    """Return the line that the display prints for an operation as in an example."""
    found = ENDED.fullmatch(example)
    assert found is not None
    assert found["type"] in TYPES
    seconds = 60 * int(found["minutes"] or 0) + int(found["seconds"] or 0)
    what = Running(
        doing="",
        done="",
        type=found["type"],
        name=found["name"],
        is_object=True,
        began=0,
        typical_seconds=0,
    )
    return ended_line(Ended(what=what, seconds=seconds, failed=False, said=found["said"]))


def templates(path: Path, *, least_letters: int) -> list[re.Pattern[str]]:
    """Return a pattern for each string of a module: what is formatted into it can be anything."""
    found: list[re.Pattern[str]] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        texts = [
            part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else None
            for part in parts
        ]
        if sum(each.isalpha() for text in texts for each in text or "") >= least_letters:
            escaped = (
                ".+" if text is None else re.escape(text).replace(r"\{\}", ".+") for text in texts
            )
            found.append(re.compile("".join(escaped)))
    return found


def test_the_document_has_the_current_tables() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert text == with_tables(text), "run: python -m tools.acceptance"
