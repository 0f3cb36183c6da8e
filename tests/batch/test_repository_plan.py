"""The stack's own repository, and the names that ECR accepts."""

from __future__ import annotations

import pytest

from tests.support.batch import P4D, RAW
from tests.support.stack_files import plan_from, raw_config, refusals


def test_it_is_called_like_the_stack():
    """BAT-20, BAT5-08."""
    repository = plan_from(P4D).repository
    assert repository is not None
    assert (repository.name, repository.untagged_days, repository.kept_images) == (
        "batch-p4d",
        14,
        100,
    )
    assert repository.deletion_protection


def test_there_is_none_unless_asked_for():
    """DF-11: the p5 template creates one that is unused."""
    assert plan_from(RAW).repository is None


@pytest.mark.parametrize(
    ("name", "taken"), [("training", True), ("a--b", True), ("t", False), ("training-", False)]
)
def test_names(name: str, taken: bool):
    found = refusals(raw_config(P4D, architecture__repository__name=name))
    assert ("architecture.repository.name" in found) is not taken


def test_a_stack_whose_name_ecr_does_not_take_needs_one_for_its_repository():
    raw = raw_config(P4D, name="Batch")
    assert "is missing" in refusals(raw)["architecture.repository.name"].problem
    assert not refusals(raw_config(raw, architecture__repository__name="batch"))


@pytest.mark.parametrize("key", ["untagged_days", "kept_images"])
def test_an_adopted_repository_keeps_its_lifecycle_policy(key: str):
    raw = raw_config(P4D, architecture__repository={"name": "training", "adopt": True, key: 20})
    assert "keeps its lifecycle policy" in refusals(raw)[f"architecture.repository.{key}"].problem
    adopted = plan_from(raw_config(P4D, architecture__repository={"adopt": True})).repository
    assert adopted is not None
    assert adopted.adopt
