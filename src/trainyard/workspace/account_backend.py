"""The user's Pulumi backend: its login, the passphrase of a stack, and a stack that it lacks."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from trainyard.cli import console, failures
from trainyard.workspace.backend_login import (
    PASSPHRASE,
    PASSPHRASE_FILE,
    lacks_passphrase,
    require_login,
)
from trainyard.workspace.missing_stack import init_arguments

if TYPE_CHECKING:
    from trainyard.stack_files.stack_files import StackFile
    from trainyard.workspace.workspace import Workspace


def backend_variables(stack_file: StackFile) -> Mapping[str, str]:
    """Return the variables without which the engine would ask for the passphrase.

    Commands run the engine several times, so the user is asked once per command.

    Raises:
        NotLoggedInError: there is no login.
        WrongUseError: there is no passphrase, and no terminal to ask for it.
    """
    backend = require_login(os.environ, stack_file.project_directory)
    if not lacks_passphrase(stack_file.content, backend=backend, environment=os.environ):
        return {}
    stack = stack_file.stack
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise failures.WrongUseError(
            f"a passphrase encrypts the secrets of {stack}, and there is no terminal to ask for "
            f"it; set {PASSPHRASE}, or set {PASSPHRASE_FILE} to the path of a file with it"
        )
    is_new = not stack_file.content.get("encryptionsalt")
    console.progress(
        f"a passphrase encrypts the secrets of {stack} in its state and its stack file. Set "
        f"{PASSPHRASE} or {PASSPHRASE_FILE} to run commands without this question"
    )
    given: str = typer.prompt(
        f"Passphrase of {stack}",
        default="",
        show_default=False,
        hide_input=True,
        confirmation_prompt=is_new,
        err=True,
    )
    return {PASSPHRASE: given}


def offer_stack(workspace: Workspace) -> None:
    """Create the stack in the backend if the user agrees.

    Raises:
        CancelledError: the user does not agree.
    """
    stack = workspace.stack_file.stack
    if not typer.confirm(
        f"Your Pulumi backend has no stack {stack}. Create it?", default=True, err=True
    ):
        raise failures.CancelledError(f"{stack} was not created; nothing was changed")
    workspace.command.output([*init_arguments(workspace.stack_file), "--no-select"])
    console.progress(f"created stack {stack} in your Pulumi backend")
