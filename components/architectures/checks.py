"""Every check of a stack, in the order in which commands show them.

A check says what it needs to know besides the stack file. `check` knows the stack file and the
plan, `check --live`, `preview` and `up` the account too, and `check --live` asks it for more. A
check runs as soon as all is known that it needs, and is silent before.

The modules of checks of the account are imported when the account is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

from trainyard.components.account.check import Check, Finding
from trainyard.components.account.known import Knowledge, Known
from trainyard.components.architectures.registry import account_of
from trainyard.components.capacity.block_times import review_block_times
from trainyard.components.config.problems import Review
from trainyard.components.config.stack_review import (
    review_arns,
    review_dns_names,
    review_effect,
    review_images,
    review_policies,
    review_verification,
)
from trainyard.components.cost.budget_review import review_budget
from trainyard.components.monitoring.review import review_monitoring

AnyKnown: TypeAlias = Known[Any, Any]
Run: TypeAlias = Callable[[AnyKnown], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class StackCheck:
    """A check of a stack."""

    run: Run
    needs: frozenset[Knowledge]


def run_checks(known: AnyKnown, *, after: frozenset[Knowledge] | None = None) -> Iterator[Finding]:
    """Yield what the checks find that have all that they need.

    Args:
        known: What is known.
        after: What was known when the others ran, which do not run again. None if none has run.
    """
    knowledge = known.knowledge()
    for check in CHECKS:
        if check.needs <= knowledge and (after is None or not check.needs <= after):
            yield from check.run(known)


def _reviewed(name: str, review: Callable[[AnyKnown, Review], None]) -> Run:
    """Return a check of a function that records problems and notes."""

    def run(known: AnyKnown) -> Iterator[Finding]:
        found = Review(stack_file=known.stack_file)
        review(known, found)
        yield Check(name, found.problems)
        yield from found.notes

    return run


def _of(module: str, function: str) -> Run:
    """Return a check of a function in a module of the program, imported when it runs."""

    def run(known: AnyKnown) -> Iterable[Finding]:
        return getattr(import_module(f"trainyard.components.{module}"), function)(known)

    return run


def _left_out(known: AnyKnown) -> Iterator[Finding]:
    for what, why in known.facts.left_out.items():
        yield f"left out: {what}: {why}"


def _plan(known: AnyKnown) -> Iterator[Finding]:
    if known.plan_problems:
        yield Check("plan", known.plan_problems)


WITHOUT_ACCOUNT: frozenset[Knowledge] = frozenset({"plan"})
"""What is known at most when a stack is planned."""
_FILE: frozenset[Knowledge] = frozenset()
_ACCOUNT: frozenset[Knowledge] = frozenset({"account"})
_BOTH: frozenset[Knowledge] = frozenset({"plan", "account"})
_LIVE: frozenset[Knowledge] = frozenset({"account", "preflight"})
_ALL: frozenset[Knowledge] = frozenset({"plan", "account", "preflight"})

CHECKS: tuple[StackCheck, ...] = (
    StackCheck(_reviewed("policies", lambda k, review: review_policies(k.config, review)), _FILE),
    StackCheck(_reviewed("ARNs", lambda k, review: review_arns(k.config, k.region, review)), _FILE),
    StackCheck(_reviewed("times", lambda k, review: review_block_times(k.config, review)), _FILE),
    StackCheck(
        _reviewed("registries", lambda k, review: review_images(k.config, k.region, review)), _FILE
    ),
    StackCheck(
        _reviewed("DNS names", lambda k, review: review_dns_names(k.config, k.region, review)),
        _FILE,
    ),
    StackCheck(
        _reviewed("monitoring", lambda k, review: review_monitoring(k.config, review)), _FILE
    ),
    StackCheck(_reviewed("effect", lambda k, review: review_effect(k.config, review)), _FILE),
    StackCheck(
        _reviewed("verification", lambda k, review: review_verification(k.config, review)), _FILE
    ),
    StackCheck(
        _reviewed("budget", lambda k, review: review_budget(k.config, k.plan, k.now, review)),
        WITHOUT_ACCOUNT,
    ),
    StackCheck(_of("compute.image_drivers", "planned_image_checks"), WITHOUT_ACCOUNT),
    StackCheck(_left_out, _ACCOUNT),
    StackCheck(_of("network.checks", "network_checks"), _ACCOUNT),
    StackCheck(_of("network.adopted_vpc_check", "adopted_vpc_checks"), _ACCOUNT),
    StackCheck(_of("capacity.checks", "reservation_checks"), _ACCOUNT),
    StackCheck(_of("compute.checks", "offered_type_checks"), _ACCOUNT),
    StackCheck(_of("compute.checks", "shared_group_checks"), _ACCOUNT),
    StackCheck(_of("storage.checks", "file_system_checks"), _ACCOUNT),
    StackCheck(lambda k: account_of(k.config).checks(k), _ACCOUNT),
    StackCheck(_of("named.checks", "named_checks"), _ACCOUNT),
    StackCheck(_of("capacity.checks", "stated_value_checks"), _ACCOUNT),
    StackCheck(_of("capacity.stated_values", "stated_reservation_checks"), _ACCOUNT),
    StackCheck(_plan, _ACCOUNT),
    StackCheck(lambda k: account_of(k.config).plan_checks(k), _BOTH),
    StackCheck(lambda k: account_of(k.config).pin_checks(k), _BOTH),
    StackCheck(_of("compute.image_drivers", "custom_image_checks"), _BOTH),
    StackCheck(_of("capacity.checks", "reservation_warnings"), _ACCOUNT),
    StackCheck(lambda k: account_of(k.config).warnings(k), _BOTH),
    StackCheck(lambda k: account_of(k.config).quota_checks(k), _BOTH),
    StackCheck(_of("capacity.checks", "live_reservation_rows"), _LIVE),
    StackCheck(lambda k: account_of(k.config).preflight_rows(k), _LIVE),
    StackCheck(_of("architectures.preflight", "live_role_rows"), _LIVE),
    StackCheck(_of("compute.checks", "live_type_rows"), _ALL),
    StackCheck(_of("quotas.checks", "live_vcpu_rows"), _ALL),
)
"""The checks of every stack; those of its architecture are in the `account` of its package."""
