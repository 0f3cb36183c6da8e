"""Fixtures for all tests."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import botocore.session
import pulumi
import pytest
from hypothesis import settings

import trainyard.components.cheap_imports  # noqa: F401 - saves a seventh of the time
from tests.support import warm_python, write_access
from tests.support.cloud import Cloud, readable
from tests.support.modules import PYTHONPATH
from tests.support.tracked import ROOT
from tools.suite import SLOWEST_FIRST, UNIT, UNMARKED, is_whole, slow_markers
from trainyard.components.compute.image_registry import EMULATED_REGISTRIES
from trainyard.stack_files.stacks_directory import VARIABLE

# The tests use the stack files of the checkout, also where its user has a stacks directory.
os.environ[VARIABLE] = str(ROOT)
# Processes that tests start find our modules, as with the launcher.
os.environ["PYTHONPATH"] = PYTHONPATH
# No test asks a registry of the internet: nothing listens at this address.
os.environ[EMULATED_REGISTRIES] = "http://127.0.0.1:9"

# Each session of the AWS SDK reads the models of its services again, and EC2's has 3 MB: here all
# sessions share a loader, as the clients of one session do.
_sessions: Any = botocore.session
_sessions.create_loader = functools.cache(_sessions.create_loader)

# The same examples in every run, without a deadline and without a database of failures.
settings.register_profile("repeatable", deadline=None, derandomize=True, database=None)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes goldens instead of comparing with them."""
    parser.addoption(
        "--update-goldens", action="store_true", help="write tests/goldens instead of comparing"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Use the server of the process that started this one to run tests side by side."""
    started = getattr(config, "workerinput", {}).get("warm_python")
    if started:
        warm_python.share(started)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Deny writes outside the temporary directory, also to the processes that run tests."""
    config = session.config
    if hasattr(config, "workerinput"):
        return
    temporary = config._tmp_path_factory.getbasetemp()
    # pytest removes the directories of older runs.
    writable = [temporary if config.option.basetemp else temporary.parent]
    if config.getoption("--update-goldens"):
        writable.append(ROOT)
    of_programs = write_access.restrict(writable)
    config.add_cleanup(functools.partial(shutil.rmtree, of_programs, ignore_errors=True))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Give each process whole groups of tests: `--dist loadscope` with custom scopes."""
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    return Groups(config, log)


def group_of(nodeid: str) -> str:
    """Return the scope that one process runs sequentially: a file, or a part of it.

    Tests of a file with a parameter `@name@` share fixtures only with tests of the same name.
    """
    file, _, test = nodeid.partition("::")
    own = _OWN_GROUP.search(test)
    return f"{file}{own[1]}" if own else file


_OWN_GROUP = re.compile(r"\[(?:.+-)?(@[a-z0-9-]+@)")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Start one server of warm Python processes for all processes of the whole-stack tests."""
    if node.config.option.markexpr not in (UNIT, UNMARKED):
        node.workerinput["warm_python"] = warm_python.address()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import files of unit tests to collect whole-stack tests.

    The imports take 8 of 18 seconds of each process of the whole-stack tests. Outside their
    directories, only files that name a marker of `SLOWEST_FIRST` have such tests.
    """
    if config.option.markexpr != f"not {UNIT}" or not collection_path.match("test_*.py"):
        return None
    if is_whole(collection_path.relative_to(ROOT)):
        return None
    return None if slow_markers(collection_path) else True


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the unit tests."""
    path = item.path.relative_to(ROOT)
    if any(map(item.get_closest_marker, SLOWEST_FIRST)):
        assert slow_markers(item.path), f"{path} must name the markers of its tests"
    elif not is_whole(path):
        item.add_marker(UNIT)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the groups: the slowest first, and among those the ones with the most tests.

    Parallel processes take one group after another: if a whole stack begins last, all of them wait
    for it.
    """
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        groups.setdefault(group_of(item.nodeid), []).append(item)
    in_turn = sorted(groups.values(), key=_turn)
    items[:] = [item for group in in_turn for item in group]


def _turn(tests: list[pytest.Item]) -> tuple[int, int]:
    marked = {mark.name for test in tests for mark in test.iter_markers()}
    slow = (turn for turn, name in enumerate(SLOWEST_FIRST) if name in marked)
    return next(slow, len(SLOWEST_FIRST)), -len(tests)


@pytest.fixture
def deploy(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Cloud]:
    """Run a program to its end and return what it registered.

    `deploy(program, calls={token: answer}, preview=False, stack="test", config={key: value})`;
    `cloud=` takes a monitor that the test can inspect after a program fails.
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
        # A new stack: the previous test's stack has other outputs and another name.
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
    """Compare a text with a golden, or write the golden with `--update-goldens`."""

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

    The environment variable names a JSON file that lists them, if they were built elsewhere.
    """
    path = os.environ.get("TRAINYARD_KUBERNETES_PROGRAMS")
    if path:
        return json.loads(Path(path).read_text())
    from trainyard.sandbox.engine import ensure_kubernetes

    return ensure_kubernetes(print)
