"""Fixtures that every test may use."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pulumi
import pytest
from hypothesis import settings

import components.cheap_imports  # noqa: F401 - garbage is looked for less: a seventh of the time
from tests.support.cloud import Cloud, readable
from tests.support.tracked import ROOT
from tools.cli.suite import UNIT, WHOLE

# The same examples in every run, however slow the machine is, and no database beside the tests.
settings.register_profile("repeatable", deadline=None, derandomize=True, database=None)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes goldens instead of comparing with them."""
    parser.addoption(
        "--update-goldens", action="store_true", help="write tests/goldens instead of comparing"
    )


SLOWEST_FIRST = ("first", "sandbox", "parallelcluster", "engine", "kubernetes")
"""Markers of what takes minutes, a minute, and seconds."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the unit tests."""
    directory = item.path.relative_to(ROOT / "tests").parts[0]
    if directory not in WHOLE and not any(map(item.get_closest_marker, SLOWEST_FIRST)):
        item.add_marker(UNIT)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that take longest first, and of those the ones with most tests.

    Processes that run the tests side by side take one file after another: a whole stack that
    begins last is waited for by all of them.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    items[:] = [
        item for path in sorted(files, key=lambda p: _turn(files[p])) for item in files[path]
    ]


def _turn(tests: list[pytest.Item]) -> tuple[int, int]:
    marked = {mark.name for test in tests for mark in test.iter_markers()}
    slow = (turn for turn, name in enumerate(SLOWEST_FIRST) if name in marked)
    return next(slow, len(SLOWEST_FIRST)), -len(tests)


@pytest.fixture
def deploy(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Cloud]:
    """Run a program to its end and return what it registered.

    `deploy(program, calls={token: answer}, preview=False, stack="test", config={key: value})`;
    `cloud=` takes a monitor of the test's own, to look at after a program that fails.
    """

    def run_program(
        program: Callable[[], object],
        calls: Mapping[str, Any] | None = None,
        *,
        preview: bool = False,
        stack: str = "test",
        config: Mapping[str, str] | None = None,
        cloud: Cloud | None = None,
    ) -> Cloud:
        recorder = cloud or Cloud(calls)
        # A stack of its own: the one of the test before has other outputs and another name.
        pulumi.runtime.settings.set_root_resource(None)
        monkeypatch.setenv("PULUMI_CONFIG", json.dumps(dict(config or {})))
        pulumi.runtime.set_mocks(
            recorder.mocks, project="trainyard", stack=stack, preview=preview, monitor=recorder
        )
        pulumi.runtime.settings.SETTINGS.callbacks = recorder.callbacks

        @pulumi.runtime.test
        def run() -> pulumi.Output[None]:
            program()
            root = pulumi.runtime.get_root_resource()
            exported = dict(getattr(root, "outputs", None) or {})
            return pulumi.Output.from_input(exported).apply(
                lambda values: recorder.exports.update({k: readable(v) for k, v in values.items()})
            )

        run()
        return recorder

    return run_program


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with the golden of that name, or write it with `--update-goldens`."""

    def compare(name: str, text: str) -> None:
        path = request.config.rootpath / "tests" / "goldens" / name
        if request.config.getoption("--update-goldens"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"no golden tests/goldens/{name}; run pytest with --update-goldens"
        assert text == path.read_text(encoding="utf-8"), (
            f"differs from tests/goldens/{name}: a name that is gone is a resource that is "
            "replaced or destroyed; if that is meant, run pytest with --update-goldens"
        )

    return compare


@pytest.fixture(scope="session")
def kubernetes_programs() -> dict[str, list[str]]:
    """The commands of the Kubernetes programs, by name.

    The environment variable names a JSON file with them, for runs that have built them elsewhere.
    """
    path = os.environ.get("TRAINYARD_KUBERNETES_PROGRAMS")
    if path:
        return json.loads(Path(path).read_text())
    from tools.engine import ensure_kubernetes

    return ensure_kubernetes(print)
