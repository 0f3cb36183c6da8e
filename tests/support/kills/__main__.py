"""Kill at every resource of a stack, each with a kill of its own: the long form, by hand.

`python -m tests.support.kills p5-cb` takes one stack from kill to kill, in its own sandbox: at each
point one object is created without an answer, and concurrent ones are not begun. `--victim program`
kills the program, `--sample 10` selects 10 points, and `--waves` kills at all points of one depth
at a time. `--alone` starts with a new stack for each point and destroys it afterwards, which takes
much longer. The table is written to standard output, and with `--json FILE` to a file.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.support.kills.gate import Moment
from tests.support.kills.harness import KillHarness, Victim
from tests.support.kills.lives import (
    Kill,
    Life,
    Point,
    Undisturbed,
    by_waves,
    live,
    one_by_one,
    sampled,
    undisturbed,
)
from tests.support.sandbox import Sandbox


def main() -> None:
    """Kill and compare; return 1 if a stack does not reach the result of an uninterrupted `up`."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="trainyard-kills-") as directory:
        sandbox = Sandbox(Path(directory) / "sandbox")
        sandbox.must("sandbox", "start")
        try:
            rows = _tried(KillHarness(sandbox, options.stack), options)
        finally:
            sandbox.must("sandbox", "stop")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    sys.exit(0 if all(row["converged"] for row in rows) else 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("stack")
    parser.add_argument("--victim", type=Victim, choices=list(Victim), default=Victim.ENGINE)
    parser.add_argument("--sample", type=int, metavar="N", help="N points instead of all")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--waves", action="store_true", help="those of one depth in one kill")
    form.add_argument("--alone", action="store_true", help="a stack of its own for each point")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


def _tried(harness: KillHarness, options: argparse.Namespace) -> list[dict[str, object]]:
    reference = undisturbed(harness)
    chosen = sampled(reference.points, options.sample or len(reference.points))
    _say(f"{options.stack}: {len(chosen)} of {len(reference.points)} points")
    rows = []
    for kills in _lives(chosen, options):
        begun = time.monotonic()
        life = live(harness, reference, _told(kills))
        row = _row(life, reference, seconds=time.monotonic() - begun)
        _say(f"  {row['summary']}")
        rows.append(row)
    return rows


def _lives(chosen: list[Point], options: argparse.Namespace) -> Iterator[Iterable[Kill]]:
    if options.waves:
        yield by_waves(chosen, options.victim)
    elif options.alone:
        for point in chosen:
            yield [({point.urn: Moment.UNANSWERED}, options.victim)]
    else:
        yield one_by_one(chosen, options.victim)


def _told(kills: Iterable[Kill]) -> Iterator[Kill]:
    for moments, victim in kills:
        begun = time.monotonic()
        yield moments, victim
        hit = [u.rpartition("::")[2] for u, moment in moments.items() if moment.is_made]
        _say(f"  killed at {', '.join(hit)}  {time.monotonic() - begun:.0f} s")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _row(life: Life, reference: Undisturbed, *, seconds: float) -> dict[str, object]:
    types = {point.urn: point.type for point in reference.points}
    converged = "converged" if life.converged else "DID NOT CONVERGE"
    return {
        "summary": f"{len(life.made)} points, {life.kills} kills: {converged}, {seconds:.0f} s",
        "points": [{"urn": urn, "type": types[urn]} for urn in life.made],
        "kills": life.kills,
        "converged": life.converged,
        "differences": life.differences,
        "left": life.left,
        "seconds": round(seconds),
    }


main()
