"""Messages about values beyond a limit of the schema."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.batch import P4D
from tests.support.network_stack import NETWORK_RAW
from tests.support.stack_files import raw_config
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ConfigError, Problem

JOB = "architecture__job_definitions__nccl-multi"


def refused(raw: dict[str, Any]) -> Problem:
    with pytest.raises(ConfigError) as caught:
        load_stack_config(raw, stack_file="Pulumi.batch-p4d.yaml")
    (problem,) = caught.value.problems
    return problem


@pytest.mark.parametrize(
    ("key", "value", "said", "allowed", "fix"),
    [
        (f"{JOB}__nodes", 0, "is less than 1", "at least 1", "at least 1"),
        (f"{JOB}__nodes", 1001, "is more than 1000", "at most 1000", "at most 1000"),
        (f"{JOB}__attempts", 11, "is more than 10", "at most 10", "at most 10"),
        (f"{JOB}__timeout_minutes", 10**9, "is more than", "at most 35791394", "35791394"),
        ("architecture__repository__kept_images", 10**9, "is more than", "100000", "100000"),
        ("network__private_subnet_ids", [], "too few entries", "at least 1", "_ids[0]' subnet-…"),
        ("architecture__compute_environments", {}, "too few entries", "at least 1", "add an entry"),
    ],
)
def test_a_value_beyond_a_limit_is_refused_with_the_limit(
    key: str, value: object, said: str, allowed: str, fix: str
):
    """Rule G1: a job has at most 1,000 nodes; the limits of the API for the others."""
    problem = refused(raw_config(P4D, **{key: value}))
    assert problem.path == f"trainyard:cluster.{key.replace('__', '.')}"
    assert said in problem.problem
    assert allowed in str(problem.allowed)
    assert fix in problem.remedy


@pytest.mark.parametrize(("key", "said"), [("", "too short"), ("x" * 129, "too long")])
def test_a_key_beyond_a_limit_is_to_be_renamed(key: str, said: str):
    problem = refused(raw_config(NETWORK_RAW, tags={key: "training"}))
    assert said in problem.problem
    assert problem.remedy == "rename this entry"
    assert "[key]" not in problem.path
