"""Any answers of AWS lead to a verdict, or to an error that names the call, in limited time.

Run it manually with more examples: `TRAINYARD_FUZZ_EXAMPLES=2000 pytest tests/faults`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.faults.support.altered_answers import (  # before boto3 makes a client
    Answers,
    Change,
    answered,
    ask,
    changes,
    record,
)

from botocore.parsers import ResponseParserError  # isort: skip
from trainyard.components.account.reader import AccountReader, AccountUnreachableError  # isort: skip
from trainyard.components.config.problems import ConfigError  # isort: skip
from trainyard.components.architectures.preflight import Preflight  # isort: skip
from tests.faults.support.fuzzing import examples, takes_less_than  # isort: skip

STACKS = ("p5-cb", "pc-p4de-g5", "batch-p4d")
"""One stack with many API calls for each architecture; network stacks make fewer of the same
calls."""
SECONDS = 30.0
NO_CHANGE = Change(operation="", index=0, path=(), what="put")


@pytest.fixture(scope="module")
def recorded() -> dict[str, Answers]:
    """The answers of the sandbox's account, by stack."""
    return record(*STACKS)


def verdict(answers: Answers, stack: str, change: Change) -> Preflight | Exception:
    try:
        with answered(answers, change):
            return ask(stack)
    except (ConfigError, AccountUnreachableError) as error:
        return error


@pytest.mark.parametrize("stack", STACKS)
def test_what_was_recorded_passes(recorded: dict[str, Answers], stack: str) -> None:
    """Otherwise every answer would be a refusal, and the other tests would prove little."""
    found = verdict(recorded[stack], stack, NO_CHANGE)
    assert isinstance(found, Preflight)
    assert found.problems == ()


@pytest.mark.parametrize("stack", STACKS)
def test_one_odd_answer_is_a_verdict_or_an_error_in_words(
    recorded: dict[str, Answers], stack: str
) -> None:
    @settings(max_examples=examples(25))
    @given(st.data())
    def judged(data: st.DataObject) -> None:
        change = data.draw(changes(recorded[stack]))
        with takes_less_than(SECONDS):
            found = verdict(recorded[stack], stack, change)
        if not isinstance(found, Preflight):
            assert all(line.isprintable() for line in str(found).splitlines())

    judged()


def reader(*answers: Any) -> tuple[AccountReader, Callable[..., Any]]:
    """Return a reader, and a call that returns these answers in order and repeats the last one."""
    said: Iterator[Any] = iter(answers)
    last = answers[-1]

    def do(**_arguments: object) -> Any:
        answer = next(said, last)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return AccountReader(region="us-west-2"), do


@pytest.mark.parametrize(
    "error", [ResponseParserError("<html>"), ValueError("x"), KeyError("x"), TypeError("x")]
)
def test_an_answer_that_cannot_be_parsed_names_the_call(error: Exception) -> None:
    asking, do = reader(error)
    with pytest.raises(AccountUnreachableError, match="ec2:DescribeVpcs cannot be used"):
        asking.ask("ec2:DescribeVpcs", do)


def test_a_key_that_is_missing_names_the_call() -> None:
    asking, do = reader({"Vpcs": [{"State": "available"}]})
    answer = asking.ask("ec2:DescribeVpcs", do)
    with pytest.raises(AccountUnreachableError, match=r"ec2:DescribeVpcs .* has no VpcId"):
        answer["Vpcs"][0]["VpcId"]


def test_a_page_that_comes_again_ends_the_question() -> None:
    asking, do = reader({"nextToken": "a"}, {"nextToken": "b"}, {"nextToken": "a"})
    with pytest.raises(AccountUnreachableError, match="its pages have no end"):
        list(asking.pages("eks:ListAddons", do))


def test_pages_that_never_end_are_ended() -> None:
    asking, do = reader(*({"nextToken": str(page)} for page in range(5000)))
    with pytest.raises(AccountUnreachableError, match="its pages have no end"):
        list(asking.pages("eks:ListAddons", do))


@pytest.mark.parametrize("region", ["", "..", "us-west-2\n", "us west", "us-west-2.evil.example/"])
def test_a_region_that_is_none_asks_nobody(region: str) -> None:
    """The region is a part of the address to which credentials are sent."""
    with pytest.raises(AccountUnreachableError, match="no region"):
        AccountReader(region=region)
