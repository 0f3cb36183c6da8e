"""A release host on the loopback, and a workspace in which the real engine runs programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.sandbox.engine.support.release_host import ReleaseHost, serving
from tests.support.pulumi_workspace import Workspace, empty_project
from trainyard.engine.pulumi_engine import PulumiEngine, ensure_pulumi
from trainyard.sandbox.engine import download


@pytest.fixture
def release_host(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReleaseHost]:
    with serving() as host:
        monkeypatch.setenv(download.MIRROR_VARIABLE, host.address)
        yield host


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache for the test."""
    directory = tmp_path / "cache"
    monkeypatch.setenv("TRAINYARD_CACHE", str(directory))
    return directory


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Write shell scripts as the only commands on the PATH: ``commands(name, script)``."""
    directory = tmp_path / "commands"
    directory.mkdir()
    monkeypatch.setenv("PATH", str(directory))

    def write(name: str, script: str) -> Path:
        path = directory / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    return write


@pytest.fixture
def fake_go(commands: Callable[[str, str], Path], tmp_path: Path) -> Path:
    """Put a Go on the PATH that writes text for binaries; return the list of its builds."""
    scripts = tmp_path / "sdk" / "python" / "cmd"
    scripts.mkdir(parents=True)
    (scripts / "pulumi-language-python-exec").write_text("#!/bin/sh\n")
    builds = tmp_path / "builds"
    commands(
        "go",
        f"""case $1 in
env) echo go1.26.8 ;;
list) echo {tmp_path / "sdk"} ;;
build)
    test -z "${{GOFLAGS:-}}" || exit 1
    echo "$@" >> {builds}
    while [ "$1" != -o ]; do shift; done
    echo built > "$2" ;;
esac""",
    )
    return builds


@pytest.fixture
def told() -> list[str]:
    """Collects progress: pass ``told.append`` as the sink."""
    return []


@pytest.fixture(scope="session")
def pulumi_engine() -> PulumiEngine:
    """The real engine; the first use on a machine builds or downloads it."""
    return ensure_pulumi(lambda message: print(message, file=sys.stderr))  # noqa: T201 - progress


@pytest.fixture
def workspace(tmp_path: Path, pulumi_engine: PulumiEngine) -> Workspace:
    """An empty project with the stack `test`."""
    return empty_project(tmp_path, pulumi_engine)
