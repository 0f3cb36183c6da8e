"""Durations of a stack file that do not fit into its Capacity Blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from math import ceil

from trainyard.components.config.problems import Review
from trainyard.components.config.reservations import CapacityBlock
from trainyard.components.config.stack import StackConfig

_WARNINGS = "monitoring.alarms.block_warning_hours"
_IDLE = "monitoring.alarms.idle_minutes"


def block_lengths(config: StackConfig) -> dict[str, timedelta]:
    """Return the lengths of the Capacity Blocks that nodes use, by entry of `reservations`.

    Blocks without a known start or end are missing; `config` is completed with the account if that
    is known.
    """
    return {
        name: block.ends_at - block.starts_at
        for name, block in config.used_reservations().items()
        if isinstance(block, CapacityBlock) and block.starts_at and block.ends_at
    }


def review_block_times(config: StackConfig, review: Review) -> None:
    """Refuse warnings that no block is long enough for, and note limits that blocks cut short.

    A warning that would be due before the start of a block is never sent:
    `trainyard.components.capacity.timeline.block_warnings`.
    """
    lengths = block_lengths(config)
    if not lengths:
        return
    used = config.used_reservations()
    blocks = [name for name, each in used.items() if isinstance(each, CapacityBlock)]
    alarms = config.monitoring.alarms if config.monitoring else None
    if alarms is not None:
        _review_warnings(alarms.block_warning_hours, lengths, len(blocks), review)
        longest = max(lengths.values())
        if len(used) == len(lengths) and timedelta(minutes=alarms.idle_minutes) >= longest:
            review.note(
                f"{_IDLE}: {alarms.idle_minutes} minutes are as long as the Capacity Block "
                f"({_text(longest)}), so that no alarm about unused nodes can go off"
            )
    for key, minutes, options in config.architecture.job_limits():
        _note_limit(key, timedelta(minutes=minutes), options, lengths, review)


def _review_warnings(
    warnings: Sequence[int], lengths: Mapping[str, timedelta], blocks: int, review: Review
) -> None:
    """Record the warnings, in hours, that are not sent; `blocks` is the number of all blocks."""
    longest = max(lengths.values())
    most = ceil(longest / timedelta(hours=1)) - 1
    remaining = ", ".join(str(hours) for hours in warnings if hours <= most)
    for index, hours in enumerate(warnings):
        short = [name for name, each in lengths.items() if each <= timedelta(hours=hours)]
        if len(short) == blocks:
            review.refuse(
                f"{_WARNINGS}[{index}]",
                f"is not shorter than the Capacity Block {', '.join(short)} ({_text(longest)}); "
                "the warning would be due before the start, and is never sent",
                found=hours,
                allowed=f"less than {_text(longest)}",
                remedy=(
                    f"remove it; {remaining} remain"
                    if remaining
                    else f"set it to {max(most, 1)} or less, or remove it"
                ),
            )
        elif short:
            review.note(
                f"{_WARNINGS}: the warning {hours} h before the end is not sent of "
                f"{', '.join(short)}, which is not longer"
            )


def _note_limit(
    key: str,
    limit: timedelta,
    options: Sequence[str],
    lengths: Mapping[str, timedelta],
    review: Review,
) -> None:
    """Note a time limit of jobs that is longer than each block that their nodes can be in."""
    own = [lengths[option] for option in options if option in lengths]
    if own and len(own) == len(options) and limit > max(own):
        review.note(
            f"{key}: {_text(limit)} is longer than the Capacity Block of the nodes "
            f"({_text(max(own))}), whose end stops a job before its limit"
        )


def _text(length: timedelta) -> str:
    hours = length / timedelta(hours=1)
    return f"{hours:g} h"
