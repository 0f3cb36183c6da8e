"""A finding of a stage, with its location."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

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
