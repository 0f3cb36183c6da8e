"""Broken stack files and programs of real people are refused, and good ones pass.

What people reported is in `broken`, one file a case, each with the stage that refuses it; nothing
is registered before the last of them. What looks wrong and is right is in `good`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext

import pytest

from tests.corpus.support.stages import (
    Outcome,
    judged,
    live,
    offline,
)
from tests.support.cloud import Cloud
from tests.support.corpus.case import CASE, Case, broken, good
from tests.support.corpus.table import ADVISORY, PAGE, page
from tests.support.policy_pack import Pack, declared, running_pack
from tests.support.printed_fixes import problems_of_account, unsolved
from trainyard.components.architectures.build import build
from trainyard.components.config.load import load_stack_config
from trainyard.policies.pack.stack_config import pack_config

BROKEN, GOOD = broken(), good()
OFFLINE = [case for case in BROKEN if case.stage in {"schema", "plan"} and not case.noted]
NOTED = [case for case in BROKEN if case.noted]
PREFLIGHT = [case for case in BROKEN if case.stage == "preflight"]
PROGRAMS = [case for case in BROKEN if case.stage == "policy"]
Record = Callable[[str, object], None]
CALLS = {"aws:ec2/getSubnet:getSubnet": {"cidrBlock": "10.0.144.0/20"}}
"""Calls of a program whose answers no resource of its own gives."""


def name_of(case: Case) -> str:
    return case.name


@pytest.fixture(scope="module")
def pack() -> Iterator[Pack]:
    """The policy pack in its own process, as the engine runs it."""
    with running_pack() as running:
        yield running


@pytest.mark.parametrize("case", OFFLINE, ids=name_of)
def test_a_broken_stack_file_is_refused_without_an_account(
    record_property: Record, case: Case
) -> None:
    """Pains 1 to 15 and the rules of sections A to G; each file cites its thread."""
    record_property(CASE, case.stage)
    assert_refused(offline(case), case)


@pytest.mark.parametrize("case", NOTED, ids=name_of)
def test_what_may_be_meant_is_noted_in_the_plan(record_property: Record, case: Case) -> None:
    """Pains 11 and 12: a plugin of one's own, the addresses of NAT gateways."""
    record_property(CASE, case.stage)
    outcome = offline(case)
    assert outcome.plan is not None, outcome.said
    noted = [note for note in outcome.plan.notes if all(words in note for words in case.says)]
    assert noted, outcome.plan.notes


@pytest.mark.parametrize("case", PREFLIGHT, ids=name_of)
@pytest.mark.usefixtures("account")
def test_what_only_the_account_shows_is_refused_before_a_registration(
    record_property: Record, case: Case
) -> None:
    """Pains 5, 7 and 14; rules C1 to C3, D6, D13, D16, E1, E4 and E18."""
    record_property(CASE, case.stage)
    assert_refused(live(case), case)


@pytest.mark.parametrize("case", PREFLIGHT, ids=name_of)
@pytest.mark.usefixtures("account")
def test_commands_of_fixes_solve_the_problems_that_the_account_shows(case: Case) -> None:
    assert list(unsolved(case.raw, case.stack_file, problems_of_account)) == []


@pytest.mark.parametrize("case", PROGRAMS, ids=name_of)
def test_a_broken_program_is_judged_by_its_rule_during_the_preview(
    record_property: Record, pack: Pack, case: Case
) -> None:
    """Values that other resources make are not known yet; nothing exists then."""
    record_property(CASE, case.stage)
    found = judged(pack, case.program, case.rules)
    advised = case.at in ADVISORY
    assert set(found.refused) == {*([] if advised else [case.at]), *case.also}
    said = (found.advised if advised else found.refused)[case.at]
    assert "can't run" not in said
    assert not [words for words in case.says if words not in said], said


@pytest.mark.parametrize("case", [case for case in GOOD if case.stack], ids=name_of)
@pytest.mark.usefixtures("account")
def test_a_good_stack_file_passes_every_stage(
    record_property: Record, deploy: Callable[..., Cloud], pack: Pack, case: Case
) -> None:
    """The stack files of the repository among them."""
    record_property(CASE, "good")
    outcome = live(case)
    assert (outcome.stage, outcome.said) == (None, {})
    plan = outcome.plan
    assert plan is not None
    rules = pack_config(load_stack_config(case.raw, stack_file=case.stack_file))
    program = declared(deploy(lambda: build(plan), calls=CALLS))
    # A pack remembers the suppressions of its preview, so such a case has one of its own.
    suppressed = "suppressions" in case.advice
    with running_pack() if suppressed else nullcontext(pack) as judge:
        found = judged(judge, program, rules)
    assert (found.refused, set(found.advised)) == ({}, set(case.advice))


@pytest.mark.parametrize("case", [case for case in GOOD if case.program], ids=name_of)
def test_a_good_program_passes_the_pack(record_property: Record, pack: Pack, case: Case) -> None:
    """H1, H3 and H4: what packs for everybody get wrong here."""
    record_property(CASE, "good")
    found = judged(pack, case.program, case.rules)
    assert not found.refused
    assert set(found.advised) == set(case.advice)


def assert_refused(outcome: Outcome, case: Case) -> None:
    """Hold a refusal against what its case says: the stage, the key, the words."""
    assert outcome.stage == case.stage, outcome.said
    assert set(outcome.said) == {case.at, *case.also}
    said = outcome.said[case.at]
    assert not [words for words in case.says if words not in said], said


@pytest.mark.parametrize("case", BROKEN, ids=name_of)
def test_a_case_cites_its_thread_and_says_what_happened_and_what_is_shown(case: Case) -> None:
    assert case.thread.startswith("https://github.com/")
    assert case.happened.endswith(".")
    assert case.at
    assert case.says
    assert bool(case.stack) != bool(case.program)


def test_there_are_cases_of_every_stage_and_enough_of_them() -> None:
    assert len(BROKEN) >= 80
    assert len(GOOD) >= 30
    assert {case.stage for case in BROKEN} == {"schema", "plan", "preflight", "policy"}


def test_the_page_is_that_of_the_cases() -> None:
    """Made with `python -m tests.support.corpus.table`."""
    assert PAGE.read_text(encoding="utf-8") == page()
