"""The output of a child is passed on immediately, and its end is kept."""

from __future__ import annotations

import io
import os
import subprocess
import sys

from tests.support.processes import until
from trainyard.engine.engine_process import KEPT_BYTES, Relay


class Closed(io.StringIO):
    """A stream whose reader has ended."""

    def write(self, _text: str, /) -> int:
        raise BrokenPipeError


def relayed(program: str, target: io.StringIO) -> str:
    with subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE) as child:
        assert child.stderr is not None
        heard = Relay(child.stderr, target)
        child.wait()
        return heard.last_words()


def test_everything_is_passed_on_and_the_end_is_kept() -> None:
    target = io.StringIO()
    program = f"import sys; sys.stderr.write('a' * {2 * KEPT_BYTES} + 'the reason')"
    kept = relayed(program, target)
    assert target.getvalue() == "a" * 2 * KEPT_BYTES + "the reason"
    assert kept.endswith("the reason")
    assert len(kept) == KEPT_BYTES


def test_a_child_does_not_stop_when_nobody_reads_ours() -> None:
    assert relayed("import sys; sys.stderr.write('the reason')", Closed()) == "the reason"


def test_a_pipe_that_outlives_the_child_is_not_waited_for() -> None:
    """A plugin that a killed engine left behind still has it open."""
    read, write = os.pipe()
    with os.fdopen(write, "wb") as left:
        target = io.StringIO()
        heard = Relay(os.fdopen(read, "rb"), target)
        left.write(b"the reason")
        left.flush()
        until(target.getvalue, "what was written to be passed on")
        assert heard.last_words() == "the reason"
