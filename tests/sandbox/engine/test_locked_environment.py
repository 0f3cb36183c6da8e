"""A locked environment is created once, and again when its lock file changes. Offline."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from trainyard.sandbox.engine import locked_environment
from trainyard.sandbox.engine.errors import EngineError
from trainyard.sandbox.engine.locked_environment import locked_python
from trainyard.sandbox.engine.progress import Progress

# `uv venv … <directory>` creates an interpreter, `uv pip sync` records its arguments.
UV = """
PATH=/usr/bin:/bin
case $1 in
--version) echo 'uv 0.13.8 (x86_64-unknown-linux-gnu)' ;;
venv)
    for directory; do :; done
    mkdir -p "$directory/bin"
    printf '#!/bin/sh\\n' > "$directory/bin/python"
    chmod +x "$directory/bin/python" ;;
pip)
    echo "$@" >> "$INSTALLED"
    test ! -e "$INSTALLED.broken" || { echo 'no such package'; exit 1; } ;;
esac
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a lock, an empty cache, and a uv; returns the list of installations."""
    installations = tmp_path / "installed"
    monkeypatch.setenv("TRAINYARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("INSTALLED", str(installations))
    lock(tmp_path).write_text("aws-parallelcluster==3.16.1\n")
    uv = tmp_path / "uv"
    uv.write_text(f"#!/bin/sh\n{UV}")
    uv.chmod(0o755)
    return installations


def lock(checkout: Path) -> Path:
    return checkout / "parallelcluster.txt"


def made_from(checkout: Path, report: Progress) -> Path:
    return locked_python(lock(checkout), "ParallelCluster", report)


def silent(message: str) -> None:
    raise AssertionError(f"nothing should be said, and this was: {message}")


@pytest.fixture
def told() -> list[str]:
    return []


def test_it_is_made_from_the_lock_with_its_hashes(
    installed: Path, tmp_path: Path, told: list[str]
) -> None:
    python = made_from(tmp_path, told.append)

    (installation,) = installed.read_text().splitlines()
    assert "pip sync --require-hashes" in installation
    assert installation.endswith(str(lock(tmp_path)))
    assert python.is_file()
    assert python.is_relative_to(tmp_path / "cache" / "parallelcluster")
    assert told[0].startswith("setting up the environment of ParallelCluster (usually ")


def test_one_that_is_current_is_used_as_it_is(
    installed: Path, tmp_path: Path, told: list[str]
) -> None:
    made = made_from(tmp_path, told.append)

    assert made_from(tmp_path, silent) == made
    assert len(installed.read_text().splitlines()) == 1


def test_another_lock_gets_another_one_and_leaves_the_first(
    installed: Path, tmp_path: Path, told: list[str]
) -> None:
    before = made_from(tmp_path, told.append)
    lock(tmp_path).write_text("aws-parallelcluster==3.17.0\n")

    after = made_from(tmp_path, told.append)

    assert after != before
    assert before.is_file()
    assert len(installed.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    "spoil",
    [
        lambda python: python.unlink(),
        lambda python: (python.parents[1] / "parallelcluster.txt").unlink(),
    ],
    ids=["its Python is gone", "its lock is gone"],
)
def test_a_spoilt_one_is_made_again(
    installed: Path, tmp_path: Path, told: list[str], spoil: Callable[[Path], None]
) -> None:
    python = made_from(tmp_path, told.append)
    spoil(python)

    assert made_from(tmp_path, told.append) == python
    assert python.is_file()
    assert len(installed.read_text().splitlines()) == 2


def test_a_failed_installation_says_why_and_leaves_nothing(
    installed: Path, tmp_path: Path, told: list[str]
) -> None:
    broken = Path(f"{installed}.broken")
    broken.touch()
    with pytest.raises(EngineError, match=r"(?s)ParallelCluster has no environment.*no such pack"):
        made_from(tmp_path, told.append)
    left = (tmp_path / "cache" / "parallelcluster").iterdir()
    assert [path for path in left if path.suffix != ".lock"] == []

    broken.unlink()
    assert made_from(tmp_path, told.append).is_file()


def test_a_cache_that_cannot_be_written_is_named_with_the_way_out(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: list[str]
) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("TRAINYARD_CACHE", str(file))
    with pytest.raises(EngineError, match=r"the cache cannot be written: .* set TRAINYARD_CACHE"):
        made_from(tmp_path, told.append)
    assert not installed.exists()


def test_a_cache_that_is_only_read_is_enough(
    installed: Path, tmp_path: Path, told: list[str]
) -> None:
    made = made_from(tmp_path, told.append)
    kept = made.parents[1]
    lock_of_cache = kept.with_name(f".{kept.name}.lock")
    lock_of_cache.unlink()
    lock_of_cache.mkdir()  # even the superuser cannot write it
    assert made_from(tmp_path, silent) == made


def test_an_installation_that_is_interrupted_leaves_nothing(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: list[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(locked_environment, "_run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            made_from(tmp_path, told.append)
    left = (tmp_path / "cache" / "parallelcluster").iterdir()
    assert [path for path in left if path.suffix != ".lock"] == []
    assert made_from(tmp_path, told.append).is_file()
