"""The formats that can be read, and how a document is recognized."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import NamedTuple, Protocol

from tools.importing.draft import StackDraft
from tools.importing.key_table import KeyTable
from tools.importing.reader import Reader
from tools.importing.report import FateRow
from tools.importing.source import Document


class Conversion(Protocol):
    """What the module `conversion` of a format has."""

    KEYS: KeyTable
    """The keys of its schema."""
    FATES: Mapping[tuple[str, ...], FateRow]
    """What becomes of the keys that `convert` does not read."""

    WORDS: Mapping[str, str]
    """Keys of the format by those of the stack file that mean the same, for messages of `lint`."""

    def name_of(self, document: Document) -> str:
        """Return the name of the cluster; empty without one."""
        ...

    def convert(self, source: Reader, stack: StackDraft) -> None:
        """Read a document into a stack file."""
        ...


class Format(NamedTuple):
    """A row of the registry."""

    name: str
    """The folder in `tools/importing`."""
    title: str
    """What users call a file of the format."""
    recognizes: Callable[[Document], bool]
    """Whether a document is one of the format; reads a few keys only."""
    marks: Sequence[str]
    """Texts in files of the format, also in those that are no valid YAML."""

    def conversion(self) -> Conversion:
        """Return the conversion, which is imported when a file of the format is read."""
        module: Conversion = import_module(f"tools.importing.{self.name}.conversion")  # pyright: ignore[reportAssignmentType]
        return module


def _is_parallelcluster(document: Document) -> bool:
    sections = ("HeadNode", "Scheduling", "Image")
    return sum(document.at(section) is not None for section in sections) >= 2


def _is_eksctl(document: Document) -> bool:
    return document.at("kind") == "ClusterConfig" and "eksctl.io/" in str(document.at("apiVersion"))


FORMATS: Sequence[Format] = (
    Format(
        "parallelcluster", "AWS ParallelCluster configuration", _is_parallelcluster, ("HeadNode:",)
    ),
    Format("eksctl", "eksctl ClusterConfig", _is_eksctl, ("eksctl.io/",)),
)


def format_of(document: Document) -> Format | None:
    """Return the format of a document, or None if no format has it."""
    return next((each for each in FORMATS if each.recognizes(document)), None)
