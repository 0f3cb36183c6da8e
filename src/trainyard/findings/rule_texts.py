"""Texts of the policy rules, for documents that list findings."""

from __future__ import annotations

from trainyard.findings.sarif import RuleText
from trainyard.rules.rules import own_policies, rules


def rule_texts() -> dict[str, RuleText]:
    """Return the text of every policy in the pack, by name."""
    return {
        rule.name: RuleText(
            summary=rule.text.holds,
            why=rule.text.why,
            fix=rule.text.fix,
            url=rule.url,
            tags=rule.tags,
        )
        for rule in (*rules(), *own_policies())
    }
