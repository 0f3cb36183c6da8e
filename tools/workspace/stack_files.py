"""Find, read and complete stack files as the Pulumi engine reads them."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.workspace.checkout import PROJECT, ROOT
from tools.workspace.yaml_reader import UnreadableYamlError, read_written, read_yaml

CLUSTER_KEY = f"{PROJECT}:cluster"
REGION_KEY = "aws:region"
PROFILE_KEY = "aws:profile"

EKS = "eks"
PARALLELCLUSTER = "parallelcluster"
BATCH = "batch"
NETWORK = "network"
"""Architecture kinds as named in stack files."""


# Names of files and directories contain the stack name. In addition to Pulumi's rule, it must begin
# with a letter or digit:
# https://github.com/pulumi/pulumi/blob/v3.259.0/sdk/go/common/tokens/names.go, `stackNameRegexp`
_STACK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


class StackFileError(Exception):
    """A stack file cannot be found or read; the message says what to do."""


@dataclass(frozen=True, slots=True)
class StackFile:
    """A stack and the file that describes it."""

    stack: str
    path: Path
    content: Mapping[str, Any] = field(repr=False)
    """The whole document: `config` and, if Pulumi wrote it, `encryptionsalt`."""

    @property
    def name(self) -> str:
        """Name of the file in messages: its name, or its path if it is not a tracked file."""
        return self.path.name if self.is_tracked else str(self.path)

    @property
    def is_tracked(self) -> bool:
        """Whether it is the file that the engine reads for the stack by default."""
        return self.path == _tracked(self.stack)

    def options(self, *, sandbox: bool) -> str:
        """Return the options that follow the stack's name in a command, with a leading space."""
        file = "" if self.is_tracked else f" --stack-file {shlex.quote(str(self.path))}"
        return (" --sandbox" if sandbox else "") + file

    def command(self, name: str, *, sandbox: bool) -> str:
        """Return a command for the stack, such as `up`, as the user types it."""
        return f"./trainyard {name} {self.stack}{self.options(sandbox=sandbox)}"

    @property
    def config(self) -> Mapping[str, Any]:
        """Values by key, such as `aws:region`."""
        return self.content.get("config") or {}

    @property
    def written(self) -> tuple[Any, Any]:
        """The object under `trainyard:cluster` in the file, as values and as texts."""
        values, texts = (
            (read(self.path).get("config") or {}).get(CLUSTER_KEY)
            for read in (read_yaml, read_written)
        )
        return values, texts

    @property
    def region(self) -> str:
        """The region of the stack; empty if the file has none."""
        return str(self.config.get(REGION_KEY) or "")

    @property
    def profile(self) -> str:
        """The AWS profile of the engine and the program; empty if the file has none."""
        return str(self.config.get(PROFILE_KEY) or "")

    @property
    def cluster(self) -> Any:
        """The object under `trainyard:cluster`; empty if the key is missing."""
        value = self.config.get(CLUSTER_KEY)
        return {} if value is None else value

    @property
    def architecture(self) -> str:
        """The architecture kind, such as `eks`; empty if the file has none."""
        cluster = self.cluster
        architecture = cluster.get("architecture") if isinstance(cluster, Mapping) else None
        kind = architecture.get("kind") if isinstance(architecture, Mapping) else None
        return kind if isinstance(kind, str) else ""

    @property
    def stray_keys(self) -> tuple[str, ...]:
        """Keys of this project other than `trainyard:cluster`, e.g. from a forgotten `--path`."""
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
        StackFileError: the name is not a valid stack name, the file does not exist, or it is not a
            YAML mapping.
    """
    if _STACK_NAME.fullmatch(stack) is None:
        raise StackFileError(
            f"{stack!r} is not a valid stack name: use at most 100 letters, digits, `-`, `_` and "
            f"`.`, beginning with a letter or a digit; stacks: {', '.join(stack_names()) or 'none'}"
        )
    if path is None:
        path = _tracked(stack)
        if not path.is_file():
            raise StackFileError(_unknown_stack(stack))
    elif not _is_there(path):
        raise StackFileError(f"{path}: no such stack file; give the path of an existing one")
    return StackFile(stack, path, _read(path))


def unread_stack_file(stack: str, path: Path | None) -> StackFile:
    """Return a stack file without content, for messages about a file that cannot be read."""
    return StackFile(stack, _tracked(stack) if path is None else path.absolute(), {})


def _tracked(stack: str) -> Path:
    return ROOT / f"Pulumi.{stack}.yaml"


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # for example a name that is too long
        return False


def _unknown_stack(stack: str) -> str:
    names = stack_names()
    near = difflib.get_close_matches(stack, names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return (
        f"there is no stack {stack!r} (no Pulumi.{stack}.yaml in {ROOT}); {hint}"
        f"stacks: {', '.join(names) or 'none'}; or set a file with --stack-file"
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
    # https://www.pulumi.com/docs/iac/concepts/config/: the engine rejects any other key.
    wrong = [key for key in content.get("config") or {} if ":" not in str(key)]
    if wrong:
        raise StackFileError(
            f"{path} is not a stack file: Pulumi does not accept the key {wrong[0]!r} under "
            f"`config`; write it as NAMESPACE:KEY, such as `{CLUSTER_KEY}`"
        )
    return content


_NAMED = frozenset({"reservations", "compute_environments"})


def complete(values: Any, completion: Mapping[str, Any]) -> Any:
    """Return `values` with missing values taken from `completion`; given values stay.

    A named entry (a reservation, a compute environment) is completed if it exists, but never added,
    because the user may have renamed or removed it on purpose. A mapping with another `kind` than
    the completion's is left unchanged.
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
    """Return the paths of values in a stack file that differ from those of the completion."""
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

    The profile is omitted, because it is the user's and the sandbox reads no credentials. Values
    that Pulumi encrypted are omitted, because only the user has the key and the program does not
    read them.
    """
    cluster = complete(stack_file.cluster, completion)
    plain = {key: value for key, value in stack_file.config.items() if not _is_encrypted(value)}
    config = {**plain, CLUSTER_KEY: cluster}
    config.pop(PROFILE_KEY, None)
    return StackFile(stack_file.stack, stack_file.path, {**stack_file.content, "config": config})


def _is_encrypted(value: Any) -> bool:
    """Return whether a value is encrypted, or contains an encrypted value: `{secure: TEXT}`.

    https://www.pulumi.com/docs/iac/concepts/secrets/
    """
    if isinstance(value, Mapping):
        return [*value] == ["secure"] or any(map(_is_encrypted, value.values()))
    return isinstance(value, list) and any(map(_is_encrypted, value))
