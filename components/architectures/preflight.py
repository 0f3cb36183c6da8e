"""All account checks of a stack as rows of a table, without any change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from trainyard.components.account.check import (
    Check,
    Row,
    ServiceRole,
    Subject,
    below_root,
    ok,
    refused,
    skipped,
    warning,
)
from trainyard.components.account.facts import AccountFacts, PreflightFacts, why_not
from trainyard.components.account.known import Known
from trainyard.components.account.reader import AccountReader, Reading, read_side_by_side
from trainyard.components.architectures.lookup import account_facts, account_readings
from trainyard.components.architectures.prepare import examine
from trainyard.components.architectures.registry import account_of
from trainyard.components.capacity.facts import ReservationFacts
from trainyard.components.capacity.lookup import look_up_invitations, look_up_ultraservers
from trainyard.components.catalog.capacity_blocks import ultraserver_sizes
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.compute.dry_run import launch_rows
from trainyard.components.compute.lookup import look_up_types
from trainyard.components.config.problems import Problem
from trainyard.components.config.provider_settings import OF_ENVIRONMENT, ProviderSettings
from trainyard.components.config.reservations import CapacityBlock
from trainyard.components.network.facts import SubnetFacts
from trainyard.components.quotas.lookup import look_up_vcpu_quota, vcpu_quotas_of

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan
    from trainyard.components.config.load import AnyStackConfig


# The service-linked roles that a stack needs.
#
# AWS creates each role when a service first needs it, if the caller can create service-linked
# roles. Without this permission, `up` fails halfway.
#
# Sources:
#     https://docs.aws.amazon.com/eks/latest/userguide/using-service-linked-roles-eks.html
#     https://docs.aws.amazon.com/eks/latest/userguide/using-service-linked-roles-eks-nodegroups.html
#     https://docs.aws.amazon.com/autoscaling/ec2/userguide/autoscaling-service-linked-role.html
#     https://docs.aws.amazon.com/batch/latest/userguide/using-service-linked-roles-batch.html
#     https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/service-linked-roles-spot-instance-requests.html


def service_roles(config: AnyStackConfig) -> Iterator[ServiceRole]:
    """Yield the roles that a stack needs."""
    yield from account_of(config).needs.service_roles
    spot = next((pool for pool in config.pools() if pool.purchase_option == "spot"), None)
    if spot is not None:
        yield ServiceRole("AWSServiceRoleForEC2Spot", "spot.amazonaws.com", spot.key)


GET_ROLE = "iam:GetRole"


def preflight_readings(reader: AccountReader, config: AnyStackConfig) -> Iterator[Reading]:
    """Yield the readings for a stack, in any order."""
    yield lambda: {"caller_arn": _caller(reader)}
    if types := sorted({pool.instance_type for pool in config.pools()} & set(INSTANCE_TYPES)):
        yield lambda: {"instance_types": look_up_types(reader, types)}
    for quota in vcpu_quotas_of(config):
        yield lambda quota=quota: {"quotas_vcpus": look_up_vcpu_quota(reader, quota)}
    if any(not isinstance(each, CapacityBlock) for each in config.reservations.values()):
        yield lambda: {"invitations": look_up_invitations(reader)}
    if any(ultraserver_sizes(pool.instance_type) for pool in config.pools()):
        yield lambda: {"ultraservers": look_up_ultraservers(reader)}
    for role in service_roles(config):
        yield lambda role=role: {"role_names": _role(reader, role.name)}
    account = account_of(config)
    yield from account.preflight_readings(reader, config)


def _caller(reader: AccountReader) -> str:
    answer = reader.ask_or_none("sts:GetCallerIdentity", reader.sts.get_caller_identity)
    return answer["Arn"] if answer else ""


def _role(reader: AccountReader, name: str) -> Mapping[str, bool]:
    answer = reader.ask_or_none(GET_ROLE, reader.client("iam").get_role, RoleName=name)
    return {} if answer is None else {name: True}


ROLE = "the service-linked role exists or can be created"


def live_role_rows(known: Known[Any, Any]) -> Iterator[Row]:
    """Yield rows on the service-linked roles that the stack needs."""
    yield from role_rows(known.config, known.more)


def role_rows(config: AnyStackConfig, more: PreflightFacts) -> Iterator[Row]:
    """Yield rows on service-linked roles; AWS creates missing roles when they are needed."""
    for role in service_roles(config):
        reason = more.why_not(GET_ROLE)
        if reason is not None:
            yield skipped(role.key, ROLE, f"{role.name}: {reason}")
        elif role.name in more.role_names:
            yield ok(role.key, ROLE, role.name)
        else:
            yield ok(
                role.key,
                ROLE,
                (
                    f"{role.name}: does not exist; AWS creates it on first use if the caller has "
                    f"iam:CreateServiceLinkedRole for {role.service}"
                ),
            )


# Rows for the account checks that the program runs before it registers resources.
#
# A check yields problems, each with a key of the stack file, and names its subjects, so that passed
# checks have rows too: a problem goes into the row with the longest matching key, or into its own
# row if none matches.


@dataclass(frozen=True, slots=True)
class _Judged:
    subject: Subject
    problems: list[Problem]


def account_rows(facts: AccountFacts, checks: Iterable[Check]) -> Iterator[Row]:
    """Yield the rows of the completed checks, in order."""
    for name, same in _by_name(checks).items():
        judged = [_Judged(subject, []) for check in same for subject in check.subjects]
        for problem in (problem for check in same for problem in check.problems):
            _place(problem, name, judged)
        for each in judged:
            yield from _judged_rows(each, facts)


def _by_name(checks: Iterable[Check]) -> dict[str, list[Check]]:
    named: dict[str, list[Check]] = {}
    for check in checks:
        named.setdefault(check.name, []).append(check)
    return named


def _place(problem: Problem, name: str, judged: list[_Judged]) -> None:
    path = below_root(problem.path)
    over = [each for each in judged if _lies_under(path, each.subject.key)]
    if not over:
        over = [_Judged(Subject(path, name, ""), [])]
        judged.extend(over)
    max(over, key=lambda each: len(each.subject.key)).problems.append(problem)


def _lies_under(path: str, key: str) -> bool:
    return path == key or path.startswith((f"{key}.", f"{key}["))


def _judged_rows(judged: _Judged, facts: AccountFacts) -> Iterator[Row]:
    subject = judged.subject
    for problem in judged.problems:
        yield refused(subject.asked, problem)
    if judged.problems:
        return
    reason = why_not(facts.unreadable, *subject.calls)
    if reason is not None:
        yield skipped(subject.key, subject.asked, reason)
    else:
        yield ok(subject.key, subject.asked, subject.found)


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
    settings: ProviderSettings = OF_ENVIRONMENT,
    expected: Mapping[str, ReservationFacts] = MappingProxyType({}),
) -> Preflight:
    """Run all account checks of a stack, without any change.

    `settings` say how the account is reached, by default with what the environment has.
    `expected` are reservations that do not exist yet, by id; the checks take them as existing.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    reader = AccountReader(region=region, settings=settings)
    facts, more = _look_up(reader, config, expected)
    found = examine(config, facts, stack_file=stack_file, region=region, now=now, live=more)
    judged, further = list(account_rows(facts, found.checks)), [*found.rows]
    if found.plan is not None and not found.problems:
        # A dry run with known problems would only report them again.
        further += launch_rows(reader, found.plan.node_pools, found.plan.network, facts)
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


def _unshown(reader: AccountReader, rows: list[Row]) -> list[str]:
    """Return the denied calls that no row names."""
    shown = [row.found for row in rows if row.verdict == "skipped"]
    return [line for line in reader.not_read() if not any(line in found for found in shown)]


def _call_and_reason(line: str) -> tuple[str, str]:
    call, _, reason = line.partition(": ")
    return f"may {call}", reason
