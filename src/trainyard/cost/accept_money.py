"""The most that an acceptance may cost."""

from __future__ import annotations

from datetime import timedelta

from trainyard.capacity.wording import money
from trainyard.cli import failures
from trainyard.components.cost.estimate import Estimate
from trainyard.cost.price_list import current_cost
from trainyard.stack_files.stack_files import StackFile
from trainyard.workspace.target import Target

DELETION_MINUTES = 30
"""Time for the deletion, which costs too and is not interrupted."""


def money_limit(
    target: Target, max_usd: float, limit_minutes: float, *, is_new: bool
) -> timedelta | None:
    """Return the time from the begin of an acceptance after which the deletion must begin.

    ODCRs and Capacity Blocks are paid with and without the acceptance, so they do not count.

    Args:
        target: The stack and its account.
        max_usd: The limit.
        limit_minutes: The limit of the time.
        is_new: Whether nothing was deployed yet, so that it can be refused.

    Returns:
        None if the stack costs nothing for its time.

    Raises:
        WrongUseError: a new acceptance can cost more, or what it costs is not known.
    """
    found = current_cost(target).estimate
    hourly = found.stack_hourly_usd
    if is_new:
        _refuse_unknown(target.stack_file, found)
        expected = hourly * (limit_minutes + DELETION_MINUTES) / 60
        if expected > max_usd:
            raise failures.WrongUseError(_above(target.stack_file, hourly, expected, max_usd))
    if not hourly:
        return None
    return timedelta(hours=max_usd / hourly) - timedelta(minutes=DELETION_MINUTES)


def _refuse_unknown(stack_file: StackFile, found: Estimate) -> None:
    if not found.unknown:
        return
    keys = ", ".join(dict.fromkeys(each.resource for each in found.unknown))
    raise failures.WrongUseError(
        f"--max-usd: the prices of {keys} of {stack_file.stack} are not known, so its cost cannot "
        "be limited; accept another stack, or limit the time alone, with --limit-minutes"
    )


def _above(stack_file: StackFile, hourly: float, expected: float, max_usd: float) -> str:
    minutes = int(max_usd / hourly * 60) - DELETION_MINUTES
    fix = f"set --max-usd {expected:.2f}"
    if minutes >= 1:
        fix += f", or --limit-minutes {minutes}"
    return (
        f"--max-usd: {stack_file.stack} costs {money(hourly, 'USD')} an hour, so the time limit "
        f"and {DELETION_MINUTES} minutes for the deletion cost up to {money(expected, 'USD')}, "
        f"above {money(max_usd, 'USD')}; {fix}"
    )
