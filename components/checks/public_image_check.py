"""Checks that the public container images of a stack can be pulled by its nodes.

A tag that does not exist shows as `ImagePullBackOff` on nodes that cost money. A registry that does
not answer refuses nothing: this machine can be behind a proxy, or without a way to the internet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.image_registry import is_public, look_up_public_images
from trainyard.components.account.lookup import AccountReader
from trainyard.components.account.readings import Reading
from trainyard.components.catalog.instance_type import Architecture
from trainyard.components.checks.check import Subject
from trainyard.components.checks.used_image import UsedImage
from trainyard.components.config.problems import ROOT, Problem


def public_image_readings(reader: AccountReader, used: Iterable[UsedImage]) -> Iterator[Reading]:
    """Yield the reading of all public images, each of which is looked up once."""
    architectures: dict[str, set[Architecture]] = {}
    for each in used:
        if is_public(each.image):
            architectures.setdefault(each.image, set()).update(each.architectures)
    if architectures:
        yield lambda: {"public_images": _look_up(reader, architectures)}


def _look_up(
    reader: AccountReader, architectures: Mapping[str, set[Architecture]]
) -> Mapping[str, Any]:
    found = look_up_public_images(architectures)
    reader.unreadable += [
        f"{image}: {facts.unknown}" for image, facts in found.items() if facts.unknown is not None
    ]
    return found


def public_image_subjects(used: Iterable[UsedImage], facts: AccountFacts) -> Iterator[Subject]:
    """Yield what `public_image_problems` checks."""
    for each in used:
        if each.image in facts.public_images:
            yield Subject(each.key, f"the image of {each.user} exists", each.image, (each.image,))


def public_image_problems(used: Iterable[UsedImage], facts: AccountFacts) -> Iterator[Problem]:
    """Yield the images that nodes could not pull."""
    for each in used:
        found = facts.public_images.get(each.image)
        if found is not None and found.missing is not None:
            yield Problem(
                path=f"{ROOT}.{each.key}",
                found=each.image,
                problem=(
                    f"its registry does not have the image of {each.user} ({found.missing}); no "
                    "node could pull it"
                ),
                remedy=each.remedy,
            )
