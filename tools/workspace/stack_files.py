"""Find, read and complete stack files, as the Pulumi engine would read them."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.workspace.yaml_reader import UnreadableYamlError, read_yaml

ROOT = Path(__file__).resolve().parents[2]
"""The checkout: where `Pulumi.yaml` and the stack files are."""

OWN_FILES = ROOT / ".trainyard"
"""What the commands keep in a checkout; git ignores it."""
PROJECT = "trainyard"
CLUSTER_KEY = f"{PROJECT}:cluster"
REGION_KEY = "aws:region"
PROFILE_KEY = "aws:profile"

EKS = "eks"
PARALLELCLUSTER = "parallelcluster"
BATCH = "batch"
NETWORK = "network"
"""Kinds of architectures, as stack files name them."""


# Names of files and directories are made of it. Beyond Pulumi's own rule it begins like a word:
# https://github.com/pulumi/pulumi/blob/v3.259.0/sdk/go/common/tokens/names.go, `stackNameRegexp`
_STACK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


class StackFileError(Exception):
    """A stack file cannot be found or read; the message says what to do."""


@dataclass(frozen=True, slots=True)
class StackFile:
    """One stack and the file that describes it."""

    stack: str
    path: Path
    content: Mapping[str, Any] = field(repr=False)
    """The whole document: `config` and, where Pulumi wrote it, `encryptionsalt`."""

    @property
    def name(self) -> str:
        """What messages call the file: its name, or its path where it is not a tracked one."""
        return self.path.name if self.is_tracked else str(self.path)

    @property
    def is_tracked(self) -> bool:
        """Whether it is the one that the engine reads for the stack unless it is told another."""
        return self.path == _tracked(self.stack)

    def options(self, *, sandbox: bool) -> str:
        """Return what follows the stack's name in a command, with a space first."""
        file = "" if self.is_tracked else f" --stack-file {shlex.quote(str(self.path))}"
        return (" --sandbox" if sandbox else "") + file

    def command(self, name: str, *, sandbox: bool) -> str:
        """Return a command for the stack, such as `up`, as its user types it."""
        return f"./trainyard {name} {self.stack}{self.options(sandbox=sandbox)}"

    @property
    def config(self) -> Mapping[str, Any]:
        """Values by key, such as `aws:region`."""
        return self.content.get("config") or {}

    @property
    def region(self) -> str:
        """The region of the stack; empty where the file names none."""
        return str(self.config.get(REGION_KEY) or "")

    @property
    def profile(self) -> str:
        """The AWS profile that the engine and the program use; empty where the file names none."""
        return str(self.config.get(PROFILE_KEY) or "")

    @property
    def cluster(self) -> Any:
        """The object under `trainyard:cluster`; an empty one where the key is missing."""
        value = self.config.get(CLUSTER_KEY)
        return {} if value is None else value

    @property
    def architecture(self) -> str:
        """The kind of the architecture, such as `eks`; empty where the file names none."""
        cluster = self.cluster
        architecture = cluster.get("architecture") if isinstance(cluster, Mapping) else None
        kind = architecture.get("kind") if isinstance(architecture, Mapping) else None
        return kind if isinstance(kind, str) else ""

    @property
    def stray_keys(self) -> tuple[str, ...]:
        """Keys of this project beside `trainyard:cluster`, such as a forgotten `--path` makes."""
        # YAML reads a key such as `5` as a number.
        ours = (key for key in map(str, self.config) if key.startswith(f"{PROJECT}:"))
        return tuple(key for key in ours if key != CLUSTER_KEY)


def stack_names() -> list[str]:
    """Return the names of the tracked stacks, sorted."""
    return sorted(
        path.name.removeprefix("Pulumi.").removesuffix(".yaml")
        for path in ROOT.glob("Pulumi.*.yaml")
    )


def find_stack_file(stack: str, *, path: Path | None = None) -> StackFile:
    """Return the stack's file, or `path` read as that stack's file.

    Raises:
        StackFileError: the name is none that a stack can have, there is no such file, or it is not
            a YAML mapping.
    """
    if _STACK_NAME.fullmatch(stack) is None:
        raise StackFileError(
            f"{stack!r} is no name of a stack: at most 100 letters, digits, `-`, `_` and `.` that "
            f"begin with a letter or a digit; stacks: {', '.join(stack_names()) or 'none'}"
        )
    if path is None:
        path = _tracked(stack)
        if not path.is_file():
            raise StackFileError(_unknown_stack(stack))
    elif not _is_there(path):
        raise StackFileError(f"{path}: no such stack file; give the path of an existing one")
    return StackFile(stack, path, _read(path))


