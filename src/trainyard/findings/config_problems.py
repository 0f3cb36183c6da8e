"""Convert problems of a stack file (schema, plan, account) into findings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from trainyard.components.config.problems import ROOT, ConfigError, Problem
from trainyard.findings.finding import Finding, Level, Stage
from trainyard.findings.positions import Positions, parts_of
from trainyard.stack_files.stack_files import StackFile

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
    """Return a finding for every problem of a rejected stack file."""
    positions = Positions(stack_file.path)
    return [_finding(problem, stack_file, stage, positions) for problem in error.problems]


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
