"""One charge of a stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from trainyard.components.catalog.prices import HOURS_PER_MONTH, Price

Group = Literal["nodes", "control plane", "network", "storage", "monitoring"]
Prices = Mapping[str, Price]
"""By key, for the region of a stack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostItem:
    """A charge for something that the stack has, or that its nodes are reserved in."""

    group: Group
    what: str
    """The thing and its size, such as `root volumes, 500 GiB gp3`."""
    resource: str
    """Key in the stack file, relative to `trainyard:cluster`."""
    key: str
    """Key of the price."""
    unit: str
    """What the price is for, such as `node` or `GiB`."""
    period: Literal["hour", "month", "use"]
    """Whether the price is for an hour or a month, or depends on use, whose amount is unknown."""
    quantity: float = 0
    """Units that are always there; 0 if the charge depends on use."""
    most: float = 0
    """Units when jobs have launched all nodes."""
    in_block: bool = False
    """Whether it ends with a Capacity Block."""
    whether_used: bool = False
    """Whether it is paid whether nodes run or not, also without the stack: an ODCR."""
    price: Price | None = None
    """None if it is not known."""

    @property
    def is_unknown(self) -> bool:
        """Whether something is there whose price is not known."""
        return self.price is None and self.period != "use" and bool(self.quantity or self.most)

    @property
    def hourly_usd(self) -> float:
        """Cost of what is always there, for an hour; 0 if it is unknown."""
        return self._hourly(self.quantity)

    @property
    def most_hourly_usd(self) -> float:
        """The same when jobs have launched all nodes."""
        return self._hourly(max(self.most, self.quantity))

    def _hourly(self, quantity: float) -> float:
        if self.price is None or self.period == "use":
            return 0.0
        hours = 1 if self.period == "hour" else HOURS_PER_MONTH
        return self.price.usd * quantity / hours


def by_use(group: Group, what: str, resource: str, key: str, unit: str) -> CostItem:
    """Return a charge whose amount depends on use."""
    return CostItem(group=group, what=what, resource=resource, key=key, unit=unit, period="use")


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockCost:
    """The fee of a Capacity Block, which is paid in advance."""

    resource: str
    """Key in the stack file, relative to `trainyard:cluster`."""
    reservation_id: str
    nodes: str
    """Such as `2 x p5.48xlarge`."""
    fee_usd: float | None
    """None if it is not known: EC2 does not tell it after the purchase."""
    starts_at: datetime | None
    ends_at: datetime | None

    def left_usd(self, now: datetime) -> float | None:
        """Return the share of the fee for the time that is left; None if fee or times are unknown.

        It is paid and not refunded, also if it is not used.
        """
        return fee_left(self.fee_usd, self.starts_at, self.ends_at, now)


def fee_left(
    fee_usd: float | None, starts_at: datetime | None, ends_at: datetime | None, now: datetime
) -> float | None:
    """Return the share of a fee for the time from now to the end of its window."""
    if fee_usd is None or starts_at is None or ends_at is None:
        return None
    left = ends_at - max(now, starts_at)
    return fee_usd * max(0.0, left / (ends_at - starts_at))