def _tracked(stack: str) -> Path:
    return ROOT / f"Pulumi.{stack}.yaml"


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that is too long, for example
        return False


def _unknown_stack(stack: str) -> str:
    names = stack_names()
    near = difflib.get_close_matches(stack, names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return (
        f"there is no stack {stack!r} (no Pulumi.{stack}.yaml in {ROOT}); {hint}"
        f"stacks: {', '.join(names) or 'none'}; or name a file with --stack-file"
    )


def _read(path: Path) -> Mapping[str, Any]:
    try:
        content = read_yaml(path)
    except UnreadableYamlError as error:
        raise StackFileError(str(error)) from error
    if content is None:
        return {}
    if not isinstance(content, dict) or not isinstance(content.get("config", {}), dict | None):
        raise StackFileError(
            f"{path} is not a stack file: expected a mapping with the key `config`; "
            f"see Pulumi.p5-cb.yaml for one"
        )
    # https://www.pulumi.com/docs/iac/concepts/config/: the engine stops at any other key.
    wrong = [key for key in content.get("config") or {} if ":" not in str(key)]
    if wrong:
        raise StackFileError(
            f"{path} is not a stack file: the key {wrong[0]!r} below `config` is none that Pulumi "
            f"takes; write it as NAMESPACE:KEY, such as `{CLUSTER_KEY}`"
        )
    return content


_NAMED = frozenset({"reservations", "compute_environments"})


def complete(values: Any, completion: Mapping[str, Any]) -> Any:
    """Return `values` with what is missing taken from `completion`; given values stay.

    A named entry (a reservation, a compute environment) is completed where it exists, never added:
    the user who renames or removes one means it. A mapping of another `kind` than the completion's
    is left alone.
    """
    if not isinstance(values, Mapping):
        return values
    if _is_another_kind(values, completion):
        return values
    result = dict(values)
    for key, value in completion.items():
        if key in _NAMED and isinstance(value, Mapping):
            named = result.get(key)
            if isinstance(named, Mapping):
                result[key] = {
                    name: complete(entry, value.get(name, {})) for name, entry in named.items()
                }
        elif isinstance(value, Mapping):
            result[key] = complete(result.get(key) or {}, value)
        else:
            result.setdefault(key, value)
    return result


def _is_another_kind(values: Mapping[str, Any], completion: Mapping[str, Any]) -> bool:
    kind = completion.get("kind")
    return kind is not None and values.get("kind", kind) != kind


def overruled(values: Any, completion: Mapping[str, Any], path: str = "") -> list[str]:
    """Return the paths of values that a stack file gives and a completion would give otherwise."""
    if not isinstance(values, Mapping) or _is_another_kind(values, completion):
        return []
    found: list[str] = []
    for key, value in completion.items():
        here = f"{path}.{key}" if path else key
        if key not in values:
            continue
        if isinstance(value, Mapping):
            found.extend(overruled(values[key], value, here))
        elif values[key] != value:
            found.append(here)
    return found


def completed(stack_file: StackFile, completion: Mapping[str, Any]) -> StackFile:
    """Return the stack file with its cluster object completed by the sandbox's account.

    The profile is left out: it is one of the user's own, and the sandbox reads no credentials. So
    is what Pulumi has encrypted: the key to it is the user's, and nothing of the program reads it.
    """
    cluster = complete(stack_file.cluster, completion)
    plain = {key: value for key, value in stack_file.config.items() if not _is_encrypted(value)}
    config = {**plain, CLUSTER_KEY: cluster}
    config.pop(PROFILE_KEY, None)
    return StackFile(stack_file.stack, stack_file.path, {**stack_file.content, "config": config})


def _is_encrypted(value: Any) -> bool:
    """Return whether a value, or one in it, is encrypted: `{secure: TEXT}`.

    https://www.pulumi.com/docs/iac/concepts/secrets/
    """
    if isinstance(value, Mapping):
        return [*value] == ["secure"] or any(map(_is_encrypted, value.values()))
    return isinstance(value, list) and any(map(_is_encrypted, value))
