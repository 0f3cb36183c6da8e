"""Commands and environments that are too large for Batch to register."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.batch import P5, RAW, TRN1
from tests.support.stack_files import raw_config, refusals
from trainyard.components.batch.job_definition_plan import LARGEST_JOB_DEFINITION

KEY = "architecture.job_definitions.nccl-single.command"


def job(**changes: Any) -> dict[str, Any]:
    at = "architecture__job_definitions__nccl-single__"
    return raw_config(RAW, **{f"{at}{key}": value for key, value in changes.items()})


@pytest.mark.parametrize("raw", [RAW, P5, TRN1], ids=["g4dn", "p5", "trn1"])
def test_the_tests_of_the_program_fit_with_all_devices(raw: dict[str, Any]):
    assert not refusals(raw)


@pytest.mark.parametrize(
    "changes",
    [
        {"command": ["bash", "-c", "x" * LARGEST_JOB_DEFINITION]},
        {"command": ["true"], "environment": {"TEXT": "x" * LARGEST_JOB_DEFINITION}},
    ],
)
def test_a_definition_that_is_too_large_is_refused(changes: dict[str, Any]):
    found = refusals(job(**changes))
    assert set(found) == {KEY}
    assert found[KEY].allowed == "at most 24576 bytes"


def test_half_of_that_is_taken():
    assert not refusals(job(command=["bash", "-c", "x" * (LARGEST_JOB_DEFINITION // 2)]))


def test_an_empty_argument_is_refused():
    found = refusals(job(command=["bash", ""]))
    assert "empty argument" in found[KEY].problem
