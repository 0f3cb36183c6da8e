"""The size limit of CloudFormation's templates, before anything is created."""

from dataclasses import replace

import pytest

from tests.support.parallelcluster import (
    p4de_plan,
    plan,
    queue,
    trn1_plan,
)
from trainyard.components.config.problems import ConfigError, Review
from trainyard.components.parallelcluster import planner
from trainyard.components.parallelcluster.cluster_template import MAXIMUM_TEMPLATE_BYTES
from trainyard.components.parallelcluster.planner import review_template_size


@pytest.mark.parametrize("make", [plan, p4de_plan, trn1_plan])
def test_the_stacks_fit(make):
    review = Review(stack_file="Pulumi.pc.yaml")
    review_template_size(make(), review)
    assert review.problems == []


def test_a_template_that_cloudformation_would_refuse_is_refused_before():
    huge = plan(queues=tuple(queue(f"queue-{n}") for n in range(120)))
    review = Review(stack_file="Pulumi.pc.yaml")
    review_template_size(huge, review)
    with pytest.raises(ConfigError) as refusal:
        review.close()
    message = str(refusal.value)
    assert "trainyard:cluster.architecture.queues" in message
    assert "at most 51,200 bytes" in message
    assert "remove queues" in message


def test_the_limit_itself_is_allowed(monkeypatch):
    """CreateStack and UpdateStack accept at most 51,200 bytes."""
    review = Review(stack_file="Pulumi.pc.yaml")
    monkeypatch.setattr(planner, "template_bytes", lambda _: MAXIMUM_TEMPLATE_BYTES)
    review_template_size(plan(), review)
    assert review.problems == []


def test_room_is_kept_for_ids_that_do_not_exist_yet():
    """A subnet's id is longer than its name in the plan."""
    subnets = tuple(f"s{n}" for n in range(300))
    crowded = plan(queues=(replace(queue(), subnets=subnets),))
    review = Review(stack_file="Pulumi.pc.yaml")
    review_template_size(crowded, review)
    assert review.problems
