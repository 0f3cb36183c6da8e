"""The verdict on each row of the reference architectures, kept on the test that proves it.

A row that is `same` or `better` is a decorated test: without an assertion there is no row. A row
that is `not applicable` proves nothing and gives the reason. `docs/parity-eks.md` is generated from
both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, Literal

Verdict = Literal["same", "better", "not applicable"]
Test = Callable[..., None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row: a feature of the reference, and its counterpart."""

    id: str
    """Such as `EKS-05`."""
    reference: str
    """The feature of the reference, in a few words."""
    verdict: Verdict
    why: str
    """For `better` and `not applicable` the reason; for `same` empty, or its location."""
    proof: str = ""
    """Name of the test that proves it."""


def same(row: str, reference: str, *, why: str = "") -> Callable[[Test], Test]:
    """Mark the test that proves that a row is the same as in the reference."""
    return _marks(Row(id=row, reference=reference, verdict="same", why=why))


def better(row: str, reference: str, *, why: str) -> Callable[[Test], Test]:
    """Mark the test that proves that a row is better than in the reference."""
    return _marks(Row(id=row, reference=reference, verdict="better", why=why))


def not_applicable(row: str, reference: str, *, why: str) -> Row:
    """Return a row that has no counterpart here."""
    return Row(id=row, reference=reference, verdict="not applicable", why=why)


def rows_of(module: Any) -> list[Row]:
    """Return the rows of a test module: those of its tests, and its `NOT_APPLICABLE`."""
    marked = [row for value in vars(module).values() for row in getattr(value, "parity_rows", ())]
    return [*marked, *getattr(module, "NOT_APPLICABLE", ())]


def _marks(row: Row) -> Callable[[Test], Test]:
    def mark(test: Test) -> Test:
        rows = (*getattr(test, "parity_rows", ()), replace(row, proof=test.__name__))
        test.parity_rows = rows  # pyright: ignore[reportFunctionMemberAccess]
        return test

    return mark


def counted(rows: Iterable[Row]) -> Mapping[Verdict, int]:
    """Return the number of rows with each verdict."""
    counts: dict[Verdict, int] = {"same": 0, "better": 0, "not applicable": 0}
    for row in rows:
        counts[row.verdict] += 1
    return counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A document that is generated from the rows of test modules."""

    introduction: str
    """The text before the tables, from the heading on."""
    stacks: str
    """The stack for each reference, as a table."""
    modules: Mapping[str, tuple[ModuleType, list[str]]]
    """By the title of each group: the tests, and the rows that they must contain."""

    def groups(self) -> Mapping[str, list[Row]]:
        """Return the rows of each group, in the order of the reference."""
        return {
            title: sorted(rows_of(module), key=lambda row: expected.index(row.id))
            for title, (module, expected) in self.modules.items()
        }

    def text(self) -> str:
        """Return the whole page."""
        by_group = self.groups()
        parts = [self.introduction, self.stacks, "\n".join(_count_lines(by_group))]
        for title, rows in by_group.items():
            parts.append(f"## {title}\n\n" + "\n".join(_row_lines(rows)))
        return "\n".join(f"{part}\n" for part in (p.rstrip("\n") for p in parts))


def _count_lines(by_group: Mapping[str, Iterable[Row]]) -> Iterator[str]:
    yield "| Rows | same | better | not applicable |"
    yield "|---|---|---|---|"
    for title, rows in by_group.items():
        yield f"| {title} | {' | '.join(str(n) for n in counted(rows).values())} |"
    everything = [row for rows in by_group.values() for row in rows]
    yield f"| All | {' | '.join(str(n) for n in counted(everything).values())} |"


def _row_lines(rows: Iterable[Row]) -> Iterator[str]:
    yield "| Row | Reference | Verdict | Why | Test |"
    yield "|---|---|---|---|---|"
    for row in rows:
        proof = f"`{row.proof}`" if row.proof else ""
        yield f"| {row.id} | {row.reference} | {row.verdict} | {row.why} | {proof} |"
