"""Questions that complete the options of `init`, and those who answer them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import typer

from trainyard.components.config.problems import Problem
from trainyard.components.plain_text import fill, legible


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer that is offered."""

    value: str
    explanation: str = ""
    in_terminal_only: bool = False
    """Whether it is no value of the option."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What `init` has to know and no option says."""

    option: str
    """The option that gives the answer, such as `--vpc`."""
    text: str
    """The question."""
    choices: Sequence[Choice] = ()
    """The offered answers; empty for a number or a text."""
    default: tuple[str, ...] | None = None
    """The answer without a terminal; None if the user has to decide."""
    suggested: tuple[str, ...] = ()
    """The answer to Enter in a terminal, if it is not `default`."""
    example: str = ""
    """A value of the option, for the error without a terminal; it is the answer to nothing."""
    several: bool = False
    """Whether the answer can be more than one choice."""
    otherwise: str = ""
    """Another option that makes the question unnecessary, for the error without a terminal."""
    fault: Callable[[Sequence[str]], str | None] = field(default=lambda _answer: None)
    """Returns what is wrong with an answer."""


Ask = Callable[[Question], tuple[str, ...] | None]
"""Returns the answer, or None if there is none; the stack is then designed without it."""


@dataclass(slots=True)
class Defaults:
    """Answers with the defaults, and records what only a user can answer."""

    missing: list[Problem] = field(default_factory=list[Problem])

    def __call__(self, question: Question) -> tuple[str, ...] | None:
        """Return the default, or None after recording the question."""
        if question.default is not None:
            return question.default
        offered = "; ".join(
            f"{choice.value} ({choice.explanation})" if choice.explanation else choice.value
            for choice in question.choices
            if not choice.in_terminal_only
        )
        offers = (choice.value for choice in question.choices)
        values = (*question.suggested, *offers, question.example or "VALUE")
        self.missing.append(
            Problem(
                path=question.option,
                problem="is missing, and nobody is asked without a terminal or with `--yes`: "
                f"{question.text}",
                allowed=offered or None,
                remedy=f"add it, for example `{question.option} {values[0]}`{question.otherwise}",
            )
        )
        return None


def ask_in_terminal(question: Question) -> tuple[str, ...]:
    """Ask the user, with numbered choices, until the answer is valid."""
    default = question.default if question.default is not None else question.suggested
    numbers = {choice.value: str(at) for at, choice in enumerate(question.choices, 1)}
    columns = shutil.get_terminal_size().columns
    typer.echo(f"\n{fill(question.text, columns, '')}", err=True)
    width = max((len(choice.value) for choice in question.choices), default=0)
    for choice in question.choices:
        number_and_value = f"  {numbers[choice.value]:>2}. {choice.value:<{width}}  "
        line = legible(f"{number_and_value}{choice.explanation}".rstrip())
        typer.echo(fill(line, columns, " " * len(number_and_value)), err=True)
    shown = ",".join(numbers.get(value, value) for value in default)
    several = " (several: 1,2)" if question.choices else " (several: with commas)"
    hint = f"{question.option}{several if question.several else ''}"
    while True:
        said = typer.prompt(hint, default=shown or None, err=True)
        answer = tuple(part.strip() for part in str(said).split(",") if part.strip())
        values = tuple(_value(part, question) for part in answer)
        fault = _fault(values, question)
        if fault is None:
            return tuple(dict.fromkeys(values))
        typer.echo(f"  {fault}", err=True)


def _value(answer: str, question: Question) -> str:
    if answer.isascii() and answer.isdecimal() and 1 <= int(answer) <= len(question.choices):
        return question.choices[int(answer) - 1].value
    return answer


def _fault(values: Sequence[str], question: Question) -> str | None:
    if not values:
        return "an answer is needed"
    if len(values) > 1 and not question.several:
        return "give one answer"
    if question.choices:
        offered = [choice.value for choice in question.choices]
        wrong = [value for value in values if value not in offered]
        if wrong:
            return f"{', '.join(wrong)}: give a number or a value of the list"
    return question.fault(values)
