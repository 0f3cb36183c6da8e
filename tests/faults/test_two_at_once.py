"""Two commands at once: on one stack the second is refused; on two stacks of an account both work.

The same stack in two sandboxes works, too. The user has no HOME, and the sandboxes are in
directories whose names contain spaces.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.remains import normalised
from tests.support.sandbox import TIMEOUT_SECONDS, Done, Sandbox, copied_stack_file
from trainyard.sandbox.engine.cache import cache_directory

pytestmark = pytest.mark.sandbox

ONE, OTHER = "vpc-one-az", "vpc-multi-az"


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """A sandbox of a user without a HOME."""
    monkeypatch.setenv("TRAINYARD_CACHE", str(cache_directory()))
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    started = Sandbox(tmp_path / "my sand box")
    started.must("sandbox", "start")
    yield started
    started.must("sandbox", "stop")


@pytest.fixture
def neighbour(sandbox: Sandbox, tmp_path: Path) -> Iterator[Sandbox]:
    """A second sandbox on the same machine, which is stopped before the first."""
    started = Sandbox(tmp_path / "her sand box")
    started.must("sandbox", "start")
    yield started
    started.must("sandbox", "stop")


@pytest.fixture
def copies(tmp_path: Path) -> dict[str, Path]:
    """Stack files with unprotected networks, so that `destroy` removes them completely."""
    unprotected = {"architecture.deletion_protection": False}
    return {
        stack: copied_stack_file(tmp_path / f"my {stack}.yaml", unprotected, stack)
        for stack in (ONE, OTHER)
    }


def ended(process: subprocess.Popen[str]) -> Done:
    stdout, stderr = process.communicate(timeout=TIMEOUT_SECONDS)
    return Done((), process.returncode, stdout, stderr)


def test_two_ups_of_a_stack_one_of_another_and_one_in_another_sandbox_in_the_same_moment(
    sandbox: Sandbox, neighbour: Sandbox, copies: dict[str, Path]
) -> None:
    before, hers_before = sandbox.inventory(), neighbour.inventory()
    at_once, her = sandbox.without_preview(), neighbour.without_preview()
    # The message has the id of the process, so the processes of `up` are plain.
    plain = replace(at_once, is_warm=False)

    def start(user: Sandbox, command: str, stack: str) -> subprocess.Popen[str]:
        path = copies[stack]
        return user.start_command(command, stack, "--sandbox", "--yes", "--stack-file", path)

    processes = [start(plain, "up", stack) for stack in (ONE, ONE, OTHER)]
    first, second, other, hers = map(ended, [*processes, start(her, "up", ONE)])
    done, refused = sorted((first, second), key=lambda each: each.exit_code)
    for each in (done, other, hers):
        assert each.exit_code == 0, each.said
    assert refused.exit_code == 1
    holder = processes[(first, second).index(done)].pid
    assert f"another command uses stack {ONE}: `up`, process {holder} on " in refused.stderr
    assert "and run this again; nothing was changed" in refused.stderr

    made = normalised(neighbour.inventory(), hers_before)
    for stack, left in ((OTHER, made), (ONE, normalised(before, before))):
        gone = ended(start(at_once, "destroy", stack))
        assert gone.exit_code == 0, gone.said
        assert normalised(sandbox.inventory(), before) == left
    assert sandbox.inventory() == before
    assert normalised(neighbour.inventory(), hers_before) == made
