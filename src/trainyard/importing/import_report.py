"""The report of `import` for a terminal: what differs by block, or every field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.cli import console
from trainyard.components.config.problems import show
from trainyard.importing.imported import Imported
from trainyard.importing.report import FATES, Entry, Fate
from trainyard.importing.source import Location, text_of

_DIFFERENT: tuple[Fate, ...] = ("taken over better", "not supported")
"""What a reader has to know of: the stack is not what the file says."""


def show_report(imported: Imported, *, every: bool) -> None:
    """Print what the notes say, and the fields of a document with their lines.

    Args:
        imported: The document.
        every: Whether to print each field; otherwise the blocks of which the stack differs.
    """
    console.note(f"{imported.document.path}: {imported.format.title}")
    for note in imported.report.notes:
        console.note(f"\nnote: {note}")
    for fate in FATES if every else _DIFFERENT:
        entries = [entry for entry in imported.entries if entry.claim.fate == fate]
        if entries:
            console.note(f"\n{fate} ({len(entries)})")
            for line in _lines(entries, every=every):
                console.note(line)
    others = sum(entry.claim.fate not in _DIFFERENT for entry in imported.entries)
    if others and not every:
        console.note(f"\n{others} other fields are so in the stack; `--all` lists them")


def _lines(entries: Sequence[Entry], *, every: bool) -> Iterator[str]:
    """Yield the fields or blocks; those with the same reason one after the other, below it."""
    for why in dict.fromkeys(entry.claim.why for entry in entries):
        same = [entry for entry in entries if entry.claim.why == why]
        rules = ", ".join(sorted({entry.claim.rule for entry in same if entry.claim.rule}))
        if why:
            yield f"  {why}{f' (rule {rules})' if rules else ''}"
        yield from map(_line, same) if every else _blocks(same)


def _blocks(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield a line for each field, or for several fields of one block."""
    blocks: dict[tuple[str, Location], list[Entry]] = {}
    for entry in entries:
        at = entry.claim.location if len(entry.claim.location) < len(entry.location) else ()
        blocks.setdefault((entry.file, at or entry.location[:-1]), []).append(entry)
    for (_, block), found in blocks.items():
        if len(found) == 1 or not block:
            yield from map(_line, found)
        else:
            yield f"{_place(found[0])}{text_of(block)}: {len(found)} fields"


def _line(entry: Entry) -> str:
    ours = ".".join(map(str, entry.claim.ours))
    arrow = f" -> {ours}" if ours else ""
    value = show(entry.value if isinstance(entry.value, str) else str(entry.value))
    return f"{_place(entry)}{text_of(entry.location)}: {value}{arrow}"


def _place(entry: Entry) -> str:
    file = f"{entry.file}, " if entry.file else ""
    line = f"{file}line {entry.line}: " if entry.line else ""
    return f"    {line}"
