"""Rows for account checks, service-linked roles, and reservations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from trainyard.components.account.facts import (
    LATER,
    AccountFacts,
    InvitationFacts,
    PreflightFacts,
    ReservationFacts,
    UltraserverFacts,
    why_not,
    why_not_active,
)
from trainyard.components.account.reservations import DESCRIBE, found_reservations, held_count
from trainyard.components.catalog.capacity_blocks import ultraserver_sizes
from trainyard.components.checks.check import (
    Check,
    Row,
    Subject,
    below_root,
    ok,
    refused,
    skipped,
    warning,
)
from trainyard.components.config.problems import Problem
from trainyard.components.config.reservations import CapacityBlock, Reservation
from trainyard.components.config.stack import StackConfig
from trainyard.components.preflight.readings import (
    DESCRIBE_BLOCK_STATUS,
    GET_INVITATIONS,
    GET_ROLE,
    service_roles,
)

if TYPE_CHECKING:
    from trainyard.components.config.load import AnyStackConfig


ROLE = "the service-linked role exists or can be created"


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


# Rows for share invitations, free capacity and health of reservations.
#
# Nothing is refused here, because this state changes: shares are accepted and nodes terminate, and
# the stack's own nodes can use the capacity.


FREE = "has capacity for the nodes now"
SHARED = "its resource share is accepted"
RUNS = "is active now"
HEALTHY = "the interconnect and the instances of its UltraServer are healthy"
READ = "its placement group can be read from the account"


def reservation_rows(
    config: StackConfig, facts: AccountFacts, more: PreflightFacts, now: datetime
) -> Iterator[Row]:
    """Yield rows on the state of each reservation."""
    for name, reservation in config.reservations.items():
        key = f"reservations.{name}"
        found = found_reservations(reservation, facts)
        yield from _share_rows(key, reservation, found, facts, more)
        if found:
            yield from _time_rows(key, found, now)
            yield from _health_rows(key, found, more)
            yield _address_row(key, name, found, config)


def provenance_rows(asked: StackConfig, completed: StackConfig) -> Iterator[Row]:
    """Yield the result of each `provenance: auto`."""
    for name, reservation in asked.reservations.items():
        found = completed.reservations[name]
        if isinstance(reservation, CapacityBlock) or isinstance(found, CapacityBlock):
            continue
        key = f"reservations.{name}.provenance"
        if reservation.provenance == "auto" and found.provenance == "auto":
            yield warning(key, READ, "unknown: nodes are planned without a placement group")
        elif reservation.provenance == "auto":
            group = f"group {found.placement_group}" if found.placement_group else "no group"
            yield ok(key, READ, f"{found.provenance}: nodes launch into {group}")


def _share_rows(
    key: str,
    asked: Reservation,
    found: list[ReservationFacts],
    facts: AccountFacts,
    more: PreflightFacts,
) -> Iterator[Row]:
    if isinstance(asked, CapacityBlock):
        return
    foreign = {each.owner_id for each in found if each.owner_id != facts.account_id}
    if found:
        if foreign and facts.account_id:
            yield ok(
                key,
                SHARED,
                f"visible in this account; owned by account {', '.join(sorted(foreign))}",
            )
        return
    reason = more.why_not(GET_INVITATIONS)
    waiting = [each for each in more.invitations if each.status == "PENDING"]
    if reason is not None:
        yield skipped(key, SHARED, reason)
    elif asked.resource_share_arn is not None:
        yield _invitation_row(key, asked.resource_share_arn, more)
    elif waiting and facts.could_read(DESCRIBE):
        yield warning(key, SHARED, f"not visible in this account; {_waiting(waiting)}")


def _invitation_row(key: str, share: str, more: PreflightFacts) -> Row:
    named = next((each for each in more.invitations if each.share_arn == share), None)
    if named is None:
        none = (
            f"this account has no invitation to {share}; its owner must share it with this account"
        )
        return warning(key, SHARED, none)
    if named.status == "PENDING":
        sender = named.sender_id
        return ok(key, SHARED, f"the invitation of account {sender} is pending; `up` accepts it")
    return warning(
        key,
        SHARED,
        f"the invitation is {named.status}, but the reservation is not visible in this account",
    )


def _waiting(invitations: list[InvitationFacts]) -> str:
    named = ", ".join(f"{each.share_name} of account {each.sender_id}" for each in invitations)
    arn = invitations[0].share_arn
    return (
        f"pending invitations that can contain it: {named}. Set resource_share_arn ({arn}), or "
        "accept it with `aws ram accept-resource-share-invitation`"
    )


def _time_rows(key: str, found: list[ReservationFacts], now: datetime) -> Iterator[Row]:
    for each in found:
        reason = why_not_active(each.state, each.starts_at)
        if reason is not None:
            yield warning(key, RUNS, f"no node launches into {each.reservation_id}: {reason}")
        elif each.ends_at is not None and now < each.ends_at:
            left = each.ends_at - now
            hours = int(left.total_seconds() // 3600)
            until = f"{each.reservation_id} until {_time(each.ends_at)}, {hours} hours from now"
            yield (ok if hours >= 1 else warning)(key, RUNS, until)


def _health_rows(key: str, found: list[ReservationFacts], more: PreflightFacts) -> Iterator[Row]:
    """Yield the health of UltraServers that have started.

    EC2 leaves the instances of one that is impaired as they are, until they are terminated and a
    support case is open.
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
    """
    for each in found:
        is_ultraserver = each.kind == "capacity-block" and ultraserver_sizes(each.instance_type)
        if not is_ultraserver or each.state != "active":
            continue
        health = more.ultraservers.get(each.reservation_id)
        reason = more.why_not(DESCRIBE_BLOCK_STATUS)
        if health is None:
            missing = f"EC2 reports no status of {each.reservation_id}"
            yield skipped(key, HEALTHY, reason or missing)
        elif health.interconnect == "insufficient-data":
            yield skipped(key, HEALTHY, "EC2 has not enough data about its interconnect")
        elif health.interconnect != "ok" or health.unavailable:
            yield warning(key, HEALTHY, _unhealthy(each.reservation_id, health))
        else:
            yield ok(key, HEALTHY, f"interconnect ok, {health.instances} instances")


def _unhealthy(reservation_id: str, health: UltraserverFacts) -> str:
    return (
        f"interconnect {health.interconnect}, {health.unavailable} of {health.instances} instances "
        f"of {reservation_id} unavailable: jobs on all its nodes fail. EC2 repairs it only when "
        "all its instances are terminated: set the number of nodes to 0, run `up`, and open a case "
        "with AWS Support"
    )


def _address_row(key: str, name: str, found: list[ReservationFacts], config: StackConfig) -> Row:
    wanted = sum(pool.wanted for pool in config.pools_with(name))
    counted = [each for each in found if each.available_count is not None]
    if not counted:
        return skipped(key, FREE, "EC2 did not return the number of available instances")
    free = sum(each.available_count or 0 for each in counted)
    held = held_count(found)
    if held is None:
        return skipped(key, FREE, "EC2 does not show the number of instances before the start")
    numbers = f"{free} of {held} are available, {wanted} needed"
    if all(each.state in LATER for each in found):
        return ok(key, FREE, f"{held} instances from its start, {wanted} needed")
    if free >= wanted:
        return ok(key, FREE, numbers)
    return warning(
        key,
        FREE,
        f"{numbers}; sufficient if nodes of this stack use the others, otherwise nodes wait",
    )


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


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
            yield from _rows(each, facts)


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


def _rows(judged: _Judged, facts: AccountFacts) -> Iterator[Row]:
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
