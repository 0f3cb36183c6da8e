"""Reads `fixture.yaml`."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FIXTURE_FILE = Path(__file__).with_name("fixture.yaml")

_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


@cache
def fixture() -> dict[str, Any]:
    """Return the parsed fixture file; callers must not modify it."""
    # libyaml is several times faster, and every command of the sandbox reads the file.
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = FIXTURE_FILE.read_text(encoding="utf-8")
    return yaml.load(text, Loader=loader)  # noqa: S506 - both loaders are safe ones


def moment(relative: str, start: datetime) -> datetime:
    """Return the time that `-1d`, `+6h` or `+35m` means, counted from the start of the sandbox.

    Raises:
        ValueError: `relative` is not of that form.
    """
    match = re.fullmatch(r"([+-])(\d+)([mhd])", relative)
    if match is None:
        raise ValueError(
            f"{FIXTURE_FILE.name}: {relative!r} is not a time; write a sign, a number and m, h or "
            "d, counted from the start of the sandbox: -1d, +35m"
        )
    sign, number, unit = match.groups()
    return start + timedelta(**{_UNITS[unit]: int(f"{sign}{number}")})
