"""Checks of stack tags, for all architectures."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.components.config.review import Review
from trainyard.components.tagging import (
    CLUSTER_TAG,
    MAX_TAGS,
    OWN_TAGS,
    RESOURCE_TAG,
    role_tag_fault,
    tag_fault,
)


def review_tags(tags: Mapping[str, str], review: Review, *, has_roles: bool = True) -> None:
    """Refuse tags that AWS or the program does not accept.

    `has_roles` says whether the stack has IAM roles, which accept fewer tags than other resources.
    """
    keys = [CLUSTER_TAG, RESOURCE_TAG]
    for key, value in tags.items():
        fault = tag_fault(key, value)
        if fault is None and has_roles:
            fault = role_tag_fault(key, value, keys)
        keys.append(key)
        if fault is not None:
            review.refuse(
                "tags", f"has a tag that {fault}", found=f"{key}={value}", remedy="change the tag"
            )
    limit = MAX_TAGS - OWN_TAGS
    if len(tags) > limit:
        review.refuse(
            "tags",
            f"has too many tags: AWS allows {MAX_TAGS}, of which the program reserves {OWN_TAGS}",
            found=len(tags),
            allowed=f"at most {limit}",
            remedy="remove tags",
        )
