"""`lint`: check files of other tools without an account, and without importing them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from tools.cli import console, failures, options
from tools.cli.check_result import answer_sarif, refuse_two_forms
from tools.findings.config_problems import failure_finding
from tools.findings.finding import Finding
from tools.findings.finding import as_json as finding_as_json
from tools.findings.requirement_texts import requirement_texts
from tools.importing.imported import (
    UnknownFormatError,
    import_file,
    imported_of,
    is_of_another_format,
)
from tools.importing.lint import lint as lint_document
from tools.workspace.yaml_limits import UnreadableYamlError

Files = Annotated[
    list[Path],
    typer.Argument(help="ParallelCluster 3 or eksctl configurations.", metavar="FILE..."),
]
Region = Annotated[str, typer.Option(help="AWS region of files that do not name theirs.")]


def lint(
    files: Files,
    region: Region = "",
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
    read = [path for path in files if not (skip_others and is_of_another_format(path))]
    findings = [finding for path in read for finding in _findings(path, region)]
    if as_sarif:
        answer_sarif(
            "lint",
            findings,
            rules=requirement_texts(),
            directory=Path(os.path.realpath(".")),
        )
    elif as_json:
        console.answer_json([finding_as_json(finding) for finding in findings])
    else:
        _show(read, findings)
    if any(finding.level == "error" for finding in findings):
        raise typer.Exit(failures.WRONG_USE)


def _findings(path: Path, region: str) -> list[Finding]:
    region = region or os.environ.get("AWS_REGION", os.environ.get("AWS_DEFAULT_REGION", ""))
    try:
        read = import_file(path, region=region)
    except (UnreadableYamlError, UnknownFormatError) as error:
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - links stay as they were given
        return [
            failure_finding(
                str(error), rule="unreadable", stage="schema", stack=path.stem, file=absolute
            )
        ]
    return [finding for imported in imported_of(read) for finding in lint_document(imported)]


def _show(files: Sequence[Path], findings: Sequence[Finding]) -> None:
    for path in files:
        of_file = [each for each in findings if each.file == path.absolute()]
        for finding in of_file:
            where = f"{path}:{finding.line}"
            console.note(f"{where}: {finding.level} {finding.rule}: {finding.message}")
        if not of_file:
            console.answer(f"{path}: ok")
