"""The reservations of an account: who uses them, and which can be released."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from trainyard.capacity.wording import both
from trainyard.components.account.reader import AccountReader
from trainyard.components.capacity.facts import OVER, Holders, ReservationFacts
from trainyard.components.capacity.lookup import every_reservation, look_up_holders
from trainyard.components.capacity.reservations import held_text
from trainyard.components.config.problems import Problem
from trainyard.components.cost.item import fee_left
from trainyard.components.tagging import RESERVATION_TAG, creator_of
from trainyard.stack_files.stack_files import StackFile
from trainyard.stack_files.stack_outline import reservations_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedReservation:
    """A reservation and its use."""

    region: str
    facts: ReservationFacts
    is_own: bool
    """Whether this account owns it; otherwise it is shared."""
    stacks: tuple[str, ...]
    """Stacks whose files name it."""
    used: int | None
    """Instances in use; None if EC2 does not say."""
    holders: Holders
    """Instances of this account in it, by owner."""
    hours_left: float | None
    """Time that it still can be used, from its start; None without an end."""
    fee_usd: float | None
    """The fee of a Capacity Block, if a stack file has it; EC2 does not tell it."""
    left_usd: float | None
    """The share of the fee for the time that is left."""

    @property
    def creator(self) -> str | None:
        """The stack of this account that has created it; None if none has."""
        is_created = self.is_own and RESERVATION_TAG in self.facts.tags
        found = creator_of(self.facts.tags) if is_created else None
        return (found[0] or found[1]) if found else None

    @property
    def use(self) -> str:
        """The use as text, such as `2 of 4: 2 used by prod-a`."""
        total = self.facts.instance_count
        if self.facts.known_count is None:
            return "not shown before its start"
        if self.used is None:
            return f"{total}"
        held = held_text(self.holders, used=self.used, ids=False)
        lent = f"; others lent to {self.facts.lent_to}" if self.facts.lent_to else ""
        return f"{self.used} of {total}" + (f": {held}" if held else "") + lent

    @property
    def kind(self) -> str:
        """The kind as text: of a shared or interruptible reservation with that word."""
        kind = "Capacity Block" if self.facts.kind == "capacity-block" else "ODCR"
        words = ["interruptible"] if self.facts.interruptible else []
        words += [] if self.is_own else [f"shared by {self.facts.owner_id}"]
        return f"{kind}, {', '.join(words)}" if words else kind

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON; times are RFC 3339."""
        facts = self.facts
        return {
            "reservation_id": facts.reservation_id,
            "region": self.region,
            "kind": facts.kind,
            "interruptible": facts.interruptible,
            "source_id": facts.source_id,
            "lent_to": facts.lent_to,
            "owner_id": facts.owner_id,
            "is_own": self.is_own,
            "state": facts.state,
            "instance_type": facts.instance_type,
            "zone": facts.availability_zone,
            "zone_id": facts.zone_id,
            "instances": facts.known_count,
            "used": self.used,
            "used_by": {owner: [*ids] for owner, ids in self.holders.items()},
            "stacks": [*self.stacks],
            "created_by": self.creator,
            "starts_at": facts.starts_at and facts.starts_at.isoformat(),
            "ends_at": facts.ends_at and facts.ends_at.isoformat(),
            "hours_left": self.hours_left,
            "fee_usd": self.fee_usd,
            "left_usd": None if self.left_usd is None else round(self.left_usd, 2),
        }


