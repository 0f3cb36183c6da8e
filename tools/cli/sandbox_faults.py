"""The schedule of faults of the running sandbox: put in force, shown, ended."""

from __future__ import annotations

import json
import urllib.error
from pathlib import Path
from typing import Any

from tools.cli import failures
from tools.cli.sandbox_session import ask


def use_schedule(path: Path) -> list[dict[str, Any]]:
    """Put the schedule of a file in force, in place of an earlier one; return it.

    Raises:
        CommandError: no sandbox runs.
        WrongUseError: the file cannot be read, or is no schedule.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise failures.WrongUseError(
            f"cannot read {path}: {error.strerror}; give the path of a schedule of faults "
            "(docs/faults.md)"
        ) from error
    return _ask("POST", text, source=str(path))


def clear() -> None:
    """End the schedule in force.

    Raises:
        CommandError: no sandbox runs.
    """
    _ask("DELETE")


def in_force() -> list[dict[str, Any]]:
    """Return each entry in force, with `matched` and `happened`: calls seen and calls hit.

    Raises:
        CommandError: no sandbox runs.
    """
    return _ask("GET")


def lines(entries: list[dict[str, Any]]) -> list[str]:
    """Return a line for each entry, for people."""
    return [_line(entry) for entry in entries]


def _line(entry: dict[str, Any]) -> str:
    shown = {"nth": 1, "times": 1, **entry}
    counted = {key: shown.pop(key) for key in ("matched", "happened")}
    what = shown.pop("happens")
    where = shown.pop("call", "")
    settings = ", ".join(f"{key} {value}" for key, value in shown.items())
    happened = f"happened {counted['happened']}x"
    return " ".join(filter(None, [where, what, f"({settings}):", happened])) + (
        f" in {counted['matched']} calls" if where else ""
    )


def _ask(method: str, body: bytes | None = None, source: str = "") -> list[dict[str, Any]]:
    try:
        return ask(method, "faults", body)
    except urllib.error.HTTPError as error:
        message = json.load(error)["message"]
        raise failures.WrongUseError(f"{source} is no schedule of faults:\n{message}") from error
