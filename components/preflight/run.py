"""The preflight: all account checks, as rows of one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

from trainyard.components.account.facts import (
    AccountFacts,
    PreflightFacts,
    ReservationFacts,
    SubnetFacts,
)
from trainyard.components.account.lookup import AccountReader
from trainyard.components.account.readings import read_side_by_side
from trainyard.components.architectures.lookup import account_facts, account_readings
from trainyard.components.architectures.prepare import Examined, examine
from trainyard.components.architectures.registry import account_of
from trainyard.components.checks.check import Row, skipped, warning
from trainyard.components.config.problems import Problem
from trainyard.components.preflight.account_rows import (
    account_rows,
    provenance_rows,
    reservation_rows,
    role_rows,
)
from trainyard.components.preflight.launch_rows import launch_rows, quota_rows, type_rows
from trainyard.components.preflight.readings import preflight_readings

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan
    from trainyard.components.config.load import AnyStackConfig

CALLER = "caller"
"""Subject of rows about denied calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """The result of the preflight for a stack file."""

    account_id: str
    """Empty if the caller cannot read it."""
    caller_arn: str
    region: str
    plan: AnyPlan | None
    rows: tuple[Row, ...]
    problems: tuple[Problem, ...]
    """All refused rows; empty if nothing prevents `up`."""
    warnings: tuple[str, ...]
    config: AnyStackConfig | None = None
    """The stack file, completed with values from the account."""
    subnets: Mapping[str, SubnetFacts] = field(default_factory=dict[str, SubnetFacts])
    """The existing subnets that were read, by id."""


def run_preflight(
    config: AnyStackConfig,
    *,
    stack_file: str,
    region: str,
    now: datetime,
    expected: Mapping[str, ReservationFacts] = MappingProxyType({}),
) -> Preflight:
    """Run all account checks of a stack, without any change.

    `expected` are reservations that do not exist yet, by id; the checks take them as existing.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    reader = AccountReader(region=region)
    facts, more = _look_up(reader, config, expected)
    found = examine(config, facts, stack_file=stack_file, region=region, now=now)
    judged = list(account_rows(facts, found.checks))
    further = [*provenance_rows(config, found.config), *_rows(found, facts, more, now)]
    if found.plan is not None and not found.problems:
        # A dry run with known problems would only report them again.
        further += launch_rows(reader, found.plan, facts)
    rows = [*judged, *further]
    rows += (skipped(CALLER, *_call_and_reason(line)) for line in _unshown(reader, rows))
    rows += (warning("architecture", "expected result", text) for text in found.warnings)
    beyond = (row.problem for row in further if row.problem is not None)
    return Preflight(
        account_id=facts.account_id,
        caller_arn=more.caller_arn,
        region=region,
        plan=found.plan,
        rows=tuple(rows),
        problems=(*found.problems, *beyond),
        warnings=found.warnings,
        config=found.config,
        subnets=facts.subnets,
    )


def _look_up(
    reader: AccountReader, config: AnyStackConfig, expected: Mapping[str, ReservationFacts]
) -> tuple[AccountFacts, PreflightFacts]:
    answers = read_side_by_side(
        [*account_readings(reader, config), *preflight_readings(reader, config)]
    )
    own = {each.name for each in fields(PreflightFacts)}
    facts = {name: value for name, value in answers.items() if name not in own}
    facts["reservations"] = {**facts.get("reservations", {}), **expected}
    more = {name: value for name, value in answers.items() if name in own}
    found = account_facts(facts, reader, config)
    return found, PreflightFacts(**more, unreadable=reader.not_read())


def _rows(
    found: Examined, facts: AccountFacts, more: PreflightFacts, now: datetime
) -> Iterator[Row]:
    config = found.config
    yield from reservation_rows(config, facts, more, now)
    account = account_of(config)
    yield from account.preflight_rows(config, facts, more, now.astimezone(UTC).date())
    yield from role_rows(config, more)
    if found.plan is not None:
        planned = found.plan.node_pools
        yield from type_rows(planned, more)
        yield from quota_rows(planned, config.architecture.own_nodes(), more)


def _unshown(reader: AccountReader, rows: list[Row]) -> list[str]:
    """Return the denied calls that no row names."""
    shown = [row.found for row in rows if row.verdict == "skipped"]
    return [line for line in reader.not_read() if not any(line in found for found in shown)]


def _call_and_reason(line: str) -> tuple[str, str]:
    call, _, reason = line.partition(": ")
    return f"may {call}", reason
