"""Problems of a stack file as findings, with their lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from trainyard.components.config.problems import ROOT, ConfigError, Problem
from trainyard.stack_files.files import file_text
from trainyard.stack_files.stack_files import StackFile

Stage = Literal["schema", "plan", "preflight", "policy", "engine"]
"""The source: stack file schema, plan, account preflight, policy pack, or engine and program."""
Level = Literal["error", "warning", "note"]
"""The levels of SARIF 2.1.0 that findings use, section 3.27.10."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A finding. Missing values are an empty string or None."""

    rule: str
    """Policy name; for other stages, stage and key, such as `schema/network.vpc_id`."""
    stage: Stage
    level: Level
    """`error` if it stops the command."""
    severity: str = ""
    """`low`, `medium`, `high` or `critical`, for a policy."""
    message: str
    """What is wrong, and how to fix it."""
    stack: str
    file: Path
    """Absolute path of the stack file."""
    line: int = 1
    """Line of the key in the stack file, or of the nearest enclosing key; counted from 1."""
    key: str = ""
    """Key in the stack file, such as `trainyard:cluster.network.vpc_id`."""
    resource: str = ""
    """URN of the resource."""
    suppressed: str = ""
    """Reason given in the suppression; empty for a finding that is not suppressed."""


def as_json(finding: Finding) -> dict[str, Any]:
    """Return the finding as plain JSON, without empty values."""
    values = {
        "rule": finding.rule,
        "stage": finding.stage,
        "level": finding.level,
        "severity": finding.severity,
        "message": finding.message,
        "file": str(finding.file),
        "line": finding.line,
        "key": finding.key,
        "resource": finding.resource,
        "suppressed": finding.suppressed,
    }
    return {name: value for name, value in values.items() if value != ""}


_PART = re.compile(r'\.(?P<name>[^.\[]+)|\[(?P<index>\d+)\]|\["(?P<quoted>[^"]*)"\]')
_FIRST = re.compile(r"[^.\[]+")
# libyaml is several times faster, but not every PyYAML build has it.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parts_of(path: str) -> tuple[str | int, ...]:
    """Return the parts of a key such as `trainyard:cluster.tags["cost.center"]`.

    The syntax is that of `pulumi config set --path`, which problem messages use for keys.
    """
    first = _FIRST.match(path)
    return (first.group(), *_steps(path, first.end())) if first else ()


def _steps(path: str, start: int) -> Iterator[str | int]:
    for match in _PART.finditer(path, start):
        index = match.group("index")
        yield int(index) if index is not None else match.group("name") or match.group("quoted")


class Positions:
    """The lines of all keys of a stack file; invalid YAML has none."""

    def __init__(self, path: Path) -> None:
        try:
            # Nodes only: no objects are constructed.
            self._root = yaml.compose(file_text(path), Loader=_LOADER)
        except (OSError, UnicodeDecodeError, yaml.YAMLError):
            self._root = None

    def line_of(self, path: str) -> int:
        """Return the line of a key, from 1; for a missing key, that of the nearest parent."""
        node, line = self._root, 1
        for part in ("config", *parts_of(path)):
            step = _step(node, part)
            if step is None:
                break
            node, line = step
        return line


def _step(node: yaml.Node | None, part: str | int) -> tuple[yaml.Node, int] | None:
    """Return the value at a key or index, with the line of that key or index."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(part):
                return value, key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        found = node.value[part]
        return found, found.start_mark.line + 1
    return None


NAMED = frozenset(
    {
        "compute_environments",
        "compute_resources",
        "environment",
        "gateway_endpoint_ids",
        "job_definitions",
        "labels",
        "minimum_bus_bandwidth_gb_per_second",
        "node_groups",
        "policies",
        "queues",
        "reservations",
        "secrets",
        "settings",
        "slurm_settings",
        "storage",
        "tags",
        "versions",
        "zones",
    }
)
"""Schema keys below which the user chooses the names."""


def rule_of(stage: Stage, path: str) -> str:
    """Return the rule id for a key: its stage and the key, without user-defined names.

    `plan/architecture.node_groups.*.efa_enabled` is the same for every stack and every version of
    the message, so tools can track it across runs.
    """
    first, *rest = parts_of(path)
    generic: list[str] = [] if first == ROOT else [str(first)]
    for before, part in zip([first, *rest], rest, strict=False):
        generic.append("*" if before in NAMED or isinstance(part, int) else str(part))
    return f"{stage}/{'.'.join(generic) or first}"


def problem_findings(error: ConfigError, stack_file: StackFile, stage: Stage) -> list[Finding]:
    """Return a finding for every problem of a rejected stack file.

    Args:
        error: The problems.
        stack_file: The stack file.
        stage: The stage that has rejected it.
    """
    positions = Positions(stack_file.path)
    return [
        _finding(each, stack_file, _stage_of(each, error, stage), positions)
        for each in error.problems
    ]


def _stage_of(problem: Problem, error: ConfigError, stage: Stage) -> Stage:
    if problem in error.of_plan:
        return "plan"
    return "preflight" if problem in error.of_account else stage


def failure_finding(message: str, *, rule: str, stage: Stage, stack: str, file: Path) -> Finding:
    """Return a finding for a file that could not be judged: not readable, no account, no engine."""
    line = re.search(r"\bline (\d+)", message)
    return Finding(
        rule=f"{stage}/{rule}",
        stage=stage,
        level="error",
        message=message,
        stack=stack,
        file=file,
        line=int(line[1]) if line else 1,
    )


def _finding(
    problem: Problem, stack_file: StackFile, stage: Stage, positions: Positions
) -> Finding:
    return Finding(
        rule=rule_of(stage, problem.path),
        stage=stage,
        level="error",
        message=f"{problem.path} {problem.problem}; fix: {problem.remedy}",
        stack=stack_file.stack,
        file=stack_file.path,
        line=positions.line_of(problem.path),
        key=problem.path,
    )


def remark_findings(
    stack_file: StackFile, *, notes: Iterable[str], warnings: Iterable[str]
) -> list[Finding]:
    """Return a finding for every note of a plan and every warning of the preflight."""
    line = Positions(stack_file.path).line_of(ROOT)
    said: list[tuple[Stage, Level, str]] = [
        *(("plan", "note", text) for text in notes),
        *(("preflight", "warning", text) for text in warnings),
    ]
    return [
        Finding(
            rule=f"{stage}/{level}",
            stage=stage,
            level=level,
            message=text,
            stack=stack_file.stack,
            file=stack_file.path,
            line=line,
        )
        for stage, level, text in said
    ]
