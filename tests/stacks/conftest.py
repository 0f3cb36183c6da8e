"""One sandbox for all tests of a session that need an account."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest

from tests.support.sandbox import Sandbox, running
from tests.support.tracked import ROOT, tracked


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A running sandbox with warm processes; every test restores its account."""
    with running(tmp_path_factory.mktemp("sandbox") / "sandbox") as started:
        yield started.warm()


@pytest.fixture
def own_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A sandbox with warm processes that a test may stop or break."""
    with running(tmp_path_factory.mktemp("own") / "sandbox") as started:
        yield started.warm()


@pytest.fixture(scope="session")
def untouched() -> dict[str, str]:
    """Return the state that must be unchanged after all commands."""
    return digests()


def digests() -> dict[str, str]:
    """Return the digest of every stack file and every other file next to them, by name.

    An engine without its own directory would write there. The source of the program is left out,
    because it may be edited while the tests run.
    """
    files = [path for path in ROOT.iterdir() if path.is_file()]
    files += [ROOT / path for path in tracked(".yaml")]
    return {
        str(path.relative_to(ROOT)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files
    }
