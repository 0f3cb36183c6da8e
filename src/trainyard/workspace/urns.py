"""Parse Pulumi URNs: `urn:pulumi:STACK::PROJECT::PARENT$TYPE::NAME`.

A logical name may contain `::`. For a string that is not a URN, all parts are empty.

Source: https://www.pulumi.com/docs/iac/concepts/resources/names/#urns
"""

from __future__ import annotations


def stack_of(urn: str) -> str:
    """Return the name of the stack."""
    return _part(urn, 0).rpartition(":")[2]


def project_of(urn: str) -> str:
    """Return the name of the project."""
    return _part(urn, 1)


def type_of(urn: str) -> str:
    """Return the resource's own type token, such as `kubernetes:apps/v1:DaemonSet`."""
    return _part(urn, 2).rpartition("$")[2]


def name_of(urn: str) -> str:
    """Return the logical name."""
    return _part(urn, 3)


def _part(urn: str, index: int) -> str:
    parts = urn.split("::", 3)
    return parts[index] if len(parts) == 4 else ""
