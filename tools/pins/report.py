"""The report: the state of every pin, as a table and as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tools.pins import EksAddon, EksAmi, EksVersions, Pin, numbers
from tools.pins.newest import PERMISSIONS, Answer, Support, support


class State(StrEnum):
    """The state of a pin, most urgent first."""

    STRAY = "places disagree"
    ENDED = "support ended"
    ENDING = "support ends soon"
    BEHIND = "behind"
    UNKNOWN = "not looked up"
    CURRENT = "current"


URGENT = (State.STRAY, State.ENDED, State.ENDING, State.BEHIND)
"""The states that make ``--check`` fail."""

_WIDE = 160
"""Console width at which names and places do not wrap."""

_MOST_NAMES = 8
"""Maximum number of pins to name per reason; the table has all of them."""

_STYLES: Mapping[State, str] = {
    State.STRAY: "bold red",
    State.ENDED: "bold red",
    State.ENDING: "yellow",
    State.BEHIND: "yellow",
    State.UNKNOWN: "dim",
    State.CURRENT: "green",
}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A pin, its newest version and the resulting state."""

    pin: Pin
    answer: Answer
    support: Support
    state: State
    days_left: int | None = None

    def words(self) -> str:
        """Return the state as text."""
        if self.state is State.STRAY:
            others = ", ".join(
                f"{place.file}:{place.line} has {place.version}" for place in self.pin.strays
            )
            return f"{self.state}: {others}"
        if self.state is State.ENDING:
            return f"support ends in {self.days_left} days"
        return str(self.state)

    def document(self) -> dict[str, object]:
        """Return the finding as JSON-compatible data."""
        return {
            "pin": self.pin.name,
            "places": [
                {"file": place.file, "line": place.line, "version": place.version}
                for place in self.pin.places
            ],
            "pinned": self.pin.version,
            "newest": self.answer.newest,
            "support_ends": self.support.ends.isoformat() if self.support.ends else None,
            "support_days_left": self.days_left,
            "state": str(self.state),
            "not_looked_up": self.answer.reason or None,
            "notes": _notes(self),
        }


def findings(pins: Mapping[str, Pin], answers: Mapping[str, Answer], today: date) -> list[Finding]:
    """Return the finding of each pin, in the order of the pins."""
    return [_finding(pin, answers[name], today) for name, pin in pins.items()]


def _finding(pin: Pin, answer: Answer, today: date) -> Finding:
    supported = support(pin, answer.newest, today)
    days_left = supported.days_left(today)
    if pin.strays:
        state = State.STRAY
    elif supported.ended:
        state = State.ENDED
    elif days_left is not None:
        state = State.ENDING
    elif answer.newest is None:
        state = State.UNKNOWN
    elif pin.floor or not _behind(pin.version, answer.newest):
        state = State.CURRENT
    else:
        state = State.BEHIND
    return Finding(pin=pin, answer=answer, support=supported, state=state, days_left=days_left)


def _behind(pinned: str, newest: str) -> bool:
    if len(pinned) == len(newest) == 40:  # commits have no order
        return pinned != newest
    return numbers(newest) > numbers(pinned)


def show(found: Sequence[Finding], console: Console) -> None:
    """Print the table, the failed lookups with reasons, and what an account could answer."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("Pin", "Where", "Pinned", "Newest", "Support ends", "State"):
        whole = column in {"Pin", "Where"} and console.width >= _WIDE
        table.add_column(column, overflow="fold", no_wrap=whole)
    for finding in found:
        table.add_row(*_cells(finding))
    console.print(table)
    for finding in found:
        for note in _notes(finding):
            console.print(f"{escape(finding.pin.name)}: {escape(note)}", soft_wrap=True)
    _show_unknown(found, console)
    _show_permissions(found, console)
    counts = [(state, sum(finding.state is state for finding in found)) for state in State]
    console.print(
        f"{len(found)} pins: " + ", ".join(f"{count} {state}" for state, count in counts if count),
        soft_wrap=True,
    )


def _cells(finding: Finding) -> tuple[str, ...]:
    pin, ends = finding.pin, finding.support.ends
    first, more = pin.places[0], len(pin.places) - 1
    where = f"{first.file}:{first.line}" + (f" and {more} more" if more else "")
    newest = finding.answer.newest or "-"
    cells = (pin.name, where, _brief(pin.version), _brief(newest))
    until = ends.isoformat() if ends else finding.support.words or "-"
    style = _STYLES[finding.state]
    return (*map(escape, cells), until, f"[{style}]{escape(finding.words())}[/]")


def _brief(version: str) -> str:
    """Return a version, or the abbreviated hash of a commit."""
    return version[:10] if len(version) == 40 else version


def _notes(finding: Finding) -> list[str]:
    """Return additional information: the client's message, and the comment in the file."""
    behind = finding.state is not State.CURRENT and finding.answer.newest is not None
    notes = [finding.answer.note, *(place.note for place in finding.pin.places if behind)]
    return [note for note in notes if note]


def _show_unknown(found: Sequence[Finding], console: Console) -> None:
    reasons = dict[str, list[str]]()
    for finding in found:
        if finding.answer.reason:
            reasons.setdefault(finding.answer.reason, []).append(finding.pin.name)
    if reasons:
        console.print("\nNot looked up:")
    for reason, names in reasons.items():
        more = len(names) - _MOST_NAMES
        named = ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
        console.print(f"  {escape(named)}: {escape(reason)}", soft_wrap=True)


def _show_permissions(found: Sequence[Finding], console: Console) -> None:
    needed = {
        PERMISSIONS[type(finding.pin.source)]
        for finding in found
        if isinstance(finding.pin.source, EksVersions | EksAddon | EksAmi)
        and finding.answer.newest is None
    }
    if needed:
        console.print(
            "\nVersions of EKS come from an account: give --region, and credentials (--profile, or "
            f"where the AWS CLI finds them) that allow {', '.join(sorted(needed))}.",
            soft_wrap=True,
        )
