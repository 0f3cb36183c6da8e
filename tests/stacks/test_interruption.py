"""Ctrl-C during `up` ends it cleanly, the next `up` continues, and `sandbox stop` ends all."""

from __future__ import annotations

import signal
import subprocess
from dataclasses import replace

import pytest

from tests.support.processes import processes_below
from tests.support.sandbox import TIMEOUT_SECONDS, Sandbox

pytestmark = pytest.mark.sandbox

STACK = "p5-cb"


def interrupt_once_it_says(process: subprocess.Popen[str], *words: str) -> tuple[str, str]:
    """Send an interrupt at the first line with all of the words; return the output."""
    assert process.stdout is not None
    read: list[str] = []
    for line in process.stdout:
        read.append(line)
        if all(word in line for word in words):
            process.send_signal(signal.SIGINT)
            break
    rest, stderr = process.communicate(timeout=TIMEOUT_SECONDS)
    return "".join(read) + rest, stderr


def test_an_interrupted_up_is_taken_up_and_a_stop_leaves_no_process(own_sandbox: Sandbox) -> None:
    before = own_sandbox.inventory()
    process = own_sandbox.plain().start_command("up", STACK, "--sandbox", "--yes")
    stdout, stderr = interrupt_once_it_says(process, "aws:iam:Role", "created")
    assert process.returncode == 3, stdout + stderr
    assert f"up of {STACK} was interrupted; completed operations are kept and recorded" in stderr
    assert f"./trainyard up {STACK} --sandbox" in stderr

    # Plain processes, because a stop must end what they leave.
    at_once = replace(own_sandbox.without_preview(), is_warm=False)
    again = at_once.must("up", STACK, "--sandbox", "--yes")
    assert "nvidia.com/gpu: 8  vpc.amazonaws.com/efa: 32" in again.stdout

    assert any("kube-apiserver" in line for line in processes_below(own_sandbox.directory))
    own_sandbox.must("sandbox", "stop")
    assert processes_below(own_sandbox.directory) == []
    gone = own_sandbox.must("destroy", STACK, "--sandbox", "--yes")
    assert "nothing to destroy" in gone.stdout
    own_sandbox.must("sandbox", "start")
    assert own_sandbox.inventory() == before
