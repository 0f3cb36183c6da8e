"""One thing that a stage found, with the place that it is about."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Stage = Literal["schema", "plan", "preflight", "policy", "engine"]
"""What found it: the stack file's schema, its plan, the account, the policy pack, the program."""
Level = Literal["error", "warning", "note"]
"""The three levels of SARIF 2.1.0 that a result of ours can have, section 3.27.10."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding. What it does not have is an empty string or None."""

    rule: str
    """Name of the policy; for another stage that and the key, such as `schema/network.vpc_id`."""
    stage: Stage
    level: Level
    """`error` for what stops the command."""
    severity: str = ""
    """`low`, `medium`, `high` or `critical`, for a policy."""
    message: str
    """What is wrong, and how to mend it."""
    stack: str
    file: Path
    """The stack file, absolute."""
    line: int = 1
    """Line of the key in the stack file, or of the nearest key around it; counted from 1."""
    key: str = ""
    """Key in the stack file, such as `trainyard:cluster.network.vpc_id`."""
    resource: str = ""
    """URN of the resource."""
    suppressed: str = ""
    """Why it counts as accepted, in the words of the suppression; empty for one that counts."""


def as_json(finding: Finding) -> dict[str, Any]:
    """Return the finding as plain JSON, without what it does not have."""
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
