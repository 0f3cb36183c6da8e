"""What became of every field of a source, and the places from which conversions read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from trainyard.components.config.keys import path_of
from trainyard.components.package_data import data_text
from trainyard.components.secret_documents import shareable, value_in
from trainyard.importing.key_table import Keys, KeyTable
from trainyard.importing.source import (
    Document,
    Location,
    Node,
    child,
    is_placeholder,
    leaves,
    node_at,
    plain,
    text_of,
)

Fate = Literal["taken over", "taken over better", "implied", "dropped", "not supported"]
"""`taken over`: the stack file says the same. `taken over better`: it says something that works
where the source would not. `implied`: the stack is so without a key. `dropped`: it has no effect
here. `not supported`: the stack cannot have it; the reason says what to do."""

FATES: tuple[Fate, ...] = ("taken over", "taken over better", "implied", "dropped", "not supported")

_FATES: Mapping[str, Fate] = {each: each for each in FATES}


class OutcomeRow(NamedTuple):
    """What becomes of a key that the conversion does not read, and of all keys below it."""

    fate: Fate
    why: str
    """The reason; for `not supported`, also what to do."""


@dataclass(frozen=True)
class OutcomeTable:
    """What becomes of the keys of one format that its conversion does not read."""

    read: Callable[[], Mapping[Keys, OutcomeRow]]
    """Returns the row of every key, when the first report is made."""

    @cached_property
    def rows(self) -> Mapping[Keys, OutcomeRow]:
        """The row of every key, for it and all keys below it."""
        return self.read()


def outcomes_in(path: Path) -> Mapping[Keys, OutcomeRow]:
    """Return the rows in the file of a table: a fate with its reason, and keys below it."""
    found: dict[Keys, OutcomeRow] = {}
    row = None
    for line in data_text(path).splitlines():
        fate, _, why = line.partition(": ")
        named = _FATES.get(fate)
        if named is not None:
            row = OutcomeRow(named, why)
        elif row is not None:
            found |= dict.fromkeys((tuple(key.split(".")) for key in line.split()), row)
    return found


def outcomes_beside(
    module: str, name: str = "outcomes.txt"
) -> Callable[[], Mapping[Keys, OutcomeRow]]:
    """Return what reads a table in the folder of a module, by its `__file__`."""
    return partial(outcomes_in, Path(module).with_name(name))


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
    is_note: bool = False
    """Whether that depends on what the source does not say, such as the version of its tool."""
    shown: str = ""
    """What the report shows of the value and of all others with the same claim, in one entry for
    all; empty for an entry for each."""


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
    guessed: bool = False
    """Whether a condition of the source depends on a value that is not known."""
    others: list[tuple[Document, Report]] = field(default_factory=list["tuple[Document, Report]"])
    """Further files with values of the source, such as those of parameters."""

    def claim(self, claim: Claim) -> None:
        """Record what became of a value; the first claim of a value is kept."""
        above = (self.claims.get(claim.location[:end]) for end in range(1, len(claim.location)))
        if any(each is not None and each.shown for each in above):
            return
        if claim.location not in self.claims:
            self.claims[claim.location] = claim
            for end in range(len(claim.location) + 1):
                self._below.setdefault(claim.location[:end], []).append(claim.location)
        if claim.ours:
            self.origins.setdefault(claim.ours, claim.location)

    def claim_together(self, locations: Sequence[Location], why: str, shown: str) -> None:
        """Record that none of some values is read, for one entry at the place of the first."""
        for location in locations:
            self.claims[location] = Claim(
                location=locations[0], fate="not supported", why=why, shown=shown
            )

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
        outcomes: Mapping[tuple[str, ...], OutcomeRow],
        file: str = "",
    ) -> list[Entry]:
        """Return every field of a document with its claim, then those of further files.

        Raises:
            UnclaimedFieldError: a field has neither a claim nor a row in the table of its format.
        """
        root = document.root
        shared = shareable(plain(root))
        found: dict[Location, Entry] = {}
        for location, node in leaves(root):
            claim = self.claim_of(location, node.value, outcomes, keys.keys_of(root, location))
            at = claim.location if claim.shown else location
            place = (node_at(root, at) or node) if claim.shown else node
            if at not in found:
                found[at] = Entry(
                    location=at,
                    line=place.line,
                    value=claim.shown or value_in(shared, location),
                    claim=claim,
                    file=place.file.name if place.file else file,
                )
        return [*found.values()] + [
            entry
            for other, report in self.others
            for entry in report.entries(other, keys, {}, str(other.path))
        ]

    def claim_of(
        self,
        location: Location,
        value: Any,
        outcomes: Mapping[tuple[str, ...], OutcomeRow],
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
            row = outcomes.get(keys[:end])
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


_FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
"""Text that ParallelCluster and YAML 1.1 read as a boolean."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A place in the source, which may have no value."""

    node: Node | None
    location: Location
    report: Report

    def at(self, *keys: str | int) -> Reader:
        """Return the place below this one."""
        node, location = self.node, self.location
        for key in keys:
            node = child(node, key)
            computed = None if node is None else node.origin
            location = (*location, key) if computed is None else computed
        return Reader(node, location, self.report)

    @property
    def exists(self) -> bool:
        """Whether the source has a value here other than null."""
        return self.node is not None and self.node.value is not None

    @property
    def value(self) -> Any:
        """The plain value; None without one."""
        return None if self.node is None else plain(self.node)

    @property
    def flag(self) -> Any:
        """The value as a boolean, also of text such as `"true"`; another value as it is."""
        value = self.value
        return _FLAGS.get(value.lower(), value) if isinstance(value, str) else value

    def items(self) -> Iterator[Reader]:
        """Yield the places of a list."""
        if self.node is not None and isinstance(self.node.value, list):
            for index in range(len(self.node.value)):
                yield self.at(index)

    def entries(self) -> Iterator[tuple[str, Reader]]:
        """Yield the keys of a mapping with their places."""
        if self.node is not None and isinstance(self.node.value, dict):
            for key in self.node.value:
                yield key, self.at(key)

    def claim(
        self,
        fate: Fate,
        why: str = "",
        *,
        ours: Location = (),
        rule: str = "",
        is_note: bool = False,
    ) -> None:
        """Record what becomes of the value and of all values below it, if there is one."""
        if self.node is not None:
            self.report.claim(
                Claim(
                    location=self.location,
                    fate=fate,
                    ours=ours,
                    why=why,
                    rule=rule,
                    is_note=is_note,
                )
            )

    def implied(self, why: str) -> None:
        """Record that the stack is so without a key."""
        self.claim("implied", why)

    def dropped(self, why: str) -> None:
        """Record that the value has no effect in the stack."""
        self.claim("dropped", why)

    def unsupported(self, what_to_do: str, *, rule: str = "", is_note: bool = False) -> None:
        """Record that the stack cannot have the value, and what to do."""
        self.claim("not supported", what_to_do, rule=rule, is_note=is_note)


def whole(source: Reader) -> int | None:
    """Return a value as a whole number, also from a text; None if it is not one."""
    try:
        return None if isinstance(source.value, bool) else int(str(source.value))
    except ValueError:
        return None
