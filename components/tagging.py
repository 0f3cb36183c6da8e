"""Tags that every resource of a stack carries.

Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html#tag-restrictions
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

CLUSTER_TAG = "trainyard:cluster"
"""Key of the tag that says which cluster a resource belongs to."""
RESOURCE_TAG = "trainyard:resource"
"""Key of the tag that says which resource of which stack an object is."""

MAX_TAGS = 50
"""Tags that AWS allows on one resource."""
OWN_TAGS = 10
"""Tags that the program and the providers may add to one resource, so that the user's still fit."""
MAX_KEY_LENGTH = 128
MAX_VALUE_LENGTH = 256

_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9 +\-=._:/@]")
_HASH_DIGITS = 16


def common_tags(cluster_name: str, tags: Mapping[str, str]) -> dict[str, str]:
    """Return the user's tags and the tag that names the cluster, by key."""
    return {**tags, CLUSTER_TAG: cluster_name}


def resource_tag(*, stack: str, project: str, type_token: str, name: str) -> str:
    """Return the value of `RESOURCE_TAG`: which resource of which stack an object was made for.

    It is the resource's URN without the types of its parents, of which a stack has no two, in the
    characters that every service takes. What does not fit, or had other characters, ends with a
    hash of the whole, so that it stays the only one.

    Source: https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html
    (characters and lengths that are safe in all services)
    """
    whole = f"{stack}::{project}::{type_token}::{name}"
    allowed = _NOT_ALLOWED.sub("_", whole)
    if allowed == whole and len(whole) <= MAX_VALUE_LENGTH:
        return whole
    digest = hashlib.sha256(whole.encode()).hexdigest()[:_HASH_DIGITS]
    return f"{allowed[: MAX_VALUE_LENGTH - _HASH_DIGITS - 1]}-{digest}"


def resource_tag_prefix(*, stack: str, project: str) -> str:
    """Return what the values of `RESOURCE_TAG` of all objects of a stack begin with."""
    return _NOT_ALLOWED.sub("_", f"{stack}::{project}::")


def tag_fault(key: str, value: str) -> str | None:
    """Return why AWS would refuse a tag of the user's, or None where it would not."""
    if key.lower().startswith("aws:"):
        return "begins with `aws:`, which AWS keeps for itself"
    if key in {CLUSTER_TAG, RESOURCE_TAG}:
        return "is set by the program itself"
    if len(key) > MAX_KEY_LENGTH:
        return f"is longer than {MAX_KEY_LENGTH} characters"
    if len(value) > MAX_VALUE_LENGTH:
        return f"has a value of more than {MAX_VALUE_LENGTH} characters"
    return None
