"""Names that lead to too long role names."""

from __future__ import annotations

import pytest

from tests.support.batch import RAW
from tests.support.network_stack import NETWORK_RAW
from tests.support.stack_files import raw_config, refusals
from trainyard.components.naming import IAM_ROLE_NAME_LIMIT, excess_length

LONG = "n" * 48


@pytest.mark.parametrize("length", [2, 3])
def test_the_longest_environment_that_fits_beside_its_stack(length: int):
    name = "b" * length
    raw = raw_config(RAW, name=name, architecture__job_definitions={})
    nodes = raw["architecture"]["compute_environments"].pop("g4dn")
    raw["architecture"]["compute_environments"][LONG] = nodes
    over = excess_length(f"{name}-{LONG}-role", IAM_ROLE_NAME_LIMIT)
    found = refusals(raw)
    assert (f"architecture.compute_environments.{LONG}" in found) is (over > 0)


def test_a_job_definition_has_a_role_too():
    raw = raw_config(RAW)
    raw["architecture"]["job_definitions"][LONG] = {"compute_environment": "g4dn"}
    found = refusals(raw)[f"architecture.job_definitions.{LONG}"]
    assert found.allowed == "at most 40 characters"


def test_the_role_of_the_flow_logs_counts_where_there_are_some():
    raw = raw_config(NETWORK_RAW, name="v" * 40)
    assert "name" in refusals(raw)
    assert not refusals(raw_config(raw, network__flow_logs=False))
