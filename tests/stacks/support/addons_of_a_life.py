"""Add-ons in the life of an EKS stack: JobSets whose processes fail, and `repair --watch`."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

from tests.support.processes import until
from tests.support.sandbox import TIMEOUT_SECONDS, Done, Sandbox

FAULTS = """\
- {happens: container-hangs, job: train-nodes-0, index: 0, log: first.log}
- {happens: container-fails, job: train-nodes-0, index: 1, after_seconds: 1, exit_code: 7}
- {happens: container-succeeds, job: train-nodes-0, index: 0, nth: 2, log: second.log}
- {happens: container-fails, job: broken-nodes-0, index: 1, times: always, exit_code: 7}
"""


def run_job_sets_with_faults(sandbox: Sandbox, stack: str, stack_file: Path) -> dict[str, Done]:
    """Run a job whose second process fails once, and one whose second process always fails."""
    done: dict[str, Done] = {}
    schedule = sandbox.directory / "faults-of-job-sets.yaml"
    schedule.write_text(FAULTS, encoding="utf-8")
    for name in ("first", "second"):
        (schedule.parent / f"{name}.log").write_text(f"{name} attempt\n", encoding="utf-8")
    sandbox.must("sandbox", "faults", schedule)
    run = ("run", stack, "--sandbox", "--stack-file", stack_file, "--restarts", "1")
    program = ("--launcher", "none", "--image", "pytorch/pytorch:2.11.0", "--", "train.py")
    done["run"] = sandbox.must(*run, *program)
    done["broken"] = sandbox.run(*run, "--name", "broken", *program)
    done["logs"] = sandbox.must("logs", stack, "train", "--sandbox", "--stack-file", stack_file)
    sandbox.must("sandbox", "faults", "--clear")
    return done


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