def listed_reservations(
    reader: AccountReader,
    stacks: Mapping[str, Sequence[str]],
    now: datetime,
    *,
    fees: Mapping[str, float] | None = None,
) -> list[ListedReservation]:
    """Return the reservations of a region: those in use first, then by type and id.

    Args:
        reader: Reader of the region.
        stacks: Stacks by the reservation that their files name.
        now: The time.
        fees: Fees of Capacity Blocks in USD, by the reservation.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    found = [*every_reservation(reader)]
    held = [each.reservation_id for each in found if each.state == "active"]
    holders = look_up_holders(reader, held)
    account = reader.account_id()
    paid = fees or {}
    listed = [
        ListedReservation(
            region=reader.region,
            facts=each,
            is_own=each.owner_id == account,
            stacks=tuple(stacks.get(each.reservation_id, ())),
            used=_used(each),
            holders=holders.get(each.reservation_id, {}),
            hours_left=_hours_left(each, now),
            fee_usd=paid.get(each.reservation_id),
            left_usd=fee_left(paid.get(each.reservation_id), each.starts_at, each.ends_at, now),
        )
        for each in found
    ]
    return sorted(listed, key=_order)


def stacks_by_reservation(
    stack_files: Iterable[StackFile], region: str
) -> dict[str, tuple[str, ...]]:
    """Return the names of the stacks of a region by the reservations that their files name."""
    found: dict[str, tuple[str, ...]] = {}
    for each in stack_files:
        if each.region != region:
            continue
        for entry in reservations_of(each).values():
            ids = [entry.get("reservation_id"), *_members(entry.get("members"))]
            for reservation_id in dict.fromkeys(str(i) for i in ids if i):
                found[reservation_id] = (*found.get(reservation_id, ()), each.stack)
    return found


def fees_by_reservation(stack_files: Iterable[StackFile]) -> dict[str, float]:
    """Return the fees in USD that stack files have, by the Capacity Block."""
    return {
        str(entry.get("reservation_id")): float(fee)
        for each in stack_files
        for entry in reservations_of(each).values()
        if isinstance(fee := entry.get("upfront_fee_usd"), (int, float))
    }


def _members(value: Any) -> list[str]:
    """Return the ids of the members of a group, which may be ARNs."""
    with contextlib.suppress(TypeError):
        return [str(each).rpartition("/")[2] for each in value or ()]
    return []


def _used(found: ReservationFacts) -> int | None:
    if found.state != "active":
        return 0
    return None if found.available_count is None else found.instance_count - found.available_count


def _hours_left(found: ReservationFacts, now: datetime) -> float | None:
    if found.ends_at is None or found.state in OVER:
        return None
    first = max(now, found.starts_at or now)
    return round(max(found.ends_at - first, timedelta()) / timedelta(hours=1), 1)


def _order(each: ListedReservation) -> tuple[object, ...]:
    facts = each.facts
    return (facts.state in OVER, facts.instance_type, each.region, facts.reservation_id)


# Which reservations can be released.
#
# Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CancelCapacityReservation.html


CANCEL = "ec2:CancelCapacityReservation"
_RELEASABLE = ("active", "pending", "assessing", "delayed")
_ALLOCATION = "aws ec2 update-interruptible-capacity-reservation-allocation"


def release_problems(found: ListedReservation, now: datetime) -> Iterator[Problem]:
    """Yield why a reservation cannot be released."""
    facts = found.facts
    if facts.kind == "capacity-block":
        yield Problem(
            path="RESERVATION",
            problem="it is a Capacity Block, which AWS neither cancels nor refunds",
            found=facts.reservation_id,
            remedy=(
                "use it until its end; to run no nodes in it, set the number of nodes to 0 and run "
                "`up`"
            ),
        )
        return
    if not found.is_own:
        yield Problem(
            path="RESERVATION",
            problem=f"only its owner, the account {facts.owner_id}, can release it",
            found=facts.reservation_id,
            remedy="ask the owner; leave the share with `aws ram disassociate-resource-share`",
        )
        return
    if facts.interruptible or facts.lent_to:
        yield _allocated(facts)
        return
    committed = facts.committed_until
    is_committed = committed is not None and committed > now and facts.state == "active"
    if facts.state not in _RELEASABLE or is_committed:
        until = f", and you are committed to it until {both(committed)}" if committed else ""
        yield Problem(
            path="RESERVATION",
            problem=(f"it is {facts.state}{until}: EC2 cancels it only for a charge, with a quote"),
            found=facts.reservation_id,
            remedy=(
                "look at the charge with `aws ec2 create-capacity-reservation-cancellation-quote "
                f"--capacity-reservation-id {facts.reservation_id}`, and cancel it with the quote"
            ),
        )


def _allocated(facts: ReservationFacts) -> Problem:
    """Return the problem of an interruptible reservation, or of the source of one.

    Only the allocation of the source changes an interruptible reservation. What becomes of it when
    its source is cancelled is not documented.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/interruptible-capacity-reservations.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-owner-procedures.html
    """
    source = (facts.source_id or "cr-…") if facts.interruptible else facts.reservation_id
    return Problem(
        path="RESERVATION",
        problem=(
            "it is interruptible: EC2 takes its instances back only through its source"
            if facts.interruptible
            else f"the interruptible reservation {facts.lent_to} has instances of it"
        ),
        found=facts.reservation_id,
        remedy=(
            f"take them back with `{_ALLOCATION} --capacity-reservation-id {source} "
            "--target-instance-count 0`; instances in the interruptible reservation are terminated "
            "two minutes after a notice"
        ),
    )
