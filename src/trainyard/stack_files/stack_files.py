"""Find, read and complete stack files as the Pulumi engine reads them."""

from __future__ import annotations

import difflib
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainyard.components.architectures.registry import ArchitectureFacts, facts_of
from trainyard.components.catalog.kueue import CONTROLLER_RELEASES
from trainyard.components.config.provider_settings import (
    REGION_KEY,
    ProviderSettings,
    provider_settings,
)
from trainyard.stack_files.installation import INSTALLATION, OWN_FILES, PROJECT, Installation
from trainyard.stack_files.stacks_directory import (
    chosen_directory,
    directory_without_option,
    is_stacks_directory,
    remembered_directory,
    stacks_directory,
)
from trainyard.stack_files.yaml_limits import UnreadableYamlError
from trainyard.stack_files.yaml_reader import read_written, read_yaml

CLUSTER_KEY = f"{PROJECT}:cluster"

# Names of files and directories contain the stack name. In addition to Pulumi's rule, it must begin
# with a letter or digit:
# https://github.com/pulumi/pulumi/blob/v3.260.0/sdk/go/common/tokens/names.go, `stackNameRegexp`
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
    installation: Installation = field(default=INSTALLATION, repr=False)

    @property
    def name(self) -> str:
        """Name of the file in messages: its name, or its path if it is in another directory.

        `pulumi` reads a file with this name in the working directory: a stacks directory, or else
        the clone.
        """
        here = Path(os.path.realpath("."))
        clone = self.installation.clone
        directory = here if clone is None or is_stacks_directory(here) else clone
        return self.path.name if self.path == _file_in(directory, self.stack) else str(self.path)

    @property
    def is_project_file(self) -> bool:
        """Whether the engine reads it for the stack in its own directory."""
        return self.path == _file_in(self.project_directory, self.stack)

    @property
    def project_directory(self) -> Path:
        """The directory in which the engine runs: the one of the file, if that is a project."""
        directory = self.path.parent
        if self.path.name != _file_name(self.stack):
            return stacks_directory(self.installation)
        is_project = directory == self.installation.clone or is_stacks_directory(directory)
        return directory if is_project else stacks_directory(self.installation)

    @property
    def own_files(self) -> Path:
        """Directory of the files that commands write for the stack; git ignores it."""
        return self.project_directory / OWN_FILES

    @property
    def file_option(self) -> str:
        """The option that selects the file in a command, with a leading space, if it needs one."""
        directory = directory_without_option(self.installation)
        is_found = self.path == _lookup(self.stack, directory, self.installation)
        return "" if is_found else f" --stack-file {shlex.quote(str(self.path))}"

    @property
    def config(self) -> Mapping[str, Any]:
        """Values by key, such as `aws:region`."""
        return self.content.get("config") or {}

    @property
    def written(self) -> tuple[Any, Any]:
        """The object under `trainyard:cluster` in the file, as values and as texts."""
        values, texts = (_cluster_in(read(self.path)) for read in (read_yaml, read_written))
        return values, texts

    @property
    def region(self) -> str:
        """The region of the stack; empty if the file has none."""
        return str(self.config.get(REGION_KEY) or "")

    @property
    def settings(self) -> ProviderSettings:
        """How engine, program and commands reach the account of the stack."""
        return provider_settings(self.config, stack_file=self.name)

    @property
    def cluster(self) -> Any:
        """The object under `trainyard:cluster`; empty if the key is missing."""
        value = self.config.get(CLUSTER_KEY)
        return {} if value is None else value

    @property
    def architecture(self) -> str:
        """The architecture kind, such as `eks`; empty if the file has none."""
        kind = self._value("architecture", "kind")
        return kind if isinstance(kind, str) else ""

    @property
    def facts(self) -> ArchitectureFacts:
        """What holds for stacks of its architecture."""
        return facts_of(self.architecture)

    @property
    def controllers(self) -> list[str]:
        """Names of the controllers that the stack installs in Kubernetes from their releases."""
        if not self.facts.has_kubernetes:
            return []
        addons = ("architecture", "addons")
        return [name for name in CONTROLLER_RELEASES if self._value(*addons, name) is True]

    def _value(self, *path: str) -> Any:
        """Return a value below `trainyard:cluster`, or None; the file may be invalid."""
        found = self.cluster
        for key in path:
            found = found.get(key) if isinstance(found, Mapping) else None
        return found

    @property
    def stray_keys(self) -> tuple[str, ...]:
        """Keys of this project other than `trainyard:cluster`, e.g. from a forgotten `--path`."""
        # YAML reads a key such as `5` as a number.
        ours = (key for key in map(str, self.config) if key.startswith(f"{PROJECT}:"))
        return tuple(key for key in ours if key != CLUSTER_KEY)


