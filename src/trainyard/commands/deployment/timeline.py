"""`timeline`: when the Capacity Blocks of a stack start and end, and what happens until then."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from trainyard.cli import console, failures, options
from trainyard.components import clock
from trainyard.components.capacity.lookup import with_block_times
from trainyard.components.capacity.timeline import Moment, Timeline, block_timelines
from trainyard.progress.durations import duration
from trainyard.stack_files.files import write_whole
from trainyard.stack_files.stack_config import config_of
from trainyard.topology.timeline_picture import timeline_picture


def timeline(
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
    as_json: options.AsJson = False,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg",
            metavar="FILE",
            parser=options.output_file,
            help="Also write a picture to this file.",
        ),
    ] = None,
) -> None:
    """Show when the Capacity Blocks of a stack start and end, and what happens. Changes nothing.

    Times that the stack file does not have are read from the account.
    """
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    with target.access():
        reader = target.reader()
        timelines = block_timelines(with_block_times(config_of(target.stack_file), reader))
        now = clock.now()
    if not timelines:
        raise failures.CommandError(
            f"no nodes of {stack} launch into a Capacity Block, so it has no timeline; an entry of "
            "`reservations` with `kind: capacity-block` and a node pool whose `purchase_option` "
            "names it have one"
        )
    if svg is not None:
        write_whole(svg, timeline_picture(stack, timelines, now))
        console.progress(f"the picture is in {svg}")
    if as_json:
        blocks = [{**dataclasses.asdict(each), "state": each.state(now)} for each in timelines]
        console.answer_json({"stack": stack, "now": now, "blocks": blocks})
        return
    for each in timelines:
        for line in _lines(each, now):
            console.answer(line)
    for call in reader.not_read():
        console.progress(f"not read: {call}")


def _lines(block: Timeline, now: datetime) -> Iterator[str]:
    yield (
        f"{block.reservation}: Capacity Block {block.reservation_id}, {block.state(now)} "
        f"({'; '.join(block.pools)})"
    )
    if not block.moments:
        yield "  its times are unknown: set `starts_at` and `ends_at`, or `reservation_id`"
    for moment in _with_now(block.moments, now):
        mark = ">" if moment.at == now else " "
        time = f"{moment.at:%a %Y-%m-%d %H:%M} UTC  {_distance(moment.at - now)}"
        yield f"{mark} {time}  {moment.event}"


def _with_now(moments: Sequence[Moment], now: datetime) -> list[Moment]:
    """Return the moments with the present one, in the order of time."""
    if not moments:
        return []
    present = f"now; local time {now.astimezone():%H:%M %Z}"
    return sorted([*moments, Moment(at=now, event=present)], key=lambda moment: moment.at)


def _distance(delta: timedelta) -> str:
    """Return a time from now in a fixed width: `in 6 d 20 h`, `40 min ago`."""
    if delta == timedelta(0):
        return " " * 15
    text = duration(60 * round(abs(delta) / timedelta(minutes=1)))
    return (f"in {text}" if delta > timedelta(0) else f"{text} ago").rjust(15)
