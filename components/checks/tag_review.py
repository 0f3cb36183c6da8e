"""Checks of stack tags, for all architectures."""

from __future__ import annotations

from collections.abc import Mapping

from components.config.review import Review
from components.tagging import MAX_TAGS, OWN_TAGS, tag_fault


def review_tags(tags: Mapping[str, str], review: Review) -> None:
    """Refuse tags that AWS or the program does not accept."""
    for key, value in tags.items():
        fault = tag_fault(key, value)
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
