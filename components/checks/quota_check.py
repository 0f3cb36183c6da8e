"""Checks that quotas of the account cover what a stack makes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.quota_lookup import DEFAULT_QUOTA, LIST_QUOTAS
from trainyard.components.catalog.quotas import QUOTAS, Quota
from trainyard.components.checks.check import Check, Subject
from trainyard.components.checks.quota_needs import Need
from trainyard.components.config.problems import ROOT, Problem

ASKED = "the quotas cover what the stack makes"


def quota_check(needs: Sequence[Need], facts: AccountFacts, region: str) -> Check:
    """Return the check of all quotas; each that `up` would exceed is a problem.

    What the stack has already is part of the need and not of the use, so that an update of a stack
    that exists needs nothing more.
    """
    problems = (_problem(need, QUOTAS[need.quota], facts, region) for need in needs)
    found = [each for each in problems if each is not None]
    return Check("quotas", found, [_subject(needs, facts)])


def quota_warnings(needs: Iterable[Need], facts: AccountFacts, region: str) -> Iterator[str]:
    """Yield the quotas that the stack may exceed, where the count is an estimate."""
    for need in needs:
        quota = QUOTAS[need.quota]
        if not quota.refused and _exceeds(need, facts):
            yield (
                f"{need.key}: {_found(need, facts)}; the quota `{quota.title}` is "
                f"{_value(need, facts):g}, and AWS refuses what exceeds it"
                f"{_error(quota)}, unless the stack already has its share; request more with "
                f"`{quota.increase_command(_whole(_total(need, facts)), region)}`"
            )


def _problem(need: Need, quota: Quota, facts: AccountFacts, region: str) -> Problem | None:
    if not quota.refused or not _exceeds(need, facts):
        return None
    less = f"delete {quota.noun} that nothing uses, or use another region or account"
    command = quota.increase_command(_whole(_total(need, facts)), region)
    return Problem(
        path=f"{ROOT}.{need.key}",
        found=_found(need, facts),
        problem=(
            f"AWS refuses what exceeds the quota `{quota.title}`{_error(quota)}, after other "
            "resources of the stack have been made"
        ),
        allowed=f"{_value(need, facts):g} {quota.noun}{_where(need)}",
        remedy=(
            f"request more (`{command}`), or {less}"
            if quota.adjustable
            else f"AWS does not raise this quota: {less}"
        ),
    )


def _subject(needs: Sequence[Need], facts: AccountFacts) -> Subject:
    quotas = [QUOTAS[need.quota] for need in needs]
    calls = {each.call for each in quotas if each.call is not None}
    calls |= {LIST_QUOTAS, DEFAULT_QUOTA} if quotas else set[str]()
    known = [need for need in needs if _value(need, facts)]
    if not known:
        return Subject("architecture", ASKED, calls=tuple(sorted(calls)))
    nearest = max(known, key=lambda need: _total(need, facts) / (_value(need, facts) or 1))
    found = (
        f"{len(known)} quotas; the nearest: {_found(nearest, facts)}, of {_value(nearest, facts):g}"
    )
    return Subject("architecture", ASKED, found, tuple(sorted(calls)))


def _error(quota: Quota) -> str:
    return f" with {quota.error}" if quota.error else ""


def _where(need: Need) -> str:
    return f" in {need.scope}" if need.scope else ""


def _found(need: Need, facts: AccountFacts) -> str:
    used, noun = _used(need, facts), QUOTAS[need.quota].noun
    return f"{need.amount:.4g} {noun} for this stack, {used:.4g} others exist"


def _used(need: Need, facts: AccountFacts) -> float:
    return facts.quota_use.get(need.quota, {}).get(need.scope, 0)


def _exceeds(need: Need, facts: AccountFacts) -> bool:
    value = _value(need, facts)
    if value is None or need.quota not in facts.quota_use:
        return False
    return _total(need, facts) > value


def _value(need: Need, facts: AccountFacts) -> float | None:
    value = facts.quota_values.get(need.quota)
    other = QUOTAS[need.quota].at_least
    return None if value is None else max(value, facts.quota_values.get(other or "", 0))


def _total(need: Need, facts: AccountFacts) -> float:
    return need.amount + _used(need, facts)


def _whole(amount: float) -> int:
    return -int(-amount // 1)
