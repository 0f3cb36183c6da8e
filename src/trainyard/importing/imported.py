"""Read files of other tools into stack files with a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from trainyard.importing.draft import StackDraft, plain_name
from trainyard.importing.excess import MOST_ENTRIES, ExcessError, long_collections
from trainyard.importing.formats import FORMATS, Conversion, Format, documents_of, format_of
from trainyard.importing.key_table import ShapeProblem
from trainyard.importing.other_forms import refuse_other_form
from trainyard.importing.reader import Reader
from trainyard.importing.report import Entry, Report
from trainyard.importing.source import Document, Location, plain, text_of
from trainyard.stack_files.yaml_limits import UnreadableYamlError

_GROUPS = (
    *("aws_eks_cluster", "aws_eks_node_group", "aws_batch_compute_environment"),
    *("aws_batch_job_definition", "aws_batch_job_queue", "aws_vpc", "aws_launch_template"),
    *("eks", "eks-managed-node-group", "self-managed-node-group", "vpc"),
)
"""Blocks of Terraform of which each is looked for among the others."""
_MOST_OF_MARKS = 30_000_000
"""Characters of a file that cannot be read among which its marks are looked for."""


class UnknownFormatError(Exception):
    """No document of a file has a format that can be read; the message names the formats."""


@dataclass(frozen=True)
class Imported:
    """A document that was read into a stack file."""

    document: Document
    format: Format
    stack: StackDraft
    report: Report
    problems: Sequence[ShapeProblem]
    """Where the document breaks the schema of its format; a wrong kind of value is not read."""

    @cached_property
    def conversion(self) -> Conversion:
        """The conversion of the format."""
        return self.format.conversion()

    @cached_property
    def entries(self) -> list[Entry]:
        """Every field of the document with what became of it, in the order of the document."""
        return self.report.entries(self.document, self.conversion.KEYS, self.conversion.FATES)


@dataclass(frozen=True)
class Unread:
    """A document of another kind in a file that has one to read."""

    document: Document
    why: str


def import_file(
    path: Path,
    *others: Path,
    name: str = "",
    region: str = "",
    parameters: Sequence[Document] = (),
    read_file: Callable[[Path], list[Document]] = documents_of,
) -> list[Imported | Unread]:
    """Return what became of each document of a file. A document can have `problems`.

    Args:
        path: The file.
        others: Further files with objects of AWS Batch, which are read as one document.
        name: Name of the stack; by default that of the cluster in the file, or of the file.
        region: Region of the stack if the file names none.
        parameters: Files with values of parameters of a template.
        read_file: Returns the documents of a file.

    Raises:
        UnreadableYamlError: the file is not valid, or it has no document that can be read because
            a file of its directory is not.
        UnknownFormatError: no document has a format that can be read.
    """
    for each in (path, *others):
        refuse_other_form(each)
    documents = [document for each in (path, *others) for document in read_file(each)]
    problems = [problem for document in documents for problem in document.problems]
    if others:
        from trainyard.importing.batch_jobs.joined import joined

        documents = [joined(documents)]
    read = [_read(document, name, region, parameters) for document in documents]
    if not any(isinstance(each, Imported) for each in read):
        if problems:
            raise UnreadableYamlError("\n".join(problem.message for problem in problems))
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
    if not path.is_file():
        return False  # reading it says why
    with path.open(encoding="utf-8", errors="replace") as file:
        text = file.read(_MOST_OF_MARKS)
    return not any(mark in text for each in FORMATS for mark in each.marks)


def _read(
    document: Document, name: str, region: str, parameters: Sequence[Document]
) -> Imported | Unread:
    found = format_of(document)
    if found is None:
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
) -> Imported:
    """Return what becomes of a document of a format.

    Raises:
        UnreadableYamlError: it exceeds a limit.
    """
    conversion = found.conversion()
    problems = conversion.KEYS.problems(document.root)
    named = name or _as_name(conversion.name_of(document)) or _as_name(document.path.stem)
    stack = StackDraft(name=named or "imported", region=region, parameters=parameters)
    report = Report(notes=[document.note] if document.note else [])
    if not any(problem.key == "wrong-kind" for problem in problems):
        try:
            _refuse_long(document, found)
            conversion.convert(Reader(document.root, (), report), stack)
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
