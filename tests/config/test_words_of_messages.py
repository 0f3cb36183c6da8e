"""Messages speak the language of the stack file, and name characters that nobody sees."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support import eks
from tests.support.batch import P5
from tests.support.parallelcluster import raw_g4dn
from tests.support.printed_fixes import problems_of
from tests.support.stack_files import raw_config

OF_PYDANTIC = re.compile(
    r"input should|should (be|have|match)|extra inputs|not permitted|field required|"
    r"validation error|value error|valid (string|integer|dictionary|boolean|tuple)|unable to parse|"
    r"pydantic|model_|type=",
    re.IGNORECASE,
)
WRONG: tuple[Any, ...] = (
    None, True, -1, 7, 10**30, 1.5, float("inf"), "", "x y", "7\n8", "\u0663", "\uff11", "x" * 5000,
    [], [None], [[]], {}, {"": 1}, {"a": {"b": 1}}, "2026-13-45", "2026-12-01T11:30:00",
)  # fmt: skip
WHOLE = {
    "monitoring": {"alarms": {"emails": ["a@example.com"], "idle_minutes": 60}},
    "storage": {"data": {"kind": "fsx-lustre", "deployment_type": "SCRATCH_2"}},
    "verification": {"required": False, "minimum_bus_bandwidth_gb_per_second": {}},
    "budget": {"monthly_usd": 5},
    "policies": {
        "ebs-encrypted": {
            "suppressions": [{"resource": "x", "reason": "a reason", "expires": "2030-12-01"}]
        }
    },
    "tags": {"team": "a"},
}


def stacks() -> Iterator[dict[str, Any]]:
    yield {**eks.changed(), **WHOLE}
    yield {**raw_g4dn(architecture__deployment={"suppress_validators": ["ALL"]}), "budget": {}}
    yield raw_config(copy.deepcopy(P5))


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*at, key)
        if isinstance(inner, dict | list):
            yield from places(inner, (*at, key))


@pytest.mark.parametrize("number", range(3))
def test_no_message_has_words_of_pydantic(number: int) -> None:
    raw = list(stacks())[number]
    tried = 0
    for place in places(raw):
        for wrong in WRONG:
            changed = copy.deepcopy(raw)
            inner = changed
            for part in place[:-1]:
                inner = inner[part]
            inner[place[-1]] = wrong
            for each in problems_of(changed, "Pulumi.p5-cb.yaml"):
                tried += 1
                said = f"{each.problem} {each.allowed} {each.remedy}"
                assert not OF_PYDANTIC.search(said), (place, wrong, said)
    assert tried > 500


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ("p5-cb\n", "line break"),
        ("p5\tcb", "tab"),
        ("p5\u0663", "ARABIC-INDIC DIGIT THREE), a digit 3"),
        ("p5\u09e7", "BENGALI DIGIT ONE), a digit 1"),
        ("p5\uff11", "FULLWIDTH DIGIT ONE"),
        ("p5\u200bcb", "which is invisible"),
    ],
)
def test_line_breaks_and_foreign_digits_are_named(value: str, named: str) -> None:
    (problem,) = problems_of(eks.changed(name=value), "Pulumi.p5-cb.yaml")
    assert named in problem.problem


@pytest.mark.parametrize("digits", ["\u0663", "\uff13", "\u0969", "3\n"])
def test_numbers_of_foreign_digits_are_corrected(digits: str) -> None:
    raw = eks.changed(architecture__node_groups__p5__maximum=digits)
    problem = problems_of(raw, "Pulumi.p5-cb.yaml")[0]
    assert problem.remedy.endswith(" 3"), problem.remedy


def test_a_second_line_is_no_part_of_a_value() -> None:
    """It would be a parameter of its own in slurm.conf."""
    raw = raw_g4dn(architecture__slurm={"settings": {"KillWait": "30\nSlurmUser=root"}})
    (problem,) = problems_of(raw, "Pulumi.pc.yaml")
    assert "line break" in problem.problem
    assert problem.remedy.endswith(" 30")
