"""Subjects of the checks of AMIs in a stack file; each architecture has its own conditions."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.facts import AccountFacts
from trainyard.components.checks.check import Subject
from trainyard.components.config.stack import StackConfig


def image_subjects(config: StackConfig, facts: AccountFacts) -> Iterator[Subject]:
    """Yield what the checks of AMIs ask."""
    for image_id in config.architecture.image_ids():
        image = facts.images.get(image_id)
        found = f"{image_id}, {image.state}, {image.architecture}" if image else image_id
        calls = ("ec2:DescribeImages",)
        yield Subject("architecture", "the image exists and fits the nodes", found, calls)
