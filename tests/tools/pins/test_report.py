"""The state of a pin, the table and the exit code."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import date

import pytest
from rich.console import Console

from tools.pins import EksAddon, Pin, Place, PyPI, Unasked, __main__
from tools.pins.newest import Answer, newest_python
from tools.pins.report import URGENT, Finding, State, findings, show
from trainyard.components.catalog.versions import DEFAULT_KUBERNETES_VERSION, STANDARD_SUPPORT_ENDS

TODAY = date(2026, 11, 22)
PLACE = Place(file="pyproject.toml", line=7, start=0, text="1.2.3", note="1.3 needs something")
PIN = Pin(name="it", source=PyPI(project="it"), places=(PLACE,))


def found(pin: Pin, answer: Answer, today: date = TODAY) -> Finding:
    (finding,) = findings({pin.name: pin}, {pin.name: answer}, today)
    return finding


def supported(product: str, release: str, *, floor: bool = False) -> Pin:
    return replace(PIN, support=(product, release), floor=floor)


@pytest.mark.parametrize(
    ("pin", "answer", "state"),
    [
        (PIN, Answer(newest="1.2.3"), State.CURRENT),
        (PIN, Answer(newest="1.10.0"), State.BEHIND),
        (PIN, Answer(newest="1.1.0"), State.CURRENT),
        (PIN, Answer(reason="nobody answers"), State.UNKNOWN),
        (replace(PIN, floor=True), Answer(newest="2.0.0"), State.CURRENT),
        (
            replace(PIN, places=(PLACE, replace(PLACE, text="1.2.4"))),
            Answer(newest="1.2.4"),
            State.STRAY,
        ),
        (
            replace(PIN, places=(replace(PLACE, text="9" * 40),)),
            Answer(newest="1" * 40),
            State.BEHIND,
        ),
        (supported("Python", "3.10"), Answer(newest="1.2.3"), State.CURRENT),
        (supported("Go", "1.25", floor=True), Answer(newest="1.26.3"), State.CURRENT),
        (supported("Go", "1.25", floor=True), Answer(newest="1.27.0"), State.ENDED),
    ],
)
def test_the_state_follows_from_version_and_support(pin: Pin, answer: Answer, state: State) -> None:
    assert found(pin, answer).state is state


@pytest.mark.parametrize(
    ("days", "state"),
    [(61, State.CURRENT), (60, State.ENDING), (1, State.ENDING), (0, State.ENDED)],
)
def test_the_end_of_support_is_announced_as_long_before_as_to_users(
    days: int, state: State
) -> None:
    ends = STANDARD_SUPPORT_ENDS[DEFAULT_KUBERNETES_VERSION]
    today = date.fromordinal(ends.toordinal() - days)

    finding = found(supported("EKS", DEFAULT_KUBERNETES_VERSION), Answer(newest="1.2.3"), today)

    assert finding.state is state
    if state is State.ENDING:
        assert finding.words() == f"support ends in {days} days"


@pytest.mark.parametrize(
    ("today", "state"),
    [(date(2027, 10, 31), State.ENDING), (date(2027, 11, 1), State.ENDED)],
)
def test_python_is_supported_on_its_last_day(today: date, state: State) -> None:
    assert found(supported("Python", "3.11"), Answer(newest="3.15"), today).state is state


def test_a_python_is_the_newest_from_its_release_on() -> None:
    assert newest_python(date(2026, 9, 30)) == "3.14"
    assert newest_python(date(2026, 10, 1)) == "3.15"


def shown(*each: Finding) -> str:
    output = io.StringIO()
    show(each, Console(file=output, width=180))
    return output.getvalue()


def test_the_table_says_where_a_pin_is_and_why_it_is_held() -> None:
    text = shown(found(PIN, Answer(newest="1.3.0")))

    assert "pyproject.toml:7" in text
    assert "it: 1.3 needs something" in text
    assert "1 pins: 1 behind" in text


def test_a_reason_is_said_once_for_all_its_pins() -> None:
    pins = [replace(PIN, name=name, source=Unasked(reason="no list")) for name in ("a", "b")]

    text = shown(*(found(pin, Answer(reason="no list")) for pin in pins))

    assert "  a, b: no list\n" in text
    assert "--region" not in text


def test_the_permissions_that_an_account_needs_are_listed() -> None:
    pin = replace(PIN, source=EksAddon(addon="coredns", minor="1.35"))

    text = shown(found(pin, Answer(reason="needs it")))

    assert "that allow eks:DescribeAddonVersions." in text


def test_places_that_disagree_are_named() -> None:
    other = replace(PLACE, file="other.py", line=3, text="v1.2.4")

    words = found(replace(PIN, places=(PLACE, other)), Answer(newest="1.2.4")).words()

    assert words == "places disagree: other.py:3 has 1.2.4"


def test_programs_get_every_fact() -> None:
    pin = supported("Python", "3.11")

    assert found(pin, Answer(newest="1.3.0")).document() == {
        "pin": "it",
        "places": [{"file": "pyproject.toml", "line": 7, "version": "1.2.3"}],
        "pinned": "1.2.3",
        "newest": "1.3.0",
        "support_ends": "2027-10-31",
        "support_days_left": None,
        "state": "behind",
        "not_looked_up": None,
        "notes": ["1.3 needs something"],
    }


def test_offline_the_report_asks_nobody_and_shows_the_chosen_pins(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = __main__.main(["--offline", "--json", "boto3", "eks-*"])

    names = [each["pin"] for each in json.loads(capsys.readouterr().out)]
    assert code == 0
    assert names[0] == "boto3"
    assert len(names) > 8
    assert all(name.startswith("eks-") for name in names[1:])


def test_an_unknown_name_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert __main__.main(["--offline", "botto3"]) == 1
    assert "there is no pin 'botto3'; did you mean boto3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("newest", "arguments", "code"),
    [
        ("999.0.0", ["boto3"], 0),
        ("999.0.0", ["boto3", "--check"], 1),
        ("0.0.1", ["boto3", "--check"], 0),
    ],
)
def test_only_a_check_fails_for_what_is_urgent(
    newest: str, arguments: list[str], code: int
) -> None:
    assert __main__.main(arguments, lambda *_: {"boto3": Answer(newest=newest)}) == code


def test_what_was_not_looked_up_is_not_urgent() -> None:
    assert State.UNKNOWN not in URGENT
