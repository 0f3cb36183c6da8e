"""Apply the printed fix of a problem to the stack file: its commands, or what it says in words."""

from __future__ import annotations

import copy
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import yaml

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
_ALTERNATIVE = re.compile(
    r"; or |, or (?=\w+:? ?(?:pulumi|set|change|give|raise|reduce|use))|; with |; if "
)
_RENAMED = re.compile(r"rename (?:it|this entry)(?:, for example)? to `([^`]+)`")
_SET = re.compile(
    r"set `(?P<path>trainyard:[^`]+)` in \S+ ?"
    r"(?:to your own value for `(?P<own>\w+)`|for example to `(?P<value>[^`]+)`)"
)
_LIST = re.compile(r"set (?P<key>\w+): (?P<value>\[.*\]) and remove (?P<gone>\w+)")
OWN_VALUES = {"ZONE": "us-west-2a"}
"""What a user gives for a value that only users know."""
OWN_DIGITS = "0123456789abcdef0"
"""The digits of an id that a fix shows as `cr-…`."""
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
    place, key = _place(raw, command["path"])
    if command["verb"] == "rm":
        place.pop(key) if isinstance(place, list) and isinstance(key, int) else place.pop(key, None)
        return
    value = " ".join(shlex.split(command["value"] or "''"))
    _put(place, key, typed(value.replace("…", OWN_DIGITS)))


def left_after_one_round(raw: Any, stack_file: str, judge: Judge = problems_of) -> list[Problem]:
    """Return what is still wrong after the fix of every problem was made once, as it is printed."""
    changed = copy.deepcopy(raw)
    for problem in judge(raw, stack_file):
        _apply_first_way(changed, problem)
    return judge(changed, stack_file)


def _apply_first_way(raw: Any, problem: Problem) -> None:
    """Make the first change that a fix offers, with a value of the user's where it has none."""
    first = _ALTERNATIVE.split(problem.remedy)[0]
    renamed = _RENAMED.match(first)
    if renamed:
        place, key = _place(raw, problem.path)
        place[renamed[1]] = place.pop(key)
        return
    commands = list(_COMMAND.finditer(first))
    if commands or _in_words(raw, problem, first):
        for command in commands:
            _apply(raw, command)
        return
    # A way that needs no decision of the user.
    for command in list(_COMMAND.finditer(problem.remedy))[:1]:
        _apply(raw, command)


def _in_words(raw: Any, problem: Problem, fix: str) -> bool:
    said = _SET.match(fix)
    if said and (said["value"] or said["own"] in OWN_VALUES):
        place, key = _place(raw, said["path"])
        value = typed(said["value"] or OWN_VALUES[said["own"]])
        _put(place, key, value)
        return True
    listed = _LIST.match(fix)
    if listed:
        place, _ = _place(raw, problem.path)
        place[listed["key"]] = yaml.safe_load(listed["value"])
        place.pop(listed["gone"])
    return listed is not None


def _place(raw: Any, path: str) -> tuple[Any, Any]:
    """Return the mapping or list that has a key, and the key."""
    first, *parents, key = parts_of(path)
    assert first == ROOT
    place = raw
    for part, following in pairwise([*parents, key]):
        if isinstance(place, Mapping) and part not in place:
            place[part] = [] if isinstance(following, int) else {}
        place = place[part]
    return place, key


def _put(place: Any, key: Any, value: object) -> None:
    if isinstance(place, list) and key == len(place):
        place.append(value)
    else:
        place[key] = value


def values_already_there(raw: Any, stack_file: str) -> Iterator[str]:
    """Yield the fixes that set a key to the value that it has."""
    for problem in problems_of(raw, stack_file):
        for command in _COMMAND.finditer(problem.remedy):
            before, after = copy.deepcopy(raw), copy.deepcopy(raw)
            _apply(after, command)
            if command["verb"] == "set" and before == after:
                yield f"{problem.path}: {command[0]}"
