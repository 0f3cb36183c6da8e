"""The golden of the change matrix: one table of all stacks, sorted by key."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.changes.bases import NAMES, kind_of
from tests.support.stacks import STACKS

PATH = Path(__file__).parents[2] / "goldens" / "changes.tsv"
HEAD = "architecture\tkey\tchange\tstacks\teffects\n"
ALL = "all"
"""Every stack file of the architecture."""


@dataclass(frozen=True, slots=True, order=True)
class Line:
    """A change of a key, with its effects and the stacks in which it has them."""

    architecture: str
    key: str
    change: str
    effects: tuple[str, ...]
    stacks: tuple[str, ...]
    """In the order of `NAMES`."""


def text_of(lines: Iterable[Line]) -> str:
    """Return the table, sorted."""
    return HEAD + "".join(
        "\t".join(
            (
                line.architecture,
                line.key,
                line.change,
                ", ".join(_shortened(line.architecture, line.stacks)),
                " | ".join(line.effects),
            )
        )
        + "\n"
        for line in sorted(lines)
    )


def read() -> Sequence[Line]:
    """Return the lines of the golden."""
    return [_line(text) for text in PATH.read_text(encoding="utf-8").splitlines()[1:]]


def write(lines: Iterable[Line]) -> None:
    """Write the golden."""
    PATH.write_text(text_of(lines), encoding="utf-8")


def _line(text: str) -> Line:
    architecture, key, change, stacks, effects = text.split("\t")
    named = stacks.split(", ")
    every = {*named, *(stack_files(architecture) if ALL in named else ())}
    return Line(
        architecture,
        key,
        change,
        tuple(effects.split(" | ")),
        tuple(name for name in NAMES if name in every),
    )


def _shortened(architecture: str, stacks: Sequence[str]) -> Sequence[str]:
    every = stack_files(architecture)
    if not set(every) <= set(stacks):
        return stacks
    return [ALL, *(stack for stack in stacks if stack not in every)]


def stack_files(architecture: str) -> Sequence[str]:
    """Return the stack files of an architecture."""
    return [stack for stack in STACKS if kind_of(stack) == architecture]
