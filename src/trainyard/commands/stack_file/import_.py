"""`import`: write a stack file from a file of another tool or from a cluster of the account."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from trainyard.cli import console, failures, options
from trainyard.commands.stack_file.lint import Parameters, Region, split_files
from trainyard.components.config.problems import ConfigError
from trainyard.importing.formats import without_siblings
from trainyard.importing.import_report import show_report
from trainyard.importing.imported import (
    Imported,
    UnknownFormatError,
    Unread,
    import_file,
    stack_file_text,
)
from trainyard.importing.live.clusters import WantedCluster
from trainyard.importing.live_cluster import read_from_account
from trainyard.importing.report import counted
from trainyard.importing.source import Document, text_of
from trainyard.init.new_stack import new_stack_directory, write_new_stack
from trainyard.init.question import Defaults
from trainyard.stack_files.stack_config import plan_of
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.stack_files.yaml_limits import UnreadableYamlError
from trainyard.workspace.accounts import account_of

Name = Annotated[str, typer.Option(help="Name of the stack and of its cluster.")]


Files = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Files of ParallelCluster 3, eksctl, Terraform or CloudFormation.",
        metavar="[FILE...]",
        parser=options.input_path,
    ),
]
Live = Annotated[
    str, typer.Option(metavar="CLUSTER", help="Read this cluster of the account; no file.")
]
Kind = Annotated[str, typer.Option(help="Kind of the cluster of --live, if several have its name.")]
Adopt = Annotated[
    bool,
    typer.Option(
        "--adopt", help="Let the stack of --live own its VPC, file systems or repository."
    ),
]


def import_(
    context: typer.Context,
    files: Files = None,
    live: Live = "",
    kind: Kind = "",
    adopt: Adopt = False,
    name: Name = "",
    region: Region = "",
    parameters: Parameters = None,
    every: Annotated[
        bool, typer.Option("--all", help="Report every field, not only what differs.")
    ] = False,
    sandbox: options.Sandbox = False,
    as_json: options.AsJson = False,
) -> None:
    """Write a stack file from a file of another tool, and report what is different in it."""
    only_live = {"--kind": bool(kind), "--adopt": adopt, "--sandbox": sandbox}
    _refuse_no_source(files, live, [option for option, given in only_live.items() if given])
    if live:
        account = account_of(sandbox=sandbox)
        read = [
            read_from_account(
                WantedCluster(live, name, adopt),
                account,
                kind=kind,
                region=region,
                reader=context.obj or account.reader,
            )
        ]
    else:
        paths, given = split_files(without_siblings(files or ()), parameters)
        read = [each for path in paths for each in _read(path, name, region, given)]
    documents = [each for each in read if isinstance(each, Imported)]
    imported = [each for each in documents if each.is_partial or not each.is_empty]
    _refuse_several(imported, name)
    _refuse_unknown(documents)
    _refuse_none(documents, imported, every=every)
    paths = _new_paths(imported)
    for each, path in zip(imported, paths, strict=True):
        command = _command(each, live, name, region) + (" --adopt" if adopt else "")
        write_new_stack(path, stack_file_text(each, command=command))
    problems = [_check(each, path) for each, path in zip(imported, paths, strict=True)]
    written = list(zip(imported, paths, problems, strict=True))
    ignored = [each for each in read if isinstance(each, Unread)]
    if as_json:
        console.answer_json(
            {
                "stacks": [_as_json(*each) for each in written],
                "ignored": [{"file": str(i.document.path), "why": i.why} for i in ignored],
            }
        )
        return
    for each in ignored:
        console.note(f"{each.document.path}, document {each.document.index + 1}: {each.why}")
    _show_reports(documents, written, every=every)


def _show_reports(
    documents: Sequence[Imported],
    written: Sequence[tuple[Imported, Path, ConfigError | None]],
    *,
    every: bool,
) -> None:
    """Print the reports of documents without a stack, and then those of the others."""
    made = [each for each, _, _ in written]
    for each in documents:
        if each not in made:
            show_report(each, every=every)
            console.note("nothing of it becomes part of a stack\n")
    for each, path, error in written:
        show_report(each, every=every)
        _show_result(each, path, error)


def _refuse_no_source(files: list[Path] | None, live: str, only_live: Sequence[str]) -> None:
    if bool(files) == bool(live):
        raise failures.WrongUseError(
            "name files, or a cluster of the account with --live"
            + (", not both" if live else "; `./trainyard import --help` lists the options")
        )
    if not live and only_live:
        raise failures.WrongUseError(f"{only_live[0]} is for --live, which reads an account")


def _read(
    path: Path, name: str, region: str, parameters: Sequence[Document]
) -> list[Imported | Unread]:
    try:
        read = import_file(path, name=name, region=region, parameters=parameters)
    except UnknownFormatError as error:
        raise failures.WrongUseError(str(error)) from error
    problems = [problem.message for each in read for problem in each.document.problems]
    if problems:
        raise UnreadableYamlError("\n".join(problems))
    return read


def _refuse_none(documents: list[Imported], imported: list[Imported], *, every: bool) -> None:
    """Show the reports and end, if nothing became a part of a stack."""
    if imported or not documents:
        return
    for each in documents:
        show_report(each, every=every)
    raise failures.WrongUseError("nothing of it becomes part of a stack, so none was written")


def _refuse_several(imported: list[Imported], name: str) -> None:
    names = [each.stack.name for each in imported]
    of_template = len({each.document.path for each in imported}) == 1 and any(
        each.document.within for each in imported
    )
    if name and len(imported) > 1 and not (of_template and len({*names}) == len(names)):
        raise failures.WrongUseError(
            f"--name is for one cluster, and these files have {len(imported)}; import them one by "
            "one"
        )
    twice = sorted({each for each in names if names.count(each) > 1})
    if twice:
        raise failures.WrongUseError(
            f"two clusters would have the name {twice[0]}; import them one by one, with --name"
        )


def _refuse_unknown(imported: list[Imported]) -> None:
    found = [
        f"{each.document.path}, line {problem.line}: {text_of(problem.location)} "
        f"{problem.problem}; {problem.remedy}"
        for each in imported
        for problem in each.problems
        if problem.key != "wrong-value"  # the check of the stack file says what is wrong
    ]
    if found:
        raise failures.WrongUseError("\n".join([*found, "nothing was written"]))


def _new_paths(imported: list[Imported]) -> list[Path]:
    """Return the paths of the stack files.

    Raises:
        WrongUseError: one of them exists.
        FileRefusedError: they cannot be written.
    """
    directory = new_stack_directory(Defaults(), yes=True)
    assert directory is not None  # noqa: S101 - `yes` has a default
    paths = [directory / f"Pulumi.{each.stack.name}.yaml" for each in imported]
    for path in paths:
        if os.path.lexists(path):
            raise failures.WrongUseError(
                f"{path} exists, and `import` never overwrites a file; choose another name with "
                "--name, or delete it"
            )
    return paths


def _command(imported: Imported, live: str, name: str, region: str) -> str:
    document = imported.document
    source = f"--live {shlex.quote(live)}" if live else shlex.quote(str(document.path))
    region = region or (imported.stack.region if live else "")
    given = f" --name {shlex.quote(name)}" if name else ""
    given += f" --region {shlex.quote(region)}" if region else ""
    paths = dict.fromkeys(str(each.path) for each in imported.stack.parameters)
    given += "".join(f" --parameters {shlex.quote(path)}" for path in paths)
    return f"./trainyard import {source}{given}"


def _check(imported: Imported, path: Path) -> ConfigError | None:
    """Return why `check` refuses the stack file, or None."""
    try:
        plan_of(find_stack_file(imported.stack.name, path=path))
    except ConfigError as error:
        return error
    return None


def _as_json(imported: Imported, path: Path, error: ConfigError | None) -> dict[str, Any]:
    return {
        "file": str(imported.document.path),
        "format": imported.format.name,
        "stack": imported.stack.name,
        "stack_file": str(path),
        "fields": [entry.as_json() for entry in imported.entries],
        "notes": imported.report.notes,
        "check": {"ok": error is None, "text": "" if error is None else str(error)},
    }


def _show_result(imported: Imported, path: Path, error: ConfigError | None) -> None:
    console.answer(f"{path}: {', '.join(counted(imported.entries))}")
    if error is None:
        console.answer(f"{imported.stack.name}: ok")
        console.answer(f"next:\n  ./trainyard check {imported.stack.name} --live")
        return
    console.answer("`check` still refuses it; each problem has its fix:")
    console.answer(str(error).partition("\n\n")[2])
