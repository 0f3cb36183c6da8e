"""JobSets in the life of an EKS stack with the add-on: a process fails once, or always."""

from __future__ import annotations

from pathlib import Path

from tests.support.sandbox import Done, Sandbox

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
