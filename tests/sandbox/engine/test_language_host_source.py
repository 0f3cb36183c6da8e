"""The Go source of the language host passes its own tests."""

import subprocess
from pathlib import Path

import pytest

from trainyard.sandbox.engine.go_build import BUILD_FLAGS, build_environment

MODULE = Path(__file__).resolve().parents[3] / "sandbox" / "engine" / "language_host"


@pytest.mark.engine
@pytest.mark.parametrize("command", ["vet", "test"])
def test_the_language_host_passes_go(command: str) -> None:
    # The flags of the build: with others, Go would compile all dependencies again.
    done = subprocess.run(
        ["go", command, *BUILD_FLAGS, "./..."],
        cwd=MODULE,
        env=build_environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
