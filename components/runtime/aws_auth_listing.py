"""Principals that `aws-auth` authorizes, who lose access in the mode `API`.

Source: https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import yaml

from trainyard.components.runtime.aws_auth_plan import find_role, pathless_role_arn
from trainyard.components.runtime.aws_auth_text import first_document

PARTS = {"mapRoles": "rolearn", "mapUsers": "userarn"}
"""Keys of the ConfigMap that list principals, and the ARN field of their entries."""


def review_map_roles(data: Mapping[str, str]) -> None:
    """Check that `mapRoles` is a list that can be edited.

    Raises:
        MapRolesError: it is not; the message has the position.
    """
    find_role(data.get("mapRoles"), "arn:aws:iam::000000000000:role/nobody")


def without_access_entry(data: Mapping[str, str], entry_arns: Collection[str]) -> list[str]:
    """Return principals whose only access is `aws-auth`, one line each, in ConfigMap order.

    Args:
        data: data of the ConfigMap.
        entry_arns: principals that have an access entry.
    """
    known = {_comparable(arn) for arn in entry_arns}
    return [line for arn, line in _listed(data) if arn is None or _comparable(arn) not in known]


def _listed(data: Mapping[str, str]) -> Iterator[tuple[str | None, str]]:
    for part, field in PARTS.items():
        for entry in _entries(data, part):
            if not isinstance(entry, Mapping):
                continue
            fields = {str(key).lower(): value for key, value in entry.items()}
            arn = str(fields.get(field) or "")
            groups = ", ".join(map(str, fields.get("groups") or ())) or "no group"
            yield arn, f"{arn or 'an entry without ARN'} ({part}: {groups})"
    for account in _entries(data, "mapAccounts"):
        yield None, f"every user and role of account {account} (mapAccounts)"


def _entries(data: Mapping[str, str], part: str) -> list[Any]:
    # A value that is not a list authorizes no one.
    try:
        found = first_document(data.get(part) or "")
    except (yaml.YAMLError, ValueError):
        return []
    return found if isinstance(found, list) else []


def _comparable(arn: str) -> str:
    # Compared without paths, because the ARN of a caller has none.
    try:
        return pathless_role_arn(arn).lower()
    except ValueError:
        return arn.lower()
