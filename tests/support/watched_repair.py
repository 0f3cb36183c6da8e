"""`repair --watch` in the life of a stack, until it has replaced a node."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

from tests.support.processes import until
from tests.support.sandbox import TIMEOUT_SECONDS, Done, Sandbox


def watched_repair(sandbox: Sandbox, core: Any, stack: str, stack_file: Path) -> Done:
    """Watch a stack until a node was replaced, and end the watch with SIGTERM."""
    journal = sandbox.directory / f"{stack}.repair.jsonl"
    arguments = ("--watch", "--yes", "--interval-minutes", "0.02", "--stack-file", stack_file)
    # The signal is for the process of a user.
    command = ("repair", stack, "--sandbox", *arguments)
    with sandbox.plain().start_command(*command) as process:

        def has_replaced() -> bool:
            assert process.poll() is None, process.communicate()
            events = core.list_namespaced_event("default").items
            return any(each.reason == "RepairReplaced" for each in events)

        until(has_replaced, "the watch has replaced the node", seconds=TIMEOUT_SECONDS)
        steps = journal.read_text(encoding="utf-8")
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=TIMEOUT_SECONDS)
    assert journal.read_text(encoding="utf-8") == steps
    return Done(tuple(map(str, command)), process.returncode, stdout, stderr)
