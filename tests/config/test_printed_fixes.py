"""Every command of a printed fix solves its problem."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.corpus.case import Case, broken
from tests.support.printed_fixes import problems_of, unsolved
from tests.support.stacks import stack_config

OFFLINE = [case for case in broken() if case.stage in {"schema", "plan"}]
STACKS = ("p5-cb", "pc-gpu", "pc-trn1", "batch-p4d", "vpc-multi-az")


@pytest.mark.parametrize("case", OFFLINE, ids=lambda case: case.name)
def test_commands_of_fixes_of_the_corpus_solve_their_problems(case: Case) -> None:
    assert list(unsolved(case.raw, case.stack_file)) == []


@pytest.mark.parametrize("stack", STACKS)
def test_commands_of_fixes_of_generated_mistakes_solve_their_problems(stack: str) -> None:
    raw = stack_config(stack)["trainyard:cluster"]
    stack_file = f"Pulumi.{stack}.yaml"
    assert not problems_of(raw, stack_file)
    left = [
        f"{path} = {value!r}: {each}"
        for path, value, wrong in mistakes(raw)
        for each in unsolved(wrong, stack_file)
    ]
    assert "\n".join(left) == ""


def mistakes(raw: dict[str, Any]) -> Iterator[tuple[str, object, dict[str, Any]]]:
    """Yield the path and the wrong value of each single mistake in a file."""
    for place, value in leaves(raw):
        for wrong in wrong_values(value):
            changed = copy.deepcopy(raw)
            target: Any = changed
            for part in place[:-1]:
                target = target[part]
            target[place[-1]] = wrong
            yield ".".join(map(str, place)), wrong, changed


def leaves(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, Any]]:
    items: Any = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        if isinstance(inner, dict | list):
            yield from leaves(inner, (*place, key))
        else:
            yield (*place, key), inner


def wrong_values(value: Any) -> list[Any]:
    """Return typing and copying errors for a value, and forms of other tools' syntax."""
    if isinstance(value, bool):
        return ["yes", "off", str(value), 1]
    if isinstance(value, int):
        return [-1, 0, 45, 10**6, f"{value}", f"{value} GB", value + 0.5]
    text = str(value)
    return [
        text.upper(),
        f" {text} ",
        f'"{text}"',
        text.replace("-", "\u2013"),
        text.replace("-", "_"),
        text.replace("a", "\u0430"),
        text[:-1],
        text + "x",
        text[:1] + text[2:],
        "",
        7,
        True,
    ]
