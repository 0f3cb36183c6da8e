"""The directory of the user's own stack files: a small Pulumi project outside of a clone.

It contains the user's `Pulumi.<stack>.yaml`, and what `pulumi` and the commands need there. A clone
makes a `Pulumi.yaml` that points to the clone, and the launcher script `trainyard`. An installed
package makes a program and a policy pack of two lines each, and a `requirements.txt` that pins the
package. The user keeps the directory under version control.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from trainyard.stack_files.files import file_text, write_whole
from trainyard.stack_files.installation import (
    INSTALLATION,
    PACKAGE,
    PROJECT,
    Installation,
    generated_project,
    requirement,
)
from trainyard.stack_files.yaml_limits import UnreadableYamlError
from trainyard.stack_files.yaml_reader import read_yaml, write_yaml

VARIABLE = "TRAINYARD_STACKS"
"""Environment variable that names the stacks directory."""
PROJECT_FILE = "Pulumi.yaml"
LAUNCHER = "trainyard"
PACK_FILE = "PulumiPolicy.yaml"
_PROGRAM = "__main__.py"
_REMEMBERED = "stacks-directory"
"""File in the clone with the directory that was created last."""
_IGNORED = (".trainyard/", ".pulumi/", ".*.reserve")
"""Files of the commands, the state of a `file://` backend in the directory, and the disk space that
commands reserve in such a backend."""

_LAUNCHER_TEXT = """\
#!/bin/sh
# Starts trainyard with the stack files of this directory.
# TRAINYARD_HOME selects another checkout of trainyard.
set -eu
TRAINYARD_STACKS=$(CDPATH='' cd -P -- "$(dirname -- "$0")" && pwd)
export TRAINYARD_STACKS
checkout={checkout}
checkout=${{TRAINYARD_HOME:-$checkout}}
if ! [ -x "$checkout/trainyard" ]; then
    echo "trainyard: error: $checkout is not a checkout of trainyard;" \\
        "set TRAINYARD_HOME to the path of one" >&2
    exit 1
fi
exec "$checkout/trainyard" "$@"
"""


PROGRAM_TEXT = """\
from trainyard.program import run

run()
"""
"""The program of a project that uses the installed package."""
PACK_PROGRAM_TEXT = """\
from trainyard.policies.start import start

start()
"""
_PROJECT_TEXT = f"""\
name: {PROJECT}
description: Clusters for distributed training on AWS.
runtime:
  name: python
  options:
    toolchain: pip
    virtualenv: .venv
