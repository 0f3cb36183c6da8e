"""The tables of `docs/faults.md`, generated from the tables that the tests run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sandbox.faults.kinds import KINDS
from tests.support.faults.places import FATAL, PLACES, SURVIVED, Place


def tables() -> dict[str, str]:
    """Return each table by its name on the page."""
    return {"kinds": _kinds(), "places": _places()}


def _kinds() -> str:
    rows = [
        (f"`{name}`", kind.summary, ", ".join(f"`{key}`" for key in sorted(kind.keys)))
        for name, kind in KINDS.items()
    ]
    return _table(("`happens`", "What happens", "Keys of its own"), rows)


def _places() -> str:
    tried = [name for name, *_ in SURVIVED] + list(FATAL)
    rows = [
        (
            f"`{place.token.partition(':')[2].rpartition(':')[0]}`",
            f"`{place.call}`",
            ", ".join(kind for kind in tried if place.has(kind) and _survived(kind, place)),
            ", ".join(kind for kind in tried if place.has(kind) and not _survived(kind, place)),
            place.lost_answer.value + (f" (`{place.code}`)" if place.code else ""),
        )
        for place in PLACES
    ]
    head = ("Type", "Call", "Survived", "Ends with AWS's error", "A lost answer")
    return _table(head, rows)


def _survived(kind: str, place: Place) -> bool:
    return kind not in FATAL and (kind != "not-found-yet" or place.looked_for_again)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
