"""Output of the command line: answers to standard output, everything else to standard error.

Texts name commands as in a clone, `./trainyard`; here they become what the reader can type.
"""

from __future__ import annotations

import json
import shutil
import sys
from typing import IO, Any

import typer

from trainyard.components.plain_text import folded, legible
from trainyard.components.secret_documents import hidden
from trainyard.components.typed_command import as_typed


def _for(stream: IO[str], text: str, *, lead: str = "") -> str:
    """Return a text for a person, without the lead that the caller writes with a style."""
    shown = legible(as_typed(f"{lead}{text}"))
    at_terminal = stream.isatty()
    shown = folded(shown, shutil.get_terminal_size().columns) if at_terminal else shown
    return shown.removeprefix(lead)


def note(text: str) -> None:
    """Write a note for a person to standard output."""
    typer.echo(_for(sys.stdout, text))


def answer(text: str) -> None:
    """Write an answer to standard output as formatted text."""
    typer.echo(legible(as_typed(text)))


def answer_document(text: str) -> None:
    """Write a document to standard output, unformatted if that is a file or pipe."""
    text = as_typed(text)
    shown = legible(text) if sys.stdout.isatty() else text
    typer.echo(shown, nl=not shown.endswith("\n"))


def answer_json(value: Any) -> None:
    """Write one JSON document, without secrets, to standard output."""
    typer.echo(as_typed(json.dumps(hidden(value), indent=2, default=str)))


def progress(message: str, /) -> None:
    """Write a progress line to standard error."""
    typer.echo(typer.style("• ", dim=True) + _for(sys.stderr, message, lead="• "), err=True)


def problem(message: str) -> None:
    """Write an error message to standard error."""
    said = _for(sys.stderr, message, lead="error: ")
    typer.echo(typer.style("error: ", fg="red", bold=True) + said, err=True)


def cancelled(message: str) -> None:
    """Write what was done before a command was cancelled to standard error."""
    said = _for(sys.stderr, message, lead="cancelled: ")
    typer.echo(typer.style("cancelled: ", bold=True) + said, err=True)


def at_a_terminal() -> bool:
    """Return whether a user can answer a prompt."""
    return sys.stdin.isatty() and sys.stdout.isatty()
