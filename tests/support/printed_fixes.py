"""Apply the commands of a problem's printed fix to the stack file."""

from __future__ import annotations

import copy
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.architectures.preflight import run_preflight
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ROOT, ConfigError, Problem
from trainyard.components.config.wrong_values import typed
from trainyard.findings.finding import parts_of

_COMMAND = re.compile(
    r"pulumi config (?P<verb>set|rm) --stack \S+ --path (?:-- )?'(?P<path>[^']+)'"
    r"(?: (?P<value>'[^']*'|[^\s;,`)]+))?"
)
Judge = Callable[[Any, str], list[Problem]]
NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


def problems_of(raw: Any, stack_file: str) -> list[Problem]:
    """Return the problems of schema and plan, as `check` shows them."""
    try:
        config = load_stack_config(copy.deepcopy(raw), stack_file=stack_file)
        plan_stack(config, stack_file=stack_file, region="us-west-2", now=NOW)
    except ConfigError as error:
        return list(error.problems)
    return []


def problems_of_account(raw: Any, stack_file: str) -> list[Problem]:
    """Return the problems that `check --live` shows, in the default account of AWS clients."""
    try:
        config = load_stack_config(copy.deepcopy(raw), stack_file=stack_file)
        found = run_preflight(
            config, stack_file=stack_file, region="us-west-2", now=datetime.now(UTC)
        )
    except ConfigError as error:
        return list(error.problems)
    return list(found.problems)


def unsolved(raw: Any, stack_file: str, judge: Judge = problems_of) -> Iterator[str]:
    """Yield every problem that the commands of its fix do not solve."""
    for problem in judge(raw, stack_file):
        commands = list(_COMMAND.finditer(problem.remedy))
        if not commands or any("…" in (each["value"] or "") for each in commands):
            continue
        # Alternatives (`; or`) are tried one by one, and steps together.
        ways = [[each] for each in commands] + [commands]
        if not any(_solved(raw, way, problem, stack_file, judge) for way in ways):
            yield f"{problem.path}: {problem.problem}\n    {problem.remedy}"


def _solved(
    raw: Any, commands: list[re.Match[str]], problem: Problem, stack_file: str, judge: Judge
) -> bool:
    changed = copy.deepcopy(raw)
    for command in commands:
        _apply(changed, command)
    left = judge(changed, stack_file)
    said = [(each.path, each.problem) for each in left]
    return (problem.path, problem.problem) not in said


def _apply(raw: Any, command: re.Match[str]) -> None:
    first, *parents, key = parts_of(command["path"])
    assert first == ROOT
    place = raw
    for part in parents:
        if isinstance(place, Mapping) and part not in place:
            place[part] = {}
        place = place[part]
    if command["verb"] == "rm":
        place.pop(key) if isinstance(place, list) and isinstance(key, int) else place.pop(key, None)
        return
    value = typed(" ".join(shlex.split(command["value"] or "''")))
    if isinstance(place, list) and key == len(place):
        place.append(value)
    else:
        place[key] = value
