"""The stack file key of a setting of the cluster configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from trainyard.components.config.given_stack import GivenStack
from trainyard.components.config.keys import place_at
from trainyard.components.config.problems import ROOT
from trainyard.components.parallelcluster.update_verdicts import _KEYS, stack_key

KINDS = {"Ebs": "ebs", "Efs": "efs", "Lustre": "fsx-lustre"}


@pytest.mark.parametrize(
    ("path", "key"),
    [
        (("Region",), "aws:region"),
        (("Image", "Os"), f"{ROOT}.architecture.operating_system"),
        (
            ("Scheduling", "SlurmQueues", "gpu", "CapacityReservationTarget", "X"),
            f"{ROOT}.architecture.queues.gpu.purchase_option",
        ),
        (
            ("Scheduling", "SlurmQueues", "gpu", "ComputeResources", "p5", "MaxCount"),
            f"{ROOT}.architecture.queues.gpu.compute_resources.p5.maximum",
        ),
        (
            ("Scheduling", "SlurmQueues", "a", "ComputeResources", "b", "Instances", "c5.large"),
            f"{ROOT}.architecture.queues.a.compute_resources.b.instance_type",
        ),
        (
            ("Scheduling", "SlurmQueues", "a", "ComputeResources", "b", "Tags", "t", "Value"),
            f"{ROOT}.monitoring.node_metrics",
        ),
        (("SharedStorage", "fsx"), f"{ROOT}.storage.fsx"),
        (("Tags", "cost.center", "Value"), f'{ROOT}.tags["cost.center"]'),
        (("Imds", "ImdsSupport"), ROOT),
    ],
)
def test_a_setting_has_its_key_or_that_of_the_section_around_it(path, key):
    assert stack_key(path) == key


def test_every_key_is_one_that_the_schema_knows():
    unknown = [ours for theirs, ours in _KEYS.items() if not list(known(theirs, ours))]
    assert not unknown


def known(theirs: str, ours: str) -> Iterator[Any]:
    """Yield the possible paths of a key: one for each kind of file system that has it."""
    location = tuple(ours.replace("*", "name").split("."))
    for kind in kinds_of(theirs):
        raw = {"architecture": {"kind": "parallelcluster"}, "storage": {"name": {"kind": kind}}}
        place = place_at(GivenStack, raw, location)
        if place is not None:
            yield place


def kinds_of(theirs: str) -> list[str]:
    kinds = [kind for name, kind in KINDS.items() if f"{name}Settings" in theirs]
    return [*kinds, *(f"existing-{kind}" for kind in kinds)] or ["ebs"]
