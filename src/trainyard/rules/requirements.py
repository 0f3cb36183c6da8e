"""What must hold for a training cluster on AWS, and where each of it is enforced.

An entry of `src/trainyard/rules/requirements/*.yaml` has the id (a letter for the field, and a
number), and under it:

- `holds`: what must hold, one sentence;
- `severity`: `low`, `medium`, `high` or `critical`, as in the policy pack;
- `why`, `fix`;
- `sources`: URLs; `owner/repository#number` is a thread on GitHub;
- `enforced`: by stage, `path/of/module:name` of what enforces it. Rules of the policy pack are not
  named here: each says in its tags what it enforces;
- `left_out`: why none of these stages enforces it, where none does;
- `lint`: the highest level at which `lint` reports it, by the format of the file, or `all`; `none`
  where it is a limit of stacks, or holds otherwise in that tool;
- `note`: what else there is to say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from trainyard.components.package_data import data_text

FOLDER = Path(__file__).parent / "requirements"

STAGES: Mapping[str, str] = {
    "schema": "the schema of stack files refuses it",
    "plan": "the plan of a stack refuses it",
    "made": "what the stack makes is so",
    "preflight": "the check of the account refuses it",
    "policy": "a rule of the policy pack judges it",
    "job": "the jobs that the program writes are so",
    "up": "`up` waits for it",
}
"""Every stage that can enforce something, in the order in which they come."""

_THREAD = re.compile(r"(?P<repository>[\w.-]+/[\w.-]+)#(?P<number>\d+)")
# libyaml parses several times faster, and is not in every build of PyYAML.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One thing that must hold."""

    id: str
    field: str
    """Name of its file without letter and suffix, such as `efa`."""
    holds: str
    severity: str
    why: str
    fix: str
    sources: tuple[str, ...]
    """URLs."""
    enforced: Mapping[str, tuple[str, ...]]
    """`path/of/module:name` by stage."""
    left_out: str
    """Why no stage but the pack enforces it; empty where one does."""
    lint: Mapping[str, str]
    """`none`, `note` or `warning` by the name of a format, or `all`; an error for others."""
    note: str

    def level_in(self, format_name: str) -> str:
        """Return the highest level of a finding in files of a format; `none` for no finding."""
        return self.lint.get(format_name, self.lint.get("all", "error"))


@cache
def requirements() -> Mapping[str, Requirement]:
    """Return every requirement by its id, in the order of the files."""
    return {
        name: _requirement(name, path.stem.partition("-")[2], entry)
        for path in sorted(FOLDER.glob("*.yaml"))
        for name, entry in yaml.load(data_text(path), Loader=_LOADER).items()  # noqa: S506 - a safe loader
    }


def _requirement(name: str, field: str, entry: Mapping[str, Any]) -> Requirement:
    return Requirement(
        id=name,
        field=field.replace("-", " "),
        holds=entry["holds"],
        severity=entry["severity"],
        why=entry["why"],
        fix=entry["fix"],
        sources=tuple(_url(source) for source in entry["sources"]),
        enforced={stage: tuple(names) for stage, names in entry.get("enforced", {}).items()},
        left_out=entry.get("left_out", ""),
        lint=entry.get("lint", {}),
        note=entry.get("note", ""),
    )


def _url(source: str) -> str:
    thread = _THREAD.fullmatch(source)
    if thread is None:
        return source
    return f"https://github.com/{thread['repository']}/issues/{thread['number']}"


def stages_of(requirement: Requirement, *, in_pack: bool) -> tuple[str, ...]:
    """Return the stages that enforce a requirement, in their order.

    `in_pack` says whether a rule of the policy pack does.
    """
    found = {*requirement.enforced, *(["policy"] if in_pack else [])}
    return tuple(stage for stage in STAGES if stage in found)
