"""What an acceptance was made with: program, lock, engine, plugins, stack file and files.

Facts of each run of the command are kept beside the record of the steps, because an interrupted
acceptance can go on with another version of the program.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from trainyard.acceptance.steps import Step, rfc_3339
from trainyard.components import clock
from trainyard.stack_files.files import file_bytes, file_text, opened_file, write_private
from trainyard.stack_files.installation import PACKAGE, program_version
from trainyard.stack_files.stack_files import StackFile
from trainyard.stack_files.stack_outline import instance_types_of
from trainyard.workspace.exported_state import content_of, resources_of

LOCK = "requirements.txt"
COMMITTED = (
    *("components", "policies", "requirements", "sandbox", "src"),
    *("Pulumi.yaml", "__main__.py", "pyproject.toml", LOCK, "trainyard", "trainyard_state.py"),
)
"""What of a clone runs. Stack files are not a part of it."""
NO_PRODUCT = ("docs", "examples", "requirements")
"""Folders of the package without code: an installed package has all, a clone only the last."""
RUNS = "runs.json"
_STATE = Path("diagnosis") / "state.json"
_PROVIDER = "pulumi:providers:"
_CHUNK_BYTES = 1 << 20
MOST_BYTES = 1 << 30
"""Size of the largest file that is hashed."""


def product_files(package: Path) -> list[str]:
    """Return the sorted paths of the product's files, from the directory above the package.

    They do not depend on git, and a clone has by links what a package has as folders, so that they
    are the same in both: without hidden files and what Python compiles.
    """
    found: list[str] = []
    for directory, folders, names in os.walk(package, followlinks=True):
        below = Path(directory).relative_to(package)
        folders[:] = [name for name in folders if not _is_left_out(below / name)]
        found += [
            (package.name / below / name).as_posix()
            for name in names
            if not _is_left_out(below / name)
        ]
    return sorted(found)


def _is_left_out(below: Path) -> bool:
    name = below.name
    compiled = name == "__pycache__" or name.endswith(".pyc")
    return name.startswith(".") or compiled or str(below) in NO_PRODUCT


def product_sha256(package: Path) -> str:
    """Return the SHA-256 of the list that `sha256sum` prints of the product's files.

    Raises:
        OSError: a file cannot be read.
    """
    lines = [
        f"{hashlib.sha256(file_bytes(package.parent / name)).hexdigest()}  {name}\n"
        for name in product_files(package)
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def program_facts(package: Path = PACKAGE) -> dict[str, Any]:
    """Return version, commit and hashes of the program, and the version of Python.

    A package has neither a commit nor a lock.

    Args:
        package: The directory of the package `trainyard`, in a clone or installed.

    Raises:
        OSError: a file cannot be read.
    """
    root = package.parents[1]
    return {
        "version": program_version(),
        "commit": _commit(root),
        "sha256": product_sha256(package),
        "lock_sha256": sha256_of(root / LOCK),
        "python": platform.python_version(),
    }


def _commit(root: Path) -> str | None:
    """Return the commit of a clone whose product is as committed; None without one."""
    try:
        if Path(_git(root, "rev-parse", "--show-toplevel")) != root.resolve():
            return None
        product = [name for name in COMMITTED if (root / name).exists()]
        status = ("status", "--porcelain", "--untracked-files=all", "--")
        return None if _git(root, *status, *product) else _git(root, "rev-parse", "HEAD")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(root: Path, *arguments: str) -> str:
    # Not the repository that a variable names, and without writing to its index.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    command = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false", *arguments)
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def sha256_of(path: Path, most_bytes: int = MOST_BYTES) -> str | None:
    """Return the SHA-256 of a file as it lies there; None if it cannot be read.

    Neither a link is followed nor what is no regular file is read, nor more than `most_bytes`.
    """
    digest = hashlib.sha256()
    try:
        with opened_file(path, follow_links=False) as file:
            if os.fstat(file.fileno()).st_size > most_bytes:
                return None
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
    except (OSError, ValueError):
        return None
    return digest.hexdigest()


def begin_run(directory: Path, stack_file: StackFile, steps: Iterable[Step]) -> None:
    """Add the facts of one more run of the command; without space for them, they are missing."""
    run = {
        "began": rfc_3339(clock.now()),
        "stack_file": {
            "name": stack_file.path.name,
            # The file that a link names is the one that is used.
            "sha256": sha256_of(stack_file.path.resolve()),
        },
        "region": stack_file.region,
        "instance_types": instance_types_of(stack_file),
        "plan": [each.name for each in steps],
    }
    with suppress(OSError):
        run["program"] = program_facts()
        write_private(directory / RUNS, json.dumps([*runs_in(directory), run], indent=2) + "\n")


def runs_in(directory: Path) -> list[dict[str, Any]]:
    """Return the facts of each run, the first one first; empty if there are none to read."""
    found = _json(directory / RUNS)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def programs_in(directory: Path) -> dict[str, Any]:
    """Return the versions of the engine and of the provider plugins that have run.

    The state that `diagnose` has written has them: the engine's in its manifest, and those of the
    plugins in the inputs of providers. The engine no longer writes plugins into the manifest
    (https://github.com/pulumi/pulumi, `pkg/backend/snapshot.go`: "Explicitly dropped").
    """
    state = _json(directory / _STATE)
    plugins: set[tuple[str, str]] = set()
    engine = None
    with suppress(AttributeError, LookupError, TypeError):
        engine = str(content_of(state)["manifest"]["version"]).removeprefix("v")
        for each in resources_of(state):
            version = (each.get("inputs") or {}).get("version")
            if each["type"].startswith(_PROVIDER) and isinstance(version, str):
                plugins.add((each["type"].removeprefix(_PROVIDER), version))
    return {
        "engine": engine,
        "plugins": [{"name": name, "version": version} for name, version in sorted(plugins)],
    }


def _json(path: Path) -> Any:
    try:
        return json.loads(file_text(path))
    except (OSError, ValueError, RecursionError):
        return None


def shown_command(arguments: Sequence[str], directory: Path) -> str:
    """Return a command line of a step: paths in the directory of the acceptance are relative.

    The user's home directory is `~`.
    """
    home = str(Path.home())
    shown = [
        each.removeprefix(f"{directory}/").replace(f"{home}/", "~/") for each in map(str, arguments)
    ]
    return shlex.join(["./trainyard", *shown])
