"""What became of every field of a source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from trainyard.components.config.keys import path_of
from trainyard.components.secret_documents import shareable, value_in
from trainyard.importing.key_table import KeyTable
from trainyard.importing.placeholders import is_placeholder
from trainyard.importing.source import Document, Location, leaves, plain, text_of

Fate = Literal["taken over", "taken over better", "implied", "dropped", "not supported"]
"""`taken over`: the stack file says the same. `taken over better`: it says something that works
where the source would not. `implied`: the stack is so without a key. `dropped`: it has no effect
here. `not supported`: the stack cannot have it; the reason says what to do."""

FATES: tuple[Fate, ...] = ("taken over", "taken over better", "implied", "dropped", "not supported")


class FateRow(NamedTuple):
    """What becomes of a key that the conversion does not read, and of all keys below it."""

    fate: Fate
    why: str
    """The reason; for `not supported`, also what to do."""


class UnclaimedFieldError(RuntimeError):
    """A field of the schema is neither read nor in the table of its format: a bug."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What became of a value, and of everything below it that has no claim of its own."""

    location: Location
    fate: Fate
    ours: Location = ()
    """Key in the stack file, relative to `trainyard:cluster`; empty without one."""
    why: str = ""
    rule: str = ""
    """Rule of `docs/rules.md` that the source breaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A field of the source in the report."""

    location: Location
    line: int
    """Line in the file; 0 for an answer of the account, whose location begins with the call."""
    value: Any
    """The value; hidden if it looks like a secret."""
    claim: Claim
    file: str = ""
    """Name of its file, if that is not the document itself."""

    def as_json(self) -> dict[str, Any]:
        """Return the entry as plain JSON."""
        claim = self.claim
        values = {
            "field": text_of(self.location),
            "file": self.file,
            "line": self.line or "",
            "value": self.value,
            "fate": claim.fate,
            "key": path_of(claim.ours) if claim.ours else "",
            "why": claim.why,
            "rule": claim.rule,
        }
        return {name: value for name, value in values.items() if value != ""}


@dataclass(slots=True)
class Report:
    """The claims of a conversion, in the order in which they were made."""

    claims: dict[Location, Claim] = field(default_factory=dict[Location, Claim])
    origins: dict[Location, Location] = field(default_factory=dict[Location, Location])
    """Place in the source by the key of the stack file that comes from it."""
    _below: dict[Location, list[Location]] = field(default_factory=dict[Location, list[Location]])
    """The places of claims by every place that they are part of."""
    notes: list[str] = field(default_factory=list[str])
    """What the source says without a field, such as a default that differs."""
    others: list[tuple[Document, Report]] = field(default_factory=list["tuple[Document, Report]"])
    """Further files with values of the source, such as those of parameters."""

    def claim(self, claim: Claim) -> None:
        """Record what became of a value; the first claim of a value is kept."""
        if claim.location not in self.claims:
            self.claims[claim.location] = claim
            for end in range(len(claim.location) + 1):
                self._below.setdefault(claim.location[:end], []).append(claim.location)
        if claim.ours:
            self.origins.setdefault(claim.ours, claim.location)

    def has_claim(self, location: Location) -> bool:
        """Return whether a value, or something that it is a part of, has a claim."""
        return any(location[:end] in self.claims for end in range(len(location), 0, -1))

    def claims_at(self, location: Location) -> list[Claim]:
        """Return the claims of a value: of it and its parts, or else of what it is a part of."""
        size = len(location)
        found = [self.claims[at] for at in self._below.get(location, ())]
        above = (self.claims.get(location[:end]) for end in range(size - 1, 0, -1))
        return found or [claim for claim in above if claim is not None][:1]

    def entries(
        self,
        document: Document,
        keys: KeyTable,
        fates: Mapping[tuple[str, ...], FateRow],
        file: str = "",
    ) -> list[Entry]:
        """Return every field of a document with its claim, then those of further files.

        Raises:
            UnclaimedFieldError: a field has neither a claim nor a row in the table of its format.
        """
        root = document.root
        shared = shareable(plain(root))
        return [
            Entry(
                location=location,
                line=node.line,
                value=value_in(shared, location),
                claim=self.claim_of(location, node.value, fates, keys.keys_of(root, location)),
                file=node.file.name if node.file else file,
            )
            for location, node in leaves(root)
        ] + [
            entry
            for other, report in self.others
            for entry in report.entries(other, keys, {}, str(other.path))
        ]

    def claim_of(
        self,
        location: Location,
        value: Any,
        fates: Mapping[tuple[str, ...], FateRow],
        keys: tuple[str, ...],
    ) -> Claim:
        """Return what became of a value.

        Raises:
            UnclaimedFieldError: it has neither a claim nor a row in the table of its format.
        """
        for end in range(len(location), 0, -1):
            found = self.claims.get(location[:end])
            if found is not None:
                return found
        for end in range(len(keys), 0, -1):
            row = fates.get(keys[:end])
            if row is not None:
                return Claim(location=location, fate=row.fate, why=row.why)
        if value in (None, "", {}, []):
            return Claim(location=location, fate="implied", why="it is empty")
        if any(map(is_placeholder, location)):
            why = "its key is a placeholder: write the key"
            return Claim(location=location, fate="not supported", why=why)
        raise UnclaimedFieldError(f"{text_of(location)} is not in the report")

    def origin_of(self, ours: Location) -> Location | None:
        """Return the place in the source from which a key comes, or the nearest key above it."""
        parts = (ours[:end] for end in range(len(ours), 0, -1))
        return next((self.origins[part] for part in parts if part in self.origins), None)


def counted(entries: list[Entry]) -> Iterator[str]:
    """Yield the number of fields of each fate: `12 taken over`."""
    for fate in FATES:
        count = sum(entry.claim.fate == fate for entry in entries)
        if count:
            yield f"{count} {fate}"
