"""Findings as SARIF 2.1.0, the input format of code scanning.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html; the properties that GitHub
reads:
https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainyard.findings.finding import Finding

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
VERSION = "2.1.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleText:
    """The description of a rule in the document."""

    summary: str
    """One sentence that states the requirement."""
    why: str = ""
    fix: str = ""
    url: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A command and its findings."""

    category: str
    """Such as `check` or `preview/p5-cb`. Code scanning keeps the findings of each category
    separately, and a new upload replaces those of the same category."""
    findings: Sequence[Finding]
    succeeded: bool
    """Whether the command completed; findings alone do not make it fail."""
    root: Path
    """Root of the repository; paths of files below it are relative to it."""
    rules: Mapping[str, RuleText] = field(default_factory=dict)
    """Texts by rule; other rules have only an id."""


_REMARKS = {
    "plan/note": RuleText(
        summary="What the plan of a stack wants its reader to know.",
        fix="Nothing has to change; read the message.",
    ),
    "preflight/warning": RuleText(
        summary="What the account says that may hinder a stack, or could not be asked.",
        fix="Read the message: nothing is refused, and some of it passes by itself.",
    ),
}
"""Texts of the rules in `trainyard.findings.finding.remark_findings`."""


def sarif(run: Run) -> dict[str, Any]:
    """Return the SARIF document of a run."""
    names = list(dict.fromkeys(finding.rule for finding in run.findings))
    return {
        "$schema": SCHEMA,
        "version": VERSION,
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "trainyard",
                        "rules": [_rule(name, run) for name in names],
                    }
                },
                "automationDetails": {"id": f"trainyard/{run.category}/"},
                "invocations": [{"executionSuccessful": run.succeeded}],
                "results": [
                    _result(finding, names.index(finding.rule), run.root)
                    for finding in run.findings
                ],
            }
        ],
    }


def _rule(name: str, run: Run) -> dict[str, Any]:
    # GitHub requires all three texts of a rule.
    text = run.rules.get(name) or _REMARKS.get(name) or RuleText(summary=_summary(name))
    why, fix = text.why or text.summary, text.fix or "The message of each result ends with the fix."
    rule: dict[str, Any] = {
        "id": name,
        "shortDescription": {"text": text.summary},
        "fullDescription": {"text": why},
        "help": {"text": f"{why}\n\nFix: {fix}", "markdown": f"{why}\n\n**Fix.** {fix}"},
        "properties": {"tags": list(text.tags)},
    }
    return {**rule, "helpUri": text.url} if text.url else rule


def _summary(name: str) -> str:
    """Return a sentence for a rule without its own text; the rule name begins with its stage."""
    stage, _, key = name.partition("/")
    sentences = {
        "schema": f"The schema of stack files allows the value of {key}.",
        "plan": f"The value of {key} can be planned.",
        "preflight": f"The AWS account has what {key} asks for.",
        "engine": "The program and its providers run to their end.",
    }
    return sentences.get(stage, f"The rule {name} of a policy pack holds.")


def _result(finding: Finding, index: int, root: Path) -> dict[str, Any]:
    about = finding.resource or finding.key
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": _artifact(finding.file, root),
            "region": {"startLine": finding.line},
        }
    }
    if about:
        kind = "resource" if finding.resource else "member"
        location["logicalLocations"] = [{"fullyQualifiedName": about, "kind": kind}]
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.level,
        "message": {"text": _without_links(finding.message)},
        "locations": [location],
        "properties": {"stack": finding.stack, "stage": finding.stage},
    }
    if finding.severity:
        result["properties"]["severity"] = finding.severity
    if finding.suppressed:
        result["suppressions"] = [{"kind": "external", "justification": finding.suppressed}]
    return result


def _without_links(text: str) -> str:
    """Return a message without links, section 3.11.6, because a file must not add links.

    Only text that looks like a link is escaped, because viewers without links would show the
    backslash.
    """
    return re.sub(r"\[(?=[^\[\]]*\]\()", r"\\[", text)


def _artifact(file: Path, root: Path) -> dict[str, str]:
    """Return the location of a file: relative to the repository root, or as a URI."""
    if file.is_relative_to(root):
        relative = file.relative_to(root)
        return {"uri": relative.as_posix(), "uriBaseId": "%SRCROOT%"}
    return {"uri": file.as_uri()}
