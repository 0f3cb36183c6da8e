"""Filters and tags of the describe calls that the extensions add."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.sandbox.aws.errors import refuse


def tags_for(parameters: Mapping[str, Any], resource_type: str) -> list[dict[str, str]]:
    """Return the tags in a create request for a resource type."""
    return [
        {"Key": tag["Key"], "Value": tag.get("Value", "")}
        for specification in parameters.get("TagSpecifications") or []
        if specification.get("ResourceType") == resource_type
        for tag in specification.get("Tags") or []
    ]


def matches(
    item: Mapping[str, Any],
    filters: Sequence[Mapping[str, Any]] | None,
    fields: Mapping[str, str],
) -> bool:
    """Return whether a described object matches all filters.

    Args:
        item: The object as the API describes it.
        filters: `[{"Name": …, "Values": […]}]`; values may contain `*` and `?`.
        fields: Field of the object by filter name.

    Raises:
        EC2ClientError: The call does not support a filter.
    """
    return all(_passes(item, each, fields) for each in filters or [])


def _passes(item: Mapping[str, Any], one: Mapping[str, Any], fields: Mapping[str, str]) -> bool:
    name = one["Name"]
    if name.startswith("tag:"):
        found = [tag["Value"] for tag in item.get("Tags", []) if tag["Key"] == name[4:]]
    elif name == "tag-key":
        found = [tag["Key"] for tag in item.get("Tags", [])]
    elif name in fields:
        found = [str(item.get(fields[name], ""))]
    else:
        refuse("InvalidParameterValue", f"The filter '{name}' is invalid")
    return any(
        fnmatch.fnmatchcase(value, pattern) for value in found for pattern in one.get("Values", [])
    )
