"""The directory of the user's own stack files: a small Pulumi project outside of the checkout.

It contains `Pulumi.yaml`, which points to the checkout, the user's `Pulumi.<stack>.yaml`, a
`.gitignore`, and the launcher script `trainyard`. The user keeps it under version control.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from trainyard.stack_files.checkout import CHECKOUT, PROJECT, Checkout, project_content
from trainyard.stack_files.files import write_whole
from trainyard.stack_files.yaml_limits import UnreadableYamlError
from trainyard.stack_files.yaml_reader import read_yaml, write_yaml

VARIABLE = "TRAINYARD_STACKS"
"""Environment variable that names the stacks directory."""
PROJECT_FILE = "Pulumi.yaml"
LAUNCHER = "trainyard"
_REMEMBERED = "stacks-directory"
"""File in the checkout with the directory that was created last."""
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


def stacks_directory(checkout: Checkout = CHECKOUT) -> Path:
    """Return the directory of the user's stack files.

    The first of: `--stacks`, `$TRAINYARD_STACKS`, the working directory if it is a stacks
    directory, the directory that was created last from this checkout, the checkout.

    Raises:
        StacksDirectoryError: the directory of the option or of the variable is neither a stacks
            directory nor the checkout.
    """
    chosen = chosen_directory()
    if chosen is not None:
        _require(chosen, checkout)
        return chosen
    return _default(checkout)


def directory_without_option(checkout: Checkout = CHECKOUT) -> Path:
    """Return the directory that a command without `--stacks` uses, for printed commands."""
    return _of_variable() or _default(checkout)


def _default(checkout: Checkout) -> Path:
    places = (Path(os.path.realpath(".")), remembered_directory(checkout))
    found = (place for place in places if place is not None and is_stacks_directory(place))
    return next(found, checkout.root)


def is_stacks_directory(directory: Path) -> bool:
    """Return whether a directory has the `Pulumi.yaml` of a stacks directory.

    That is a project named `trainyard` whose program is elsewhere.
    """
    try:
        project: Any = read_yaml(directory / PROJECT_FILE)
    except UnreadableYamlError:
        return False
    if not isinstance(project, Mapping) or project.get("name") != PROJECT:
        return False
    # The project of a checkout has no `main`: its program is next to it.
    return isinstance(project.get("main"), str)


def remembered_directory(checkout: Checkout = CHECKOUT) -> Path | None:
    """Return the directory that was created last from a checkout, which may be gone."""
    try:
        text = (checkout.own_files / _REMEMBERED).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return Path(text.strip()) if text.strip() else None


def create(directory: Path, checkout: Checkout = CHECKOUT) -> None:
    """Make a directory a stacks directory, and remember it in the checkout.

    Existing files are never overwritten. The lines of a missing or incomplete `.gitignore` are
    added. An existing stacks directory is only remembered. If `$TRAINYARD_STACKS` is set, nothing
    is remembered, because the user selects the directory with the variable.

    Args:
        directory: Need not exist. Usually empty, but other files do no harm.
        checkout: The one whose program the directory runs.

    Raises:
        StacksDirectoryError: the directory is in the checkout, or has another `Pulumi.yaml` or a
            file with the name of the launcher. Nothing was written.
        OSError: a file cannot be written.
    """
    directory = Path(os.path.realpath(directory))
    _refuse_checkout(directory, checkout)
    if not is_stacks_directory(directory):
        _refuse_occupied(directory)
        directory.mkdir(parents=True, exist_ok=True)
        _ignore_files(directory / ".gitignore")
        write_whole(directory / LAUNCHER, launcher_text(checkout.root), mode=0o755)
        # The project file is last: it makes the directory a stacks directory.
        write_yaml(directory / PROJECT_FILE, project_content(checkout))
    if os.environ.get(VARIABLE):
        return
    # A checkout that cannot be written is shared; the launcher names the directory.
    with contextlib.suppress(OSError):
        checkout.own_files.mkdir(exist_ok=True)
        write_whole(checkout.own_files / _REMEMBERED, f"{directory}\n")


def _require(directory: Path, checkout: Checkout) -> None:
    if directory == checkout.root or is_stacks_directory(directory):
        return
    if not (directory / PROJECT_FILE).exists():
        problem = f"it has no {PROJECT_FILE}"
    else:
        problem = f"its {PROJECT_FILE} is not a project `{PROJECT}` with the key `main`"
    source = "--stacks" if _OPTION.get() else f"${VARIABLE}"
    raise StacksDirectoryError(
        f"{directory}, which {source} names, is not a stacks directory: {problem}; "
        "name another directory, or let `./trainyard init` make an empty one a stacks directory"
    )


def _refuse_checkout(directory: Path, checkout: Checkout) -> None:
    if directory.is_relative_to(checkout.root):
        raise StacksDirectoryError(
            f"{directory} is in the checkout of trainyard, which an upgrade replaces; choose a "
            "directory outside of it for your stack files"
        )


def _refuse_occupied(directory: Path) -> None:
    names = (PROJECT_FILE, LAUNCHER)
    occupied = [name for name in names if os.path.lexists(directory / name)]
    if occupied or (directory.exists() and not directory.is_dir()):
        what = f"has its own {' and '.join(occupied)}" if occupied else "is not a directory"
        raise StacksDirectoryError(
            f"{directory} {what}; nothing was written. Choose an empty directory for your stack "
            "files"
        )


def _ignore_files(path: Path) -> None:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    missing = [line for line in _IGNORED if line not in text.splitlines()]
    if missing:
        begin = f"{text}\n" if text and not text.endswith("\n") else text
        write_whole(path, begin + "".join(f"{line}\n" for line in missing))


def launcher_text(checkout: Path) -> str:
    """Return the launcher script of a stacks directory that uses a checkout."""
    return _LAUNCHER_TEXT.format(checkout=shlex.quote(str(checkout)))