"""


class StacksDirectoryError(Exception):
    """A directory cannot be used as the stacks directory; the message says what to do."""


_OPTION: ContextVar[Path | None] = ContextVar("--stacks", default=None)


def choose(directory: Path | None) -> None:
    """Use the directory of the option `--stacks` in this process; None removes the choice."""
    _OPTION.set(directory)


def chosen_directory() -> Path | None:
    """Return the directory of `--stacks` or `$TRAINYARD_STACKS`, which may not exist yet."""
    option = _OPTION.get()
    return _of_variable() if option is None else Path(os.path.realpath(option))


def _of_variable() -> Path | None:
    named = os.environ.get(VARIABLE)
    return Path(os.path.realpath(Path(named).expanduser())) if named else None


def stacks_directory(installation: Installation = INSTALLATION) -> Path:
    """Return the directory of the user's stack files.

    The first of: `--stacks`, `$TRAINYARD_STACKS`, the working directory if it is a stacks
    directory, the directory that was created last from this clone, the clone. An installed package
    remembers no directory: the last one is the working directory.

    Raises:
        StacksDirectoryError: the directory of the option or of the variable is neither a stacks
            directory nor the clone.
    """
    chosen = chosen_directory()
    if chosen is not None:
        _require(chosen, installation)
        return chosen
    return _default(installation)


def directory_without_option(installation: Installation = INSTALLATION) -> Path:
    """Return the directory that a command without `--stacks` uses, for printed commands."""
    return _of_variable() or _default(installation)


def _default(installation: Installation) -> Path:
    places = (Path(os.path.realpath(".")), remembered_directory(installation))
    found = (place for place in places if place is not None and is_stacks_directory(place))
    return next(found, installation.default_directory)


def is_stacks_directory(directory: Path) -> bool:
    """Return whether a directory has the `Pulumi.yaml` of a stacks directory.

    That is a project named `trainyard` whose program is elsewhere, or calls the installed package.
    """
    return _lack_of(directory) is None


def _lack_of(directory: Path) -> str | None:
    """Return why a directory is no stacks directory, for messages; None if it is one."""
    path = directory / PROJECT_FILE
    if not path.exists():
        return f"it has no {PROJECT_FILE}"
    try:
        project: Any = read_yaml(path)
    except UnreadableYamlError as error:
        return str(error)
    if not isinstance(project, Mapping):
        return f"its {PROJECT_FILE} is not the mapping of a project"
    if project.get("name") != PROJECT:
        found = f"has the name {project['name']}" if project.get("name") else "has no `name`"
        return f"the project in its {PROJECT_FILE} {found}; the states of stacks need {PROJECT}"
    if isinstance(project.get("main"), str):
        return None
    if not (directory / _PROGRAM).is_file():
        return (
            f"its {PROJECT_FILE} has no `main`, the directory of a clone of {PROJECT}, and there "
            f"is no {_PROGRAM} that calls the installed package"
        )
    # The project of a clone has no `main` either.
    is_clone = (directory / "src" / PROJECT).exists()
    return f"it is another clone of {PROJECT}" if is_clone else None


def remembered_directory(installation: Installation = INSTALLATION) -> Path | None:
    """Return the directory that was created last from a clone, which may be gone."""
    if installation.clone is None:
        return None
    try:
        text = file_text(installation.own_files / _REMEMBERED)
    except (OSError, UnicodeDecodeError):
        return None
    return Path(text.strip()) if text.strip() else None


def create(directory: Path, installation: Installation = INSTALLATION) -> None:
    """Make a directory a stacks directory, and remember it in the clone.

    Existing files are never overwritten. The lines of a missing or incomplete `.gitignore` are
    added. An existing stacks directory is only remembered. If `$TRAINYARD_STACKS` is set, nothing
    is remembered, because the user selects the directory with the variable.

    Args:
        directory: Need not exist. Usually empty, but other files do no harm.
        installation: The one whose program the directory runs.

    Raises:
        StacksDirectoryError: the directory is in the clone, or has another `Pulumi.yaml` or a file
            with the name of another one that is written. Nothing was written.
        OSError: a file cannot be written.
    """
    directory = Path(os.path.realpath(directory))
    clone = installation.clone
    if clone is None:
        if not is_stacks_directory(directory):
            _write_project(directory)
        return
    _refuse_clone(directory, clone)
    if not is_stacks_directory(directory):
        _refuse_occupied(directory, (PROJECT_FILE, LAUNCHER))
        directory.mkdir(parents=True, exist_ok=True)
        _ignore_files(directory / ".gitignore")
        write_whole(directory / LAUNCHER, launcher_text(clone), mode=0o755)
        # The project file is last: it makes the directory a stacks directory.
        write_yaml(directory / PROJECT_FILE, generated_project(clone, installation))
    if os.environ.get(VARIABLE):
        return
    # A clone that cannot be written is shared; the launcher names the directory.
    with contextlib.suppress(OSError):
        installation.own_files.mkdir(exist_ok=True)
        write_whole(installation.own_files / _REMEMBERED, f"{directory}\n")


def _write_project(directory: Path) -> None:
    """Write a project whose program and policy pack call the installed package.

    Its environment is made by `pulumi install`, and `pulumi up --policy-pack policies` works as in
    a clone: the engine looks for the environment of a pack from the folder of the pack.
    """
    texts = {
        _PROGRAM: PROGRAM_TEXT,
        "requirements.txt": f"{requirement()}\n",
        f"policies/{PACK_FILE}": pack_text("../.venv"),
        f"policies/{_PROGRAM}": PACK_PROGRAM_TEXT,
    }
    _refuse_occupied(directory, (PROJECT_FILE, *texts))
    (directory / "policies").mkdir(parents=True, exist_ok=True)
    _ignore_files(directory / ".gitignore", (".venv/", "__pycache__/"))
    for name, text in texts.items():
        write_whole(directory / name, text)
    # The project file is last: it makes the directory a stacks directory.
    write_whole(directory / PROJECT_FILE, _PROJECT_TEXT)


def _require(directory: Path, installation: Installation) -> None:
    problem = _lack_of(directory)
    if directory == installation.clone or problem is None:
        return
    source = "--stacks" if _OPTION.get() else f"${VARIABLE}"
    raise StacksDirectoryError(
        f"{directory}, which {source} names, is not a stacks directory: {problem}; "
        "name another directory, or let `./trainyard init` make an empty one a stacks directory"
    )


def _refuse_clone(directory: Path, clone: Path) -> None:
    if directory.is_relative_to(clone):
        raise StacksDirectoryError(
            f"{directory} is in the clone of trainyard, which an upgrade replaces; choose a "
            "directory outside of it for your stack files"
        )


def _refuse_occupied(directory: Path, names: Sequence[str]) -> None:
    occupied = [name for name in names if os.path.lexists(directory / name)]
    if occupied or (directory.exists() and not directory.is_dir()):
        what = f"has its own {' and '.join(occupied)}" if occupied else "is not a directory"
        raise StacksDirectoryError(
            f"{directory} {what}; nothing was written. Choose an empty directory for your stack "
            "files"
        )


def _ignore_files(path: Path, further: Sequence[str] = ()) -> None:
    text = file_text(path) if path.exists() else ""
    missing = [line for line in (*_IGNORED, *further) if line not in text.splitlines()]
    if missing:
        begin = f"{text}\n" if text and not text.endswith("\n") else text
        write_whole(path, begin + "".join(f"{line}\n" for line in missing))


def pack_text(environment: str) -> str:
    """Return the project file of the policy pack, for another Python environment."""
    text = file_text(PACKAGE / "policies" / PACK_FILE)
    return text.replace("virtualenv: ../.venv", f"virtualenv: {environment}")


def launcher_text(checkout: Path) -> str:
    """Return the launcher script of a stacks directory that uses a checkout."""
    return _LAUNCHER_TEXT.format(checkout=shlex.quote(str(checkout)))
