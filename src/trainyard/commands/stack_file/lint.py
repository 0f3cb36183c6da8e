"""`lint`: check files of other tools without an account, and without importing them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from trainyard.checks.check_result import answer_sarif, refuse_two_forms
from trainyard.cli import console, failures, options
from trainyard.components.config.problems import nearest
from trainyard.findings.finding import Finding, failure_finding
from trainyard.findings.finding import as_json as finding_as_json
from trainyard.findings.requirement_texts import requirement_texts
from trainyard.findings.sarif import RuleText
from trainyard.importing.cloudformation.template import NoParametersError, parameter_files_among
from trainyard.importing.formats import documents_of, source_of
from trainyard.importing.imported import (
    NothingReadError,
    UnknownFormatError,
    import_file,
    imported_of,
    is_of_another_format,
)
from trainyard.importing.lint import lint as lint_document
from trainyard.importing.source import Document
from trainyard.stack_files.yaml_limits import UnreadableYamlError

Files = Annotated[
    list[Path],
    typer.Argument(
        help="Files of ParallelCluster 3, eksctl, Terraform or CloudFormation.",
        metavar="FILE...",
    ),
]
Parameters = Annotated[
    list[Path] | None,
    typer.Option(
        "--parameters",
        help="File with parameters of the templates, as for `aws cloudformation`; repeatable.",
        metavar="FILE",
        parser=options.input_file,
    ),
]
Region = Annotated[str, typer.Option(help="AWS region of files that do not name theirs.")]
Ignored = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        help="Leave out the findings of this rule, such as A6; repeatable.",
        metavar="RULE",
    ),
]
_OF_KEYS = ("schema/", "plan/")
"""Prefixes of the rules of findings that belong to no rule of `docs/rules.md`."""


def lint(
    files: Files,
    region: Region = "",
    parameters: Parameters = None,
    ignore: Ignored = None,
    skip_others: Annotated[
        bool,
        typer.Option(
            "--skip-others", help="Skip files of other formats, such as Kubernetes manifests."
        ),
    ] = False,
    as_json: options.AsJson = False,
    as_sarif: options.AsSarif = False,
) -> None:
    """Check files of other tools: the rules of a stack file, in the keys and lines of the file."""
    refuse_two_forms(as_json=as_json, as_sarif=as_sarif)
    ignored = _known(ignore or [])
    files, given = split_files(files, parameters)
    linter = _Linter(region, given)
    all_found = {
        path: linter.findings(path)
        # The files of a directory follow each other, so that only one has to be kept.
        for path in sorted(files, key=lambda path: path.parent)
        if not (skip_others and is_of_another_format(path, linter.documents))
    }
    found = {
        path: [each for each in all_found[path] if each.rule not in ignored]
        for path in files
        if path in all_found
    }
    findings = [finding for of_path in found.values() for finding in of_path]
    if as_sarif:
        answer_sarif(
            "lint",
            findings,
            rules=_texts(findings, linter),
            directory=Path(os.path.realpath(".")),
        )
    elif as_json:
        console.answer_json([finding_as_json(finding) for finding in findings])
    else:
        _show(found, linter.summaries)
    if any(finding.level == "error" for finding in findings):
        raise typer.Exit(failures.WRONG_USE)


_YAML = "https://yaml.org/spec/1.2.2/"


def _texts(findings: Sequence[Finding], linter: _Linter) -> dict[str, RuleText]:
    """Return the text of every rule; the help of one of a schema is the reference of its format."""
    texts = requirement_texts()
    for finding in findings:
        if finding.rule not in texts:
            url = linter.references.get(finding.file, _YAML)
            kind = finding.rule.partition("/")[2]
            summary = _OF_SCHEMA.get(kind, f"What {kind} says works in AWS and in its own tool.")
            texts[finding.rule] = RuleText(summary=summary, url=url)
    return texts


_OF_SCHEMA = {
    "unknown-key": "Every key is one of the schema of the format.",
    "wrong-kind": "Every value has the kind that the schema of the format has for its key.",
    "wrong-value": "Every value has the type that the schema of the format has for its key.",
    "unreadable": "The file can be read.",
    "not-read": "What a file has that is not checked is named.",
}
"""Summaries of the rules `schema/…`."""


def _known(rules: Sequence[str]) -> frozenset[str]:
    known = requirement_texts()
    for rule in rules:
        if rule in known or rule.startswith(_OF_KEYS):
            continue
        near = nearest(rule, tuple(known))
        hint = f"did you mean {near}? " if near else ""
        raise failures.WrongUseError(
            f"--ignore: there is no rule {rule!r}; {hint}`./trainyard explain` lists all rules"
        )
    return frozenset(rules)


def split_files(
    files: list[Path], parameters: list[Path] | None
) -> tuple[list[Path], list[Document]]:
    """Return the files to read, and the parameter files for them.

    Raises:
        WrongUseError: a file of `--parameters` is no parameter file.
    """
    try:
        return parameter_files_among(files, parameters or [])
    except NoParametersError as error:
        raise failures.WrongUseError(str(error)) from error


@dataclass(slots=True)
class _Linter:
    """Finds the problems of files; those of a directory of Terraform are read once, together."""

    region: str
    parameters: Sequence[Document]
    _documents: tuple[Path, list[Document]] | None = None
    """What was read last, and where it is."""
    _findings: tuple[Path, list[Finding]] | None = None
    """The findings of what was read last, and where it is."""
    references: dict[Path, str] = field(default_factory=dict[Path, str])
    """Address of the reference of its format, by file."""
    summaries: dict[Path, str] = field(default_factory=dict[Path, str])
    """What was read, by where it is."""

    def documents(self, path: Path) -> list[Document]:
        """Return the documents of a file."""
        source = source_of(path)
        if self._documents is None or self._documents[0] != source:
            self._documents = (source, documents_of(path))
        return self._documents[1]

    def findings(self, path: Path) -> list[Finding]:
        """Return the findings about a file."""
        source = source_of(path)
        if self._findings is None or self._findings[0] != source:
            try:
                self._findings = (source, self._all_findings(path))
            except NothingReadError as error:
                absolute = Path(os.path.abspath(path))  # noqa: PTH100 - links stay as given
                return [_not_read(str(error), absolute)]
            except (UnreadableYamlError, UnknownFormatError) as error:
                absolute = Path(os.path.abspath(path))  # noqa: PTH100 - as above
                return [_unreadable(str(error), absolute)]
        # A file of Terraform is read with its directory, and has findings of its own.
        own = (path.absolute(), Path(os.path.abspath(path)))  # noqa: PTH100 - as above
        return [each for each in self._findings[1] if path.is_dir() or each.file in own]

    def _all_findings(self, path: Path) -> list[Finding]:
        read = import_file(
            path, region=self.region, parameters=self.parameters, read_file=self.documents
        )
        problems = [problem for each in read for problem in each.document.problems]
        found = [_unreadable(each.message, each.file.absolute()) for each in problems]
        for imported in imported_of(read):
            of_document = lint_document(imported)
            self.references |= {each.file: imported.format.url for each in of_document}
            found += of_document
        summaries = dict.fromkeys(each.summary for each in imported_of(read))
        self.summaries[source_of(path)] = ", ".join(summaries)
        return found


def _not_read(message: str, file: Path) -> Finding:
    """Return the note about a file with nothing that is read, which is no fault of it."""
    return replace(_unreadable(message, file), rule="schema/not-read", level="note")


def _unreadable(message: str, file: Path) -> Finding:
    return failure_finding(message, rule="unreadable", stage="schema", stack=file.stem, file=file)


def _show(found: Mapping[Path, Sequence[Finding]], summaries: Mapping[Path, str]) -> None:
    for path, findings in found.items():
        for finding in findings:
            file = os.path.relpath(finding.file) if path.is_dir() else path
            where = f"{file}:{finding.line}"
            console.note(f"{where}: {finding.level} {finding.rule}: {finding.message}")
        if not findings:
            console.answer(f"{path}: ok: {summaries.get(source_of(path), '')}")
