"""What IAM policies allow, wherever a resource holds one.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from policies.documents import objects, parsed, texts
from policies.props import Facts
from policies.resource_types import (
    IAM_GROUP_POLICY,
    IAM_POLICY,
    IAM_ROLE,
    IAM_ROLE_POLICY,
    IAM_USER_POLICY,
)

POLICY_HOLDERS = (IAM_POLICY, IAM_ROLE_POLICY, IAM_USER_POLICY, IAM_GROUP_POLICY, IAM_ROLE)
"""Types with policies that say what may be done; who may take a role is another matter."""


@dataclass(frozen=True, slots=True)
class Permission:
    """One statement that allows something."""

    actions: tuple[str, ...]
    """As they are written, `*` among them; empty where it says `NotAction`."""
    all_but: tuple[str, ...]
    """What `NotAction` leaves out."""
    resources: tuple[str, ...]
    conditional: bool
    """Whether a condition narrows it."""


def permissions(facts: Facts) -> Iterator[Permission]:
    """Yield what the policies of a resource allow; one that is not known yet is said."""
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
