"""Questions have numbered choices in a terminal, and defaults without one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import typer

from trainyard.init.question import Choice, Defaults, Question, ask_in_terminal

VPC = Question(
    option="--vpc",
    text="Which VPC?",
    choices=[Choice("vpc-1", "training"), Choice("vpc-2"), Choice("new", in_terminal_only=True)],
    suggested=("vpc-2",),
)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch):
    """Answer prompts with texts; an empty one is Enter."""

    def give(*texts: str) -> None:
        left: Iterator[str] = iter(texts)
        monkeypatch.setattr(typer, "prompt", lambda _, default, **__: next(left) or default)

    return give


def several(**changes) -> Question:
    given = {"option": "--vpc", "text": "Which?", "choices": VPC.choices, "several": True}
    return Question(**{**given, **changes})


def test_choices_are_numbered_and_explained(answers, capsys) -> None:
    answers("1")
    ask_in_terminal(VPC)
    assert "   1. vpc-1  training\n   2. vpc-2\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "value"), [("1", "vpc-1"), ("vpc-1", "vpc-1"), ("", "vpc-2"), (" 3 ", "new")]
)
def test_an_answer_is_a_number_a_value_or_enter(answers, text: str, value: str) -> None:
    answers(text)
    assert ask_in_terminal(VPC) == (value,)


def test_a_wrong_answer_is_explained_and_asked_again(answers, capsys) -> None:
    answers("9", "1,2", "2")
    assert ask_in_terminal(VPC) == ("vpc-2",)
    said = capsys.readouterr().err
    assert "9: give a number or a value of the list" in said
    assert "give one answer" in said


def test_several_answers_are_separated_by_commas(answers) -> None:
    answers("2, vpc-1,2")
    assert ask_in_terminal(several()) == ("vpc-2", "vpc-1")


def test_an_answer_that_does_not_fit_the_others_is_asked_again(answers, capsys) -> None:
    answers("1", "1,2")
    question = several(fault=lambda values: "two are needed" if len(values) < 2 else None)
    assert ask_in_terminal(question) == ("vpc-1", "vpc-2")
    assert "two are needed" in capsys.readouterr().err


def test_without_a_terminal_the_default_is_the_answer() -> None:
    defaults = Defaults()
    question = Question(option="--nodes", text="How many?", default=("2",))
    assert defaults(question) == ("2",)
    assert defaults.missing == []


def test_without_a_terminal_and_a_default_the_option_is_missing_with_its_choices() -> None:
    defaults = Defaults()
    assert defaults(VPC) is None
    (missing,) = defaults.missing
    assert missing.path == "--vpc"
    assert missing.allowed == "vpc-1 (training); vpc-2"
    assert missing.remedy == "add it, for example `--vpc vpc-2`"
