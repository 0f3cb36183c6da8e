"""The report of `import` for a terminal: every field, by what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.cli import console
from trainyard.components.config.problems import show
from trainyard.importing.imported import Imported
from trainyard.importing.report import FATES, Entry
from trainyard.importing.source import text_of


def show_report(imported: Imported) -> None:
    """Print every field of a document with its line."""
    console.note(f"{imported.document.path}: {imported.format.title}")
    for fate in FATES:
        entries = [entry for entry in imported.entries if entry.claim.fate == fate]
        if entries:
            console.note(f"\n{fate} ({len(entries)})")
            for line in _lines(entries):
                console.note(line)
    for note in imported.report.notes:
        console.note(f"\nnote: {note}")


def _lines(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield the fields; those with the same reason one after the other, below it."""
    for why in dict.fromkeys(entry.claim.why for entry in entries):
        same = [entry for entry in entries if entry.claim.why == why]
        rules = ", ".join(sorted({entry.claim.rule for entry in same if entry.claim.rule}))
        if why:
            yield f"  {why}{f' (rule {rules})' if rules else ''}"
        yield from map(_line, same)


def _line(entry: Entry) -> str:
    ours = ".".join(map(str, entry.claim.ours))
    arrow = f" -> {ours}" if ours else ""
    value = show(entry.value if isinstance(entry.value, str) else str(entry.value))
    file = f"{entry.file}, " if entry.file else ""
    line = f"{file}line {entry.line}: " if entry.line else ""
    return f"    {line}{text_of(entry.location)}: {value}{arrow}"
