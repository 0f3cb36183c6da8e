"""The stand-ins, and the AWS plugin of this repository, as processes that the engine starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.aws_plugin import built_program
from tests.support.processes import PATIENCE, until
from tests.support.tracked import ROOT

PROVIDERS = ("eks", "kubernetes")
NOBODY = "http://127.0.0.1:9"
ELSEWHERE = (None, "", "https://ec2.us-west-2.amazonaws.com", "http://127.0.0.1.example.com")
"""Endpoints that are not on this machine."""


def executable(provider: str) -> Path:
    return ROOT / "sandbox" / "providers" / provider / f"pulumi-resource-{provider}"


def environment(endpoint: str | None) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "PYTHON"))}
    given = {"AWS_ENDPOINT_URL": endpoint} if endpoint else {}
    return {**kept, "TRAINYARD_PYTHON": sys.executable, **given}


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    return request.param


def started(
    program: Path, endpoint: str | None, directory: Path
) -> subprocess.CompletedProcess[str]:
    """Start a plugin that refuses its endpoint, and return its result."""
    return subprocess.run(
        [program, NOBODY],
        cwd=directory,
        env=environment(endpoint),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


@pytest.mark.parametrize("endpoint", ELSEWHERE)
def test_a_stand_in_refuses_any_account_but_the_sandbox(
    provider: str, endpoint: str | None, tmp_path: Path
) -> None:
    done = started(executable(provider), endpoint, tmp_path)
    assert done.returncode == 1
    assert "this plugin is the sandbox's stand-in" in done.stderr
    assert done.stdout == ""


@pytest.mark.engine
@pytest.mark.parametrize("endpoint", [*ELSEWHERE, "http://192.0.2.1:5000", "127.0.0.1:5000"])
def test_the_built_aws_plugin_refuses_any_account_but_the_sandbox(
    endpoint: str | None, tmp_path: Path
) -> None:
    """`checkEndpoint` in `sandbox/engine/aws_plugin/main.go`."""
    done = started(built_program(), endpoint, tmp_path)
    assert done.returncode == 1
    assert "this build serves sandboxes only" in done.stderr
    assert f'AWS_ENDPOINT_URL is "{endpoint or ""}"' in done.stderr
    assert done.stdout == ""


@pytest.fixture
def engine(provider: str, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that starts a plugin and keeps running, like an engine."""
    with subprocess.Popen(
        ["sh", "-c", '"$0" 127.0.0.1:9 & echo $!; wait', executable(provider)],
        cwd=tmp_path,
        env=environment(NOBODY),
        stdout=subprocess.PIPE,
        text=True,
    ) as started:
        yield started
        started.kill()


def test_a_stand_in_ends_when_its_engine_is_killed(engine: subprocess.Popen[str]) -> None:
    assert engine.stdout is not None
    plugin, port = int(engine.stdout.readline()), int(engine.stdout.readline())
    assert port > 0
    assert Path(f"/proc/{plugin}").exists()
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    until(lambda: not _runs(plugin), "the plugin has ended")


def _runs(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:  # which one depends on when it ends
        return False
    return state != "Z"
