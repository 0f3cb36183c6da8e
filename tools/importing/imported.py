"""Read files of other tools into stack files with a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tools.importing.draft import StackDraft, plain_name
from tools.importing.formats import FORMATS, Conversion, Format, documents_of, format_of
from tools.importing.key_table import ShapeProblem
from tools.importing.other_forms import refuse_other_form
from tools.importing.reader import Reader
from tools.importing.report import Entry, Report
from tools.importing.source import Document
from tools.workspace.yaml_limits import UnreadableYamlError


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
) -> list[Imported | Unread]:
    """Return what became of each document of a file.

    Args:
        path: The file.
        others: Further files with objects of AWS Batch, which are read as one document.
        name: Name of the stack; by default that of the cluster in the file, or of the file.
        region: Region of the stack if the file names none.
        parameters: Files with values of parameters of a template.

    Raises:
        UnreadableYamlError: the file is not valid YAML or JSON.
        UnknownFormatError: no document has a format that can be read.
    """
    for each in (path, *others):
        refuse_other_form(each)
    documents = [document for each in (path, *others) for document in documents_of(each)]
    if others:
        from tools.importing.batch_jobs.joined import joined

        documents = [joined(documents)]
    read = [_read(document, name, region, parameters) for document in documents]
    if not any(isinstance(each, Imported) for each in read):
        titles = ", ".join(each.title for each in FORMATS)
        why = f": it {read[0].why}" if read and isinstance(read[0], Unread) else ""
        raise UnknownFormatError(
            f"{path}: has no format that can be read{why}; these can: {titles}"
        )
    return read


def is_of_another_format(path: Path) -> bool:
    """Return whether a file has no format that can be read, judged by its text if it is no YAML."""
    try:
        return all(format_of(document) is None for document in documents_of(path))
    except UnreadableYamlError:
        if not path.is_file():
            return False  # reading it says why
        text = path.read_text(encoding="utf-8", errors="replace")
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
    """Return what becomes of a document of a format."""
    conversion = found.conversion()
    problems = conversion.KEYS.problems(document.root)
    named = name or _as_name(conversion.name_of(document)) or _as_name(document.path.stem)
    stack = StackDraft(name=named or "imported", region=region, parameters=parameters)
    report = Report(notes=[document.note] if document.note else [])
    if not any(problem.key == "wrong-kind" for problem in problems):
        conversion.convert(Reader(document.root, (), report), stack)
    return Imported(document, found, stack, report, problems)


def _as_name(text: str) -> str:
    """Return a text as the name of a cluster: lowercase letters, digits and hyphens."""
    return plain_name(text).lstrip("-0123456789")[:40].rstrip("-")


def imported_of(read: Sequence[Imported | Unread]) -> Iterator[Imported]:
    """Yield the documents that were read."""
    return (each for each in read if isinstance(each, Imported))
