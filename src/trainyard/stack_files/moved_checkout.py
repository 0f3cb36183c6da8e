"""Point a stacks directory to the checkout that runs, if it points to another one.

A checkout is moved, or an upgrade is unpacked elsewhere. Only the two values in `Pulumi.yaml` are
replaced; all other bytes of the file stay.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import yaml

from trainyard.stack_files.files import file_bytes, write_whole
from trainyard.stack_files.installation import INSTALLATION
from trainyard.stack_files.stacks_directory import LAUNCHER, PROJECT_FILE, launcher_text

_MAIN = ("main",)
_VIRTUALENV = ("runtime", "options", "virtualenv")
_PLAIN = re.compile(r"/[A-Za-z0-9_./-]*")
"""Paths that YAML reads without quotes."""


def follow_checkout(directory: Path, report: Callable[[str], None]) -> None:
    """Replace `main` and `virtualenv` of a stacks directory if they name another checkout.

    A `virtualenv` outside of the other checkout is the user's own and stays. The launcher is
    replaced if it is unchanged since it was generated.

    Args:
        directory: A stacks directory, or the checkout, which is left alone.
        report: Receives one message if something was replaced.

    Raises:
        OSError: a file cannot be written.
    """
    path = directory / PROJECT_FILE
    # Decoded from bytes: reading as text would change the ends of lines.
    text = file_bytes(path).decode("utf-8-sig")
    scalars = _scalars(text)
    main = scalars.get(_MAIN)
    clone = INSTALLATION.clone
    if directory == clone or main is None:
        return
    before = _path(directory, main.value)
    if clone is None:
        report(
            f"{path} runs the program of {before}. To run the installed package, delete {path} and "
            f"{directory / LAUNCHER}, and let `trainyard init` create a stack there"
        )
        return
    if before == clone:
        return
    replaced: dict[tuple[str, ...], Path] = {_MAIN: clone}
    environment = scalars.get(_VIRTUALENV)
    if environment and _path(directory, environment.value) == before / ".venv":
        replaced[_VIRTUALENV] = clone / ".venv"
    write_whole(path, _with_values(text, {scalars[key]: replaced[key] for key in replaced}))
    launcher = directory / LAUNCHER
    if launcher.is_file() and file_bytes(launcher) == launcher_text(before).encode():
        write_whole(launcher, launcher_text(clone), mode=0o755)
    keys = " and ".join(key[-1] for key in replaced)
    report(f"{path} named the checkout {before}: {keys} now name {clone}")


def _path(directory: Path, written: str) -> Path:
    """Return a path of a project file, which may be relative to it."""
    return Path(os.path.realpath(directory / written))


def _scalars(text: str) -> dict[tuple[str, ...], yaml.ScalarNode]:
    """Return the scalars of a YAML mapping, by the keys that lead to them."""
    found: dict[tuple[str, ...], yaml.ScalarNode] = {}
    waiting = [((), yaml.compose(text, Loader=yaml.SafeLoader))]
    while waiting:
        keys, node = waiting.pop()
        if isinstance(node, yaml.ScalarNode):
            found[keys] = node
        elif isinstance(node, yaml.MappingNode):
            waiting += [((*keys, str(key.value)), value) for key, value in node.value]
    return found


def _with_values(text: str, paths: dict[yaml.ScalarNode, Path]) -> str:
    """Return the text with other values in the place of some scalars."""
    for node in sorted(paths, key=lambda node: node.start_mark.index, reverse=True):
        value = str(paths[node])
        written = value if _PLAIN.fullmatch(value) else json.dumps(value)
        text = text[: node.start_mark.index] + written + text[node.end_mark.index :]
    return text
