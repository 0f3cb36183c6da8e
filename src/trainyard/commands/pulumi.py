"""`pulumi`: the Pulumi CLI that the launcher provides."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import typer

from trainyard.cli import console, failures, options
from trainyard.engine.environment import account_environment
from trainyard.engine.pulumi_arguments import PRESERVE_CONFIG, PulumiArguments, parse
from trainyard.engine.pulumi_engine import ensure_pulumi
from trainyard.sandboxes.session import running_sandbox
from trainyard.stack_files.files import write_whole
from trainyard.stack_files.installation import PROJECT
from trainyard.stack_files.stack_files import project_directory
from trainyard.workspace.backend import PASSPHRASE, require_login, state_file

_STATE_VERSION, _META_VERSION = 3, 1
"""Versions of an empty state file and of the layout with projects.
https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/backend/diy/meta.go"""


def pulumi(context: typer.Context, sandbox: options.Sandbox = False) -> None:
    """Run the Pulumi CLI of this program, in the directory of the stack file.

    Arguments go to Pulumi: ./trainyard pulumi stack ls. Write -- before options of Pulumi itself:
    ./trainyard pulumi -- --help. Relative paths begin in the directory of the stack file.
    With --sandbox it uses the stacks of the running sandbox.
    """
    asked = parse(context.args)
    directory = project_directory(asked.subject)
    _refuse_loss(asked, directory)
    arguments = asked.preserving_config()
    if arguments != asked.given:
        console.progress(f"added {PRESERVE_CONFIG}: without it, Pulumi deletes the stack file")
    if sandbox:
        command = running_sandbox().pulumi(console.progress)
        if not command.directory.is_dir():
            raise failures.CommandError("the sandbox has no stacks; deploy one with `up --sandbox`")
        _become(command.executable, arguments, command.directory, command.environment)
    if asked.edits_stack_file_only and _has_file(asked.stack, directory):
        raise typer.Exit(_edit_stack_file(arguments, asked.stack, directory))
    if asked.uses_backend:
        require_login(os.environ, directory)
    engine = ensure_pulumi(console.progress)
    environment = account_environment(os.environ, engine=engine.directory)
    _become(engine.executable, arguments, directory, environment)


def _has_file(stack: str, directory: Path) -> bool:
    return (directory / f"Pulumi.{stack}.yaml").is_file()


def _refuse_loss(asked: PulumiArguments, directory: Path) -> None:
    loss = asked.loss()
    if loss:
        raise failures.WrongUseError(loss)
    if asked.new_name and _has_file(asked.new_name, directory):
        raise failures.WrongUseError(
            f"Pulumi.{asked.new_name}.yaml exists, and `stack rename` would replace it with the "
            "file of the renamed stack; choose another name"
        )


def _become(
    program: Path, arguments: Sequence[str], directory: Path, environment: Mapping[str, str]
) -> NoReturn:
    """Replace this process, so that terminal, signals and exit code are Pulumi's own."""
    os.chdir(directory)
    os.execve(program, [str(program), *arguments], dict(environment))  # noqa: S606 - no shell


def _edit_stack_file(arguments: Sequence[str], stack: str, directory: Path) -> int:
    """Set or remove plain values in a stack file, also before a login or `stack init`.

    Pulumi looks the stack up in the backend before it edits the file, so it gets a temporary
    backend that has only this stack. The stack and the login of the user are not used.
    """
    engine = ensure_pulumi(console.progress)
    with tempfile.TemporaryDirectory(prefix="trainyard-backend-") as name:
        backend = Path(name)
        state = state_file(backend, stack)
        state.parent.mkdir(parents=True)
        write_whole(backend / ".pulumi" / "meta.yaml", f"version: {_META_VERSION}\n")
        qualified = f"organization/{PROJECT}/{stack}"
        checkpoint = {"version": _STATE_VERSION, "checkpoint": {"stack": qualified, "latest": None}}
        write_whole(state, json.dumps(checkpoint))
        environment = account_environment(os.environ, engine=engine.directory) | {
            "PULUMI_BACKEND_URL": backend.as_uri(),
            PASSPHRASE: "",
        }
        with _interrupts_left_to_the_child():
            done = subprocess.run(
                [engine.executable, *arguments], cwd=directory, env=environment, check=False
            )
    return done.returncode


@contextlib.contextmanager
def _interrupts_left_to_the_child() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
