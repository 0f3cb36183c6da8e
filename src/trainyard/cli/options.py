"""Arguments and options that several commands share, and the stack file that they select."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from trainyard.cli import console
from trainyard.stack_files.files import (
    refuse_unreadable,
    refuse_unwritable,
    refuse_unwritable_directory,
)
from trainyard.stack_files.stack_files import find_stack_file, stack_names
from trainyard.workspace.accounts import target_of
from trainyard.workspace.target import Target


def input_file(value: str) -> Path:
    """Return the file that an option names.

    Raises:
        FileRefusedError: it cannot be read.
    """
    path = Path(value)
    refuse_unreadable(path)
    return path


def input_path(value: str) -> Path:
    """Return the file or directory that an option names.

    Raises:
        FileRefusedError: it cannot be read.
    """
    path = Path(value)
    refuse_unreadable(path, directory=True)
    return path


def output_file(value: str) -> Path:
    """Return the file to write that an option names; it is tried before the command begins.

    Raises:
        FileRefusedError: it cannot be written.
    """
    path = Path(value)
    refuse_unwritable(path)
    return path


def output_directory(value: str) -> Path:
    """Return the directory to write that an option names; it is tried before the command begins.

    Raises:
        FileRefusedError: no file can be written in it.
    """
    path = Path(value)
    refuse_unwritable_directory(path)
    return path


def complete_stack(incomplete: str) -> list[str]:
    """Return the stacks whose names begin with a text, for a shell."""
    return [name for name in stack_names() if name.startswith(incomplete)]


Stack = Annotated[
    str,
    typer.Argument(help="Name of the stack, such as p5-cb.", autocompletion=complete_stack),
]
Sandbox = Annotated[
    bool, typer.Option("--sandbox", help="Use the sandbox on this machine instead of AWS.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help=(
            "Show the output of Pulumi. It is also written to STACK.COMMAND.log in the .trainyard "
            "directory of the stack or of the sandbox."
        ),
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")]
AsSarif = Annotated[
    bool, typer.Option("--sarif", help="Print the findings as SARIF 2.1.0, for code scanning.")
]
Replace = Annotated[
    list[str] | None,
    typer.Option(
        "--replace",
        metavar="NAME",
        help=(
            "Allow the update to delete this object, as named in the error message. Repeat for "
            "each object."
        ),
    ),
]
Verify = Annotated[
    bool,
    typer.Option(
        "--verify",
        help="Test all nodes with accelerators after the update, as `verify` does.",
    ),
]
PreviewReport = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="FILE",
        parser=output_file,
        help="Also write a report with the changes in a picture.",
    ),
]
ClusterGone = Annotated[
    bool,
    typer.Option(
        "--cluster-gone",
        help=(
            "The EKS cluster was deleted outside Pulumi: remove its objects from the state. Fails "
            "if the account still has the cluster."
        ),
    ),
]
StackFilePath = Annotated[
    Path | None,
    typer.Option(
        "--stack-file",
        metavar="FILE",
        parser=input_file,
        help="Stack file to use instead of Pulumi.<stack>.yaml.",
    ),
]

Group = Annotated[
    str | None, typer.Option("--group", help="EKS: node group. Required if several match.")
]
Namespace = Annotated[
    str | None,
    typer.Option("--namespace", "-n", help="EKS: an existing namespace. Default: default."),
]
Queue = Annotated[
    str | None, typer.Option("--queue", help="Slurm: queue. Required if several match.")
]
ComputeResource = Annotated[
    str | None,
    typer.Option(
        "--compute-resource",
        help="Slurm: compute resource. Required if several of a queue match.",
    ),
]
Definition = Annotated[
    str | None,
    typer.Option("--definition", help="Batch: job definition. Required if several match."),
]
WaitMinutes = Annotated[
    float | None,
    typer.Option(
        "--wait-minutes",
        min=0,
        help="Maximum minutes that the job can wait for its nodes. Default: 30.",
    ),
]


def target(stack: str, *, path: Path | None, sandbox: bool) -> Target:
    """Return the stack and the account that a command selects.

    For the sandbox, the stack's file is completed with the ids of its account.

    Raises:
        StackFileError: the stack or the file does not exist.
    """
    # `Path.resolve` raises an error on circular links.
    found = find_stack_file(stack, path=Path(os.path.realpath(path)) if path else None)
    if sandbox:
        from trainyard.sandboxes.client import missing_reservations

        for sentence in missing_reservations(found.cluster):
            console.progress(f"{found.name}: {sentence}")
    account = target_of(found, sandbox=sandbox).account
    return Target(account.completed(found), account)