def _cluster_in(document: Any) -> Any:
    """Return the object under `trainyard:cluster` in a document, which can be empty."""
    config = document.get("config") if isinstance(document, Mapping) else None
    return config.get(CLUSTER_KEY) if isinstance(config, Mapping) else None


def stack_names(installation: Installation = INSTALLATION) -> list[str]:
    """Return the names of the user's stacks and of the examples, sorted."""
    return sorted({*names_in(stacks_directory(installation)), *names_in(installation.examples)})


def names_in(directory: Path) -> list[str]:
    """Return the names of the stacks with a file in a directory, sorted."""
    return sorted(
        path.name.removeprefix("Pulumi.").removesuffix(".yaml")
        for path in directory.glob(_file_name("*"))
    )


def find_stack_file(
    stack: str, *, path: Path | None = None, installation: Installation = INSTALLATION
) -> StackFile:
    """Return the stack's file, or `path` read as that stack's file.

    The user's file is found before an example of the same name.

    Raises:
        StackFileError: the name is not a valid stack name, the file does not exist, or it is not a
            YAML mapping.
        StacksDirectoryError: the chosen directory is not a stacks directory.
    """
    if _STACK_NAME.fullmatch(stack) is None:
        raise StackFileError(
            f"{stack!r} is not a valid stack name: use at most 100 letters, digits, `-`, `_` and "
            f"`.`, beginning with a letter or a digit; {_known_stacks(installation)}"
        )
    if path is None:
        path = _lookup(stack, stacks_directory(installation), installation)
        if not path.is_file():
            raise StackFileError(_unknown_stack(stack, installation))
    elif not _is_there(path):
        raise StackFileError(f"{path}: no such stack file; give the path of an existing one")
    return StackFile(stack, path, _read(path), installation)


def project_directory(stack: str) -> Path:
    """Return the directory of a stack's file; that of the user if there is no such file."""
    own = stacks_directory()
    return _lookup(stack, own, INSTALLATION).parent if stack else own


def unread_stack_file(stack: str, path: Path | None) -> StackFile:
    """Return a stack file without content, for messages about a file that cannot be read."""
    found = _lookup(stack, stacks_directory(), INSTALLATION) if path is None else path.absolute()
    return StackFile(stack, found, {})


def _lookup(stack: str, directory: Path, installation: Installation) -> Path:
    """Return the file of a stack in the user's directory or among the examples.

    Without one, the path at which the user's would be.
    """
    places = [_file_in(each, stack) for each in (directory, installation.examples)]
    return next((place for place in places if _is_there(place)), places[0])


def _file_in(directory: Path, stack: str) -> Path:
    return directory / _file_name(stack)


def _file_name(stack: str) -> str:
    return f"Pulumi.{stack}.yaml"


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # for example a name that is too long
        return False


def _unknown_stack(stack: str, installation: Installation) -> str:
    near = difflib.get_close_matches(stack, stack_names(installation), n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    directories = dict.fromkeys((stacks_directory(installation), installation.examples))
    places = " or ".join(map(str, directories))
    return (
        f"there is no stack {stack!r} (no {_file_name(stack)} in {places}); {hint}"
        f"{_known_stacks(installation)}; or set a file with --stack-file"
        f"{_gone_directory(installation)}"
    )


def _gone_directory(installation: Installation) -> str:
    """Return a sentence about a remembered stacks directory that is not there, for messages."""
    remembered = remembered_directory(installation)
    if chosen_directory() or remembered is None or is_stacks_directory(remembered):
        return ""
    return (
        f". The stacks directory {remembered}, which was created last, is not there; if you moved "
        "it, run ./trainyard in it"
    )


def _known_stacks(installation: Installation) -> str:
    """Return the names of the user's stacks and of the examples, for messages."""
    directory = stacks_directory(installation)
    examples = ", ".join(names_in(installation.examples)) or "none"
    if directory == installation.examples:
        return f"stacks: {examples}"
    return f"stacks: {', '.join(names_in(directory)) or 'none'}; examples: {examples}"


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
