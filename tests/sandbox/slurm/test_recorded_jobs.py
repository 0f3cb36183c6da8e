"""Slurm jobs that the schedule of faults names: their programs, and the `sbatch` that asks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.sandbox_aws import Account
from trainyard.sandbox.faults.schedule import InForce, parse_schedule
from trainyard.sandbox.slurm import sbatch
from trainyard.sandbox.slurm.head_nodes import recorded_program

SCRIPT = """\
#!/bin/bash
#SBATCH --job-name=nccl-tests
#SBATCH --nodes=2

#SBATCH --output=%x-%j.out  # the log
touch /fsx/executed
#SBATCH --nodes=7
"""
SUCCEEDS = {"happens": "container-succeeds", "job": "nccl-tests"}


def program(tmp_path: Path, job: str = "nccl-tests", **entry: Any) -> str | None:
    for name in ("start", "stop"):
        (tmp_path / name).write_text(f"it's the {name}\n100 %s\n", encoding="utf-8")
    faults = InForce()
    faults.use(parse_schedule([{**SUCCEEDS, **entry}], tmp_path))
    return recorded_program(faults, job)


def ran(script: str | None) -> tuple[int, str]:
    assert script is not None
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_only_jobs_that_the_schedule_names_are_recorded(tmp_path: Path) -> None:
    assert program(tmp_path, "train") is None
    assert program(tmp_path, happens="node-lost") is None
    assert ran(program(tmp_path, nth=2, log="start")) == (0, "")
    assert ran(program(tmp_path, index=1, log="start")) == (0, "")


@pytest.mark.parametrize(
    ("entry", "ends"),
    [
        pytest.param({"log": "start"}, (0, "it's the start\n100 %s\n"), id="log"),
        pytest.param({"happens": "container-fails", "exit_code": 9}, (9, ""), id="exit-code"),
    ],
)
def test_a_recorded_job_prints_its_log_and_ends_with_its_exit_code(
    tmp_path: Path, entry: dict[str, Any], ends: tuple[int, str]
) -> None:
    assert ran(program(tmp_path, **entry)) == ends


def test_a_recorded_job_that_hangs_ends_with_sigterm(tmp_path: Path) -> None:
    script = program(tmp_path, happens="container-hangs", log="start", stop_log="stop")
    assert script is not None
    with subprocess.Popen(
        ["bash", "-c", script], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline(), process.stdout.readline()]
        os.killpg(process.pid, signal.SIGTERM)
        lines += [process.stdout.readline(), process.stdout.readline()]
        assert process.wait() == 143
        with suppress(ProcessLookupError):  # nothing else of the job may be left
            os.killpg(process.pid, signal.SIGKILL)  # as Slurm does at the end of a job
    assert lines == ["it's the start\n", "100 %s\n", "it's the stop\n", "100 %s\n"]


@pytest.mark.parametrize("arguments", [(), ("-J", "other"), ("--job-name=nccl-tests", "-n", "1")])
def test_sbatch_submits_the_options_of_a_job_without_its_commands(
    account: Account, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    account.server.use_faults("[{happens: container-fails, job: nccl-tests, exit_code: 9}]")
    real, script = tmp_path / "real", tmp_path / "test.sbatch"
    real.write_text('#!/bin/sh\necho "$@"\ncat\nexit 3\n', encoding="utf-8")
    real.chmod(0o755)
    script.write_text(SCRIPT, encoding="utf-8")
    key = tmp_path / "access-key"
    key.write_text(account.server.access.access_key, encoding="utf-8")
    program = [sys.executable, "-I", sbatch.__file__, real, account.server.endpoint, key]
    done = subprocess.run(
        [*program, *arguments, script, "a"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (3, "")
    if "other" in arguments:
        assert said == [f"-J other {script} a"]
        return
    assert said[:2] == [" ".join(("--job-name=nccl-tests", *arguments)), "#!/bin/bash"]
    assert said[2:5] == SCRIPT.splitlines()[1:3] + SCRIPT.splitlines()[4:5]
    assert "exit 9" in said
    assert not [line for line in said if "touch" in line or "nodes=7" in line]
