"""IAM policy documents: what the policies of a resource allow.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.policies.resources.props import Facts, objects, parsed, texts
from trainyard.policies.resources.types import (
    IAM_GROUP_POLICY,
    IAM_POLICY,
    IAM_ROLE,
    IAM_ROLE_POLICY,
    IAM_USER_POLICY,
)

POLICY_HOLDERS = (IAM_POLICY, IAM_ROLE_POLICY, IAM_USER_POLICY, IAM_GROUP_POLICY, IAM_ROLE)
"""Types that hold identity-based policies; trust policies are not read."""


@dataclass(frozen=True, slots=True)
class Permission:
    """One `Allow` statement."""

    actions: tuple[str, ...]
    """As written, including `*`; empty for a statement with `NotAction`."""
    all_but: tuple[str, ...]
    """The actions in `NotAction`."""
    resources: tuple[str, ...]
    conditional: bool
    """Whether it has a condition."""


def permissions(facts: Facts) -> Iterator[Permission]:
    """Yield what the policies of a resource allow; the rule reports a policy that is unknown."""
    count = facts.count("inlinePolicies")
    inline = [facts.needed("inlinePolicies", index, "policy") for index in range(count)]
    for text in (facts.needed("policy"), *inline):
        for statement in _statements(parsed(text)):
            if statement.get("Effect") == "Allow":
                yield Permission(
                    tuple(texts(statement, "Action")),
                    tuple(texts(statement, "NotAction")),
                    tuple(texts(statement, "Resource")),
                    bool(statement.get("Condition")),
                )


def _statements(document: Any) -> list[Mapping[str, Any]]:
    if not isinstance(document, dict):
        return []
    return objects(document, "Statement")
