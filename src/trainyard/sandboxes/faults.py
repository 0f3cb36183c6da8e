"""The fault schedule of the running sandbox: set, show, end."""

from __future__ import annotations

import json
import urllib.error
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from trainyard.cli import failures
from trainyard.sandboxes.session import ask
from trainyard.stack_files.files import FileRefusedError, given_bytes


def use_schedule(path: Path, *, add: bool = False) -> list[dict[str, Any]]:
    """Apply the schedule in a file, and return the one that is in force then.

    Args:
        path: The file.
        add: Whether it comes before the previous schedule; otherwise, it replaces that.

    Raises:
        CommandError: no sandbox is running.
        WrongUseError: the file cannot be read, or is not a schedule.
    """
    try:
        text = given_bytes(path)
    except FileRefusedError as error:
        raise failures.WrongUseError(
            f"{error}; give the path of a fault schedule (docs/faults.md)"
        ) from error
    return _ask("POST", text, source=str(path), add=add)


def clear() -> None:
    """End the current schedule.

    Raises:
        CommandError: no sandbox is running.
    """
    _ask("DELETE")


def in_force() -> list[dict[str, Any]]:
    """Return each active entry, with `matched` and `happened`: calls matched and calls faulted.

    Raises:
        CommandError: no sandbox is running.
    """
    return _ask("GET")


def lines(entries: list[dict[str, Any]]) -> list[str]:
    """Return a line of text for each entry."""
    return [_line(entry) for entry in entries]


def _line(entry: dict[str, Any]) -> str:
    shown = {"nth": 1, "times": 1, **entry}
    counted = {key: shown.pop(key) for key in ("matched", "happened")}
    what = shown.pop("happens")
    where = shown.pop("call", "")
    settings = ", ".join(f"{key} {value}" for key, value in shown.items())
    happened = f"occurred {counted['happened']}x"
    return " ".join(filter(None, [where, what, f"({settings}):", happened])) + (
        f" in {counted['matched']} calls" if where else ""
    )


def _ask(
    method: str, body: bytes | None = None, source: str = "", *, add: bool = False
) -> list[dict[str, Any]]:
    query = {"directory": Path(source).resolve().parent} if source else {}
    try:
        return ask(method, f"faults?{urlencode({**query, **({'add': 1} if add else {})})}", body)
    except urllib.error.HTTPError as error:
        message = json.load(error)["message"]
        raise failures.WrongUseError(f"{source} is not a fault schedule:\n{message}") from error
