"""Every type of resource, created while its call fails with every kind of fault.

The AWS provider runs in a separate process, as the engine runs it; `docs/faults.md` shows the
outcome of each line of `PLACES`.
"""

from __future__ import annotations

import pytest

from tests.support.faults.account import Faulty
from tests.support.faults.places import FATAL, LEFT_OUT, PLACES, SURVIVED, LostAnswer, Place
from tests.support.provider_plugin import RefusedError
from trainyard.sandbox.faults.kinds import KINDS
from trainyard.workspace.recovery.table import LOOKUPS

ATTEMPTS = 25
"""Attempts of the provider for one request: `MaxRetries` in terraform-provider-aws
`internal/provider/sdkv2/provider.go`."""


def test_every_type_of_a_stack_has_its_line() -> None:
    made = {token for token in LOOKUPS if token.startswith("aws:")}
    assert {place.token for place in PLACES} == made - LEFT_OUT


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.token)
def test_a_creation_under_every_fault(faulty: Faulty, place: Place) -> None:
    """Transient faults lead to one object, fatal ones to AWS's message, a lost answer as listed."""
    _survives_what_passes(faulty, place)
    _ends_in_awss_words(faulty, place)
    _loses_the_answer(faulty, place)


def _survives_what_passes(faulty: Faulty, place: Place) -> None:
    for kind, settings, times in SURVIVED:
        if kind == "not-found-yet" and not place.looked_for_again:
            _keeps_what_is_not_found(faulty, place)
        elif place.has(kind):
            faulty.use(f"call: {place.call}, happens: {kind}, {settings}")
            made = faulty.plugin.create(place.token, faulty.cases[place.token].inputs)
            assert faulty.happened() == [times], kind
            assert faulty.done[place.call] == 1, kind
            faulty.plugin.delete(place.token, made)


def _keeps_what_is_not_found(faulty: Faulty, place: Place) -> None:
    faulty.use(f"call: {place.call}, happens: not-found-yet, for_calls: 2")
    with pytest.raises(RefusedError, match=r"empty result|couldn't find resource"):
        faulty.plugin.create(place.token, faulty.cases[place.token].inputs)
    kept = faulty.plugin.kept()
    assert kept is not None, "the engine would forget it"
    faulty.use()
    assert faulty.plugin.read(place.token, kept) is not None
    faulty.plugin.delete(place.token, kept)


def _ends_in_awss_words(faulty: Faulty, place: Place) -> None:
    service, operation = place.call.split(":")
    for kind in FATAL:
        if not place.has(kind):
            continue
        refusal = KINDS[kind].refusal(service, operation)
        assert refusal is not None
        faulty.use(f"call: {place.call}, happens: {kind}, times: always")
        with pytest.raises(RefusedError) as caught:
            faulty.plugin.create(place.token, faulty.cases[place.token].inputs)
        assert f"{refusal.code}: {refusal.message}" in str(caught.value)
        # The SDK classifies some quota errors as throttling.
        is_throttling = kind == "quota-exceeded" and service in ("ecr", "events")
        assert faulty.happened() == [ATTEMPTS if is_throttling else 1], kind
        assert not faulty.done[place.call]


def _loses_the_answer(faulty: Faulty, place: Place) -> None:
    inputs = faulty.cases[place.token].inputs
    faulty.use(f"call: {place.call}, happens: done-without-answer")
    if place.lost_answer is LostAnswer.REFUSED:
        with pytest.raises(RefusedError, match=place.code):
            faulty.plugin.create(place.token, inputs)
        assert faulty.done[place.call] == 1
        return
    made = faulty.plugin.create(place.token, inputs)
    twice = place.lost_answer in (LostAnswer.TWICE, LostAnswer.SAME)
    assert faulty.done[place.call] == (2 if twice else 1)
    faulty.plugin.delete(place.token, made)
