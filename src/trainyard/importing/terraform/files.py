"""Functions of the Terraform language that read further files, and YAML.

https://developer.hashicorp.com/terraform/language/functions/file
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from trainyard.importing.excess import ExcessError
from trainyard.importing.source import Node, plain
from trainyard.importing.terraform.limits import Limits
from trainyard.importing.terraform.syntax import Expression, read_template
from trainyard.importing.terraform.values import is_unknown
from trainyard.stack_files.yaml_limits import Excess, UnreadableYamlError, readable_text

_MOST_FILES = 200
# libyaml is several times faster, but not every PyYAML build has it.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def template_at(directory: Path, path: Node, limits: Limits) -> Expression:
    """Return the expression of the template in a file, which `templatefile` evaluates.

    Raises:
        ExcessError: it exceeds a limit.
        ValueError: the path is not known, or the file cannot be read.
    """
    text = "" if is_unknown(path) else _text(directory, str(plain(path)))
    found = read_template(text, directory / str(plain(path)), 1, limits) if text else None
    if found is None:
        raise ValueError(path.value)
    return found


def _place(directory: Path, path: str) -> Path:
    """Return the path of a file near the module; others are not part of a configuration."""
    found = (directory / path).resolve()
    if not found.is_relative_to(directory.resolve().parent.parent):
        raise ValueError(path)
    return found


def _text(directory: Path, path: str) -> str:
    try:
        return readable_text(_place(directory, path))
    except UnreadableYamlError as error:
        raise ValueError(path) from error


def _set(directory: Path, path: str, pattern: str) -> list[str]:
    place = _place(directory, path)
    found = [each for each in place.glob(pattern) if each.is_file()] if place.is_dir() else []
    if not found or len(found) > _MOST_FILES:
        raise ValueError(path)  # without files, they may be made before Terraform runs
    return sorted(str(each.relative_to(place)) for each in found)


def _yaml(directory: Path, text: str) -> Any:
    try:
        Excess(directory, tags=True).refuse(text)
    except UnreadableYamlError as error:
        raise ExcessError(
            "a `yamldecode` has a text that is nested too deeply, or has too many values or a key "
            "twice"
        ) from error
    except yaml.YAMLError as error:
        raise ValueError(text) from error
    return yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe one, also if it is that of libyaml


OF_FILES: Mapping[str, Callable[..., Any]] = {
    "file": _text,
    "fileexists": lambda directory, path: _place(directory, path).is_file(),
    "fileset": _set,
    "yamldecode": _yaml,
}
"""Functions of the directory of the module and of values that must be known."""
