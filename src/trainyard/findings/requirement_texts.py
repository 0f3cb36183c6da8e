"""Texts of the rules of `docs/rules.md`, for documents that list findings."""

from __future__ import annotations

from trainyard.findings.sarif import RuleText
from trainyard.rules.requirements import requirements


def requirement_texts() -> dict[str, RuleText]:
    """Return the text of every requirement, by its id."""
    return {
        each.id: RuleText(
            summary=each.holds,
            why=each.why,
            fix=each.fix,
            url=each.sources[0] if each.sources else "",
            tags=(each.field, each.severity),
        )
        for each in requirements().values()
    }
