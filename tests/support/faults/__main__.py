"""Run whole stacks through the faults of `stacks.LIVES`, started manually.

`python -m tests.support.faults [STACK …]`; without a stack, all of them. Each has its own sandbox.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.support.faults.stacks import LIVES, live
from tests.support.sandbox import Sandbox


def main(stacks: list[str]) -> int:
    """Print a line for each stack and each problem; return the exit code."""
    wrong = 0
    for thrown in LIVES:
        if stacks and thrown.stack not in stacks:
            continue
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            sandbox = Sandbox(Path(folder) / "sandbox").warm()
            sandbox.must("sandbox", "start")
            try:
                life = live(sandbox, thrown, Path(folder))
            finally:
                sandbox.must("sandbox", "stop")
        problems = [*life.left, *life.differences]
        problems += [each.said for each in life.read.values() if each.exit_code]
        failed = life.failed
        if failed is None or failed.exit_code != 1 or thrown.said not in failed.said:
            problems.append(failed.said if failed else "it was not tried")
        survived = (
            f"{life.happened} kinds of fault survived, {len(problems)} problems, "
            f"{len(life.kept)} lines kept, {time.monotonic() - begun:.0f} s"
        )
        sys.stdout.write("\n".join([f"{thrown.stack}: {survived}", *problems, ""]))
        wrong += bool(problems)
    return 1 if wrong else 0


sys.exit(main(sys.argv[1:]))
