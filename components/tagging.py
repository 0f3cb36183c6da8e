"""Tags that every resource of a stack carries.

Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html#tag-restrictions
"""

from __future__ import annotations

from collections.abc import Mapping

CLUSTER_TAG = "trainyard:cluster"
"""Key of the tag that says which cluster a resource belongs to."""

MAX_TAGS = 50
"""Tags that AWS allows on one resource."""
OWN_TAGS = 10
"""Tags that the program and the providers may add to one resource, so that the user's still fit."""
MAX_KEY_LENGTH = 128
MAX_VALUE_LENGTH = 256


def common_tags(cluster_name: str, tags: Mapping[str, str]) -> dict[str, str]:
    """Return the user's tags and the tag that names the cluster, by key."""
    return {**tags, CLUSTER_TAG: cluster_name}


def tag_fault(key: str, value: str) -> str | None:
    """Return why AWS would refuse a tag of the user's, or None where it would not."""
    if key.lower().startswith("aws:"):
        return "begins with `aws:`, which AWS keeps for itself"
    if key == CLUSTER_TAG:
        return "is set by the program itself"
    if len(key) > MAX_KEY_LENGTH:
        return f"is longer than {MAX_KEY_LENGTH} characters"
    if len(value) > MAX_VALUE_LENGTH:
        return f"has a value of more than {MAX_VALUE_LENGTH} characters"
    return None
