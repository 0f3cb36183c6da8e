"""Read files of other tools into stack files with a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from trainyard.components.config.problems import ROOT as CLUSTER
from trainyard.components.config.provider_settings import REGION_KEY
from trainyard.components.plain_text import fill
from trainyard.importing.draft import StackDraft, plain_name
from trainyard.importing.formats import (
    CLUSTER_IN_TEMPLATE,
    FORMATS,
    Conversion,
    Format,
    documents_of,
    format_of,
    why_unread,
)
from trainyard.importing.key_table import ShapeProblem
from trainyard.importing.reading import node_of, refuse_other_form
from trainyard.importing.report import Claim, Entry, Reader, Report
from trainyard.importing.source import (
    MOST_ENTRIES,
    Document,
    ExcessError,
    Location,
    Node,
    child,
    leaves,
    long_collections,
    plain,
    text_of,
    without,
)
from trainyard.stack_files.files import opened_file
from trainyard.stack_files.installation import INSTALLATION
from trainyard.stack_files.yaml_limits import UnreadableYamlError
from trainyard.stack_files.yaml_reader import yaml_text

_GROUPS = (
    *("aws_eks_cluster", "aws_eks_node_group", "aws_launch_template"),
    *("eks", "eks-managed-node-group", "self-managed-node-group"),
)
"""Blocks of Terraform of which each is looked for among the others."""
_MOST_OF_MARKS = 30_000_000
"""Characters of a file that cannot be read among which its marks are looked for."""


class UnknownFormatError(Exception):
    """No document of a file has a format that can be read; the message names the formats."""


class NothingReadError(UnknownFormatError):
    """A file has a format that can be read, and nothing that is; the text has the way instead."""


@dataclass(frozen=True)
class Imported:
    """A document that was read into a stack file."""

    document: Document
    format: Format
    stack: StackDraft
    report: Report
    problems: Sequence[ShapeProblem]
    """Where the document breaks the schema of its format; a wrong kind of value is not read."""

    @property
    def is_partial(self) -> bool:
        """Whether values of the document were not read, because they are of the wrong kind."""
        return any(problem.key == "wrong-kind" for problem in self.problems)

    @property
    def is_empty(self) -> bool:
        """Whether nothing of the document becomes a part of a stack."""
        claims = self.report.claims.values()
        return not any(claim.ours and claim.ours != ("name",) for claim in claims)

    @property
    def summary(self) -> str:
        """What was read, for the user: the format, and how many fields the document has."""
        if self.is_empty:
            return f"nothing that trainyard knows in this {self.format.title}"
        number = sum(1 for _ in leaves(self.document.root))
        return f"{self.format.title}, {number} {'field' if number == 1 else 'fields'}"

    @cached_property
    def conversion(self) -> Conversion:
        """The conversion of the format."""
        return self.format.conversion()

    @cached_property
    def entries(self) -> list[Entry]:
        """Every field of the document with what became of it, in the order of the document."""
        return self.report.entries(
            self.document, self.conversion.KEYS, self.conversion.OUTCOMES.rows
        )


@dataclass(frozen=True)
class Unread:
    """A document of another kind in a file that has one to read."""

    document: Document
    why: str


def import_file(
    path: Path,
    *,
    name: str = "",
    region: str = "",
    parameters: Sequence[Document] = (),
    read_file: Callable[[Path], list[Document]] = documents_of,
) -> list[Imported | Unread]:
    """Return what became of each document of a file. A document can have `problems`.

    Args:
        path: The file.
        name: Name of the stack; by default that of the cluster in the file, or of the file.
        region: Region of the stack if the file names none.
        parameters: Files with values of parameters of a template.
        read_file: Returns the documents of a file.

    Raises:
        UnreadableYamlError: the file is not valid, or it has no document that can be read because
            a file of its directory is not.
        NothingReadError: the documents have formats that can be read, and nothing that is.
        UnknownFormatError: no document has a format that can be read.
    """
    refuse_other_form(path)
    documents = read_file(path)
    problems = [problem for document in documents for problem in document.problems]
    read = [
        each
        for document in documents
        for each in _read_all(document, name=name, region=region, parameters=parameters)
    ]
    if not any(isinstance(each, Imported) for each in read):
        if problems:
            raise UnreadableYamlError("\n".join(problem.message for problem in problems))
        refused = "; ".join(dict.fromkeys(filter(None, map(why_unread, documents))))
        if refused:
            raise NothingReadError(f"{path}: {refused}")
        titles = ", ".join(each.title for each in FORMATS)
        why = f": it {read[0].why}" if read and isinstance(read[0], Unread) else ""
        raise UnknownFormatError(
            f"{path}: has no format that can be read{why}; these can: {titles}"
        )
    return read


def is_of_another_format(
    path: Path, read_file: Callable[[Path], list[Document]] = documents_of
) -> bool:
    """Return whether a file has no format that can be read, judged by its text if it is no YAML."""
    try:
        documents = read_file(path)
    except UnreadableYamlError:
        return _has_no_mark(path)
    if any(problem.file == path for document in documents for problem in document.problems):
        return _has_no_mark(path)
    return all(format_of(document) is None for document in documents)


def _has_no_mark(path: Path) -> bool:
    try:
        with opened_file(path) as file:
            text = file.read(_MOST_OF_MARKS).decode("utf-8", "replace")
    except OSError:
        return False  # reading it says why
    return not any(mark in text for each in FORMATS for mark in each.marks)


def _read_all(
    document: Document, *, name: str, region: str, parameters: Sequence[Document]
) -> Iterator[Imported | Unread]:
    """Yield what became of a document, and of the clusters in a template."""
    resources = child(document.root, "Resources")
    objects = resources.value if resources is not None else None
    kinds = [child(each, "Type") for each in objects.values()] if isinstance(objects, dict) else []
    clusters: list[Document] = []
    if any(kind is not None and kind.value == CLUSTER_IN_TEMPLATE for kind in kinds):
        from trainyard.importing.cloudformation.clusters import (
            clusters_in,  # the functions of a template, for those that have clusters
        )

        clusters = [*clusters_in(document, parameters=parameters, region=region)]
    yield _read(document, f"{name}-network" if name and clusters else name, region, parameters)
    for cluster in clusters:
        yield _read(cluster, name, region, ())


def _read(
    document: Document, name: str, region: str, parameters: Sequence[Document]
) -> Imported | Unread:
    found = format_of(document)
    if found is None:
        refused = why_unread(document)
        if refused:
            return Unread(document, refused)
        kind = document.at("kind")
        what = f"`kind: {kind}`" if isinstance(kind, str) else "a document of another kind"
        return Unread(document, f"is {what}, which configures no cluster: apply it yourself")
    return imported_as(found, document, name=name, region=region, parameters=parameters)


def imported_as(
    found: Format,
    document: Document,
    *,
    name: str,
    region: str,
    parameters: Sequence[Document] = (),
    guess: bool = False,
) -> Imported:
    """Return what becomes of a document of a format.

    Args:
        found: The format.
        document: The document.
        name: Name of the stack; by default that of the cluster, or of the file.
        region: Region of the stack if the document names none.
        parameters: Files with values of parameters of a template.
        guess: Truth of the conditions of a template that depend on values that are not known.

    Raises:
        UnreadableYamlError: it exceeds a limit.
    """
    conversion = found.conversion()
    problems = conversion.KEYS.problems(document.root)
    named = name or _as_name(document.name or conversion.name_of(document))
    named = named or _as_name(document.path.stem)
    stack = StackDraft(name=named or "imported", region=region, parameters=parameters, guess=guess)
    report = Report(notes=[document.note] if document.note else [])
    wrong = {problem.location for problem in problems if problem.key == "wrong-kind"}
    root = without(document.root, wrong) if wrong else document.root
    try:
        _refuse_long(document, found)
        conversion.convert(Reader(root, (), report), stack)
        _refuse_long_values(stack.completed(), "becomes a stack with")
    except ExcessError as error:
        raise UnreadableYamlError(
            f"{document.path}: {error}; split or simplify it and retry"
        ) from error
    return Imported(document, found, stack, report, problems)


def _refuse_long(document: Document, found: Format) -> None:
    """Refuse lists and mappings that take too long to convert; a plan has thousands of objects."""
    if found.name != "terraform":
        _refuse_long_values(plain(document.root), "has")
        return
    numbers = Counter(node.section for node in document.root.value.values())
    for section, number in numbers.items():
        if number > MOST_ENTRIES and section in _GROUPS:
            raise ExcessError(_too_long("has", number, (section,)))


def _refuse_long_values(value: Any, verb: str) -> None:
    for at, number in long_collections(value):
        raise ExcessError(_too_long(verb, number, at))


def _too_long(verb: str, number: int, at: Location) -> str:
    where = f"`{text_of(at)}`" if at else "the document itself"
    return f"{verb} {number} entries in {where}, and {MOST_ENTRIES} is the maximum"


def _as_name(text: str) -> str:
    """Return a text as the name of a cluster: lowercase letters, digits and hyphens."""
    return plain_name(text).lstrip("-0123456789")[:40].rstrip("-")


def imported_of(read: Sequence[Imported | Unread]) -> Iterator[Imported]:
    """Yield the documents that were read."""
    return (each for each in read if isinstance(each, Imported))


_WIDTH = 100
_FIRST = ("kind", "name", "tags", "network", "reservations", "storage", "architecture")
"""Keys in the order in which stack files have them; other scalars come before other sections."""


def stack_file_text(imported: Imported, *, command: str) -> str:
    """Return the text of a stack file, with a comment at each key that works better.

    Args:
        imported: The document that was read.
        command: The command that makes the same file.
    """
    stack = imported.stack
    config: dict[str, Any] = {REGION_KEY: stack.region} if stack.region else {}
    content = {"config": {**config, CLUSTER: _ordered(stack.values)}}
    lines = yaml_text(content).splitlines()
    comments = dict(_comments(imported, node_of("\n".join(lines))))
    written = [*_header(imported, command)]
    for number, line in enumerate(lines, 1):
        margin = line[: len(line) - len(line.lstrip())]
        written += [f"{margin}# {each}" for each in _folded(comments.get(number, ""), len(margin))]
        written.append(line)
    return "".join(f"{line}\n" for line in written)


def _header(imported: Imported, command: str) -> Iterator[str]:
    schema = INSTALLATION.documents / "schema" / "stack.schema.json"
    yield f"# yaml-language-server: $schema={schema}"
    yield "#"
    title = f"{imported.stack.name}: from {imported.document.path.name}, {imported.format.title}."
    yield from (f"# {line}" for line in _folded(f"{title} Made by:", 0))
    yield "#"
    yield f"#   {command}"
    yield "#"
    yield f"# Every key is explained in {INSTALLATION.documents / 'config.md'}."


def _ordered(value: Any) -> Any:
    """Return sections with their keys in the order of reading."""
    if isinstance(value, list):
        return [_ordered(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: _ordered(value[key]) for key in sorted(value, key=lambda key: _rank(key, value))}


def _rank(key: str, section: dict[str, Any]) -> tuple[int, int]:
    if key in _FIRST:
        return 0, _FIRST.index(key)
    return 1, isinstance(section[key], dict)


def _comments(imported: Imported, root: Node) -> Iterator[tuple[int, str]]:
    """Yield a line of the stack file and the comment above it."""
    for claim in imported.report.claims.values():
        if claim.fate == "taken over better" and claim.ours:
            yield from ((line, _sentence(claim)) for line in _line_of(claim, root))


def _line_of(claim: Claim, root: Node) -> Iterator[int]:
    node: Node | None = root
    for part in ("config", CLUSTER, *claim.ours):
        node = child(node, part)
    if node is not None:
        yield node.line


def _sentence(claim: Claim) -> str:
    return f"{text_of(claim.location)} of the source: {claim.why}."


def _folded(text: str, margin: int) -> list[str]:
    return fill(text, _WIDTH - margin - len("# "), "").splitlines() if text else []
