"""The lock files have the requirements of pyproject.toml, with hashes and no index. Offline."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tools import environment, lock
from tools.lock import __main__ as command_line
from trainyard.components.catalog.versions import PARALLELCLUSTER_VERSION

FILES = [*(it.path for it in lock.ALL), lock.UV]


@pytest.mark.parametrize("locked", lock.ALL, ids=lambda it: it.path.stem)
def test_what_is_declared_is_locked_in_that_version(locked: lock.Lock) -> None:
    versions = lock.locked(locked.path)

    assert lock.declared(locked).items() <= versions.items(), "run `python -m tools.lock`"


def test_the_development_lock_is_the_programs_lock_and_more() -> None:
    program, development = (lock.locked(it.path) for it in (lock.PROGRAM, lock.DEVELOPMENT))

    assert program.items() < development.items()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_package_has_hashes(path: Path) -> None:
    text = (lock.ROOT / path).read_text()
    packages = re.split(r"\n(?=\S)", text.strip())

    assert packages
    assert [package for package in packages if "--hash=sha256:" not in package] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_index_is_named(path: Path) -> None:
    lines = (lock.ROOT / path).read_text().splitlines()
    allowed = re.compile(r"[a-z0-9._-]+==\S+( ; .*)?( \\)?|    --hash=sha256:[0-9a-f]{64}( \\)?")

    assert [line for line in lines if not allowed.fullmatch(line)] == []


def test_the_launcher_knows_the_locks() -> None:
    launched = (lock.PROGRAM, lock.DEVELOPMENT)

    assert tuple(str(it.path) for it in launched) == environment.LOCKS


def test_the_environment_of_parallelcluster_has_the_version_that_the_catalog_pins() -> None:
    # PC-01
    versions = lock.locked(lock.PARALLELCLUSTER.path)

    assert versions["aws-parallelcluster"] == PARALLELCLUSTER_VERSION


def test_the_environment_of_parallelcluster_holds_nothing_of_the_programs() -> None:
    declared = lock.declared(lock.PARALLELCLUSTER)

    assert set(declared) == {"aws-parallelcluster", "ministack", "setuptools"}
    assert "pulumi" not in lock.locked(lock.PARALLELCLUSTER.path)


def test_the_pinned_uv_is_one_that_the_launcher_would_take_from_the_path() -> None:
    version = tuple(int(part) for part in lock.locked(lock.UV)["uv"].split("."))

    assert lock.locked(lock.UV) == {"uv": lock.UV_VERSION}
    assert version >= environment.UV_MINIMUM_VERSION


def test_the_oldest_python_is_that_of_the_launcher() -> None:
    project = tomllib.loads((lock.ROOT / "pyproject.toml").read_text())

    assert project["project"]["requires-python"] == ">=3.11"


def test_refuses_a_direct_dependency_without_an_exact_version(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\ndependencies = ["boto3>=1"]\n[project.optional-dependencies]\nsandbox = []\n'
        "[dependency-groups]\n"
    )

    with pytest.raises(ValueError, match="'boto3>=1' must pin one version with =="):
        lock.declared(lock.PROGRAM, tmp_path)


def test_locks_are_compiled_with_the_uv_of_the_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []

    def record(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        started.append(command[0])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(command_line.subprocess, "run", record)

    assert command_line.main([], lambda: [sys.executable]) == 0
    assert set(started) == {sys.executable}


@pytest.mark.parametrize("found", [lock.EXAMPLES, lock.OLD_PYTORCH], ids=["new", "old"])
def test_the_locks_of_the_examples_omit_what_pytorch_requires_for_gpus(found: lock.Lock) -> None:
    versions = lock.locked(found.path)

    assert not {*found.omitted} & {*versions}
    assert [name for name in versions if re.match("cuda|nvidia|triton", name)] == [
        "nvidia-cuda-runtime"
    ]
