"""The formats that can be read, and how a document is recognized."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, Protocol

from trainyard.importing.draft import StackDraft
from trainyard.importing.key_table import KeyTable
from trainyard.importing.reader import Reader
from trainyard.importing.reading import read_documents
from trainyard.importing.report import FateRow
from trainyard.importing.source import Document

_TERRAFORM = (".tf", ".tf.json", ".tfvars", ".tfvars.json", ".tfvars.example")
"""Files of Terraform, which are read with all files of their directory."""


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
    """The folder in `src/trainyard/importing`."""
    title: str
    """What users call a file of the format."""
    recognizes: Callable[[Document], bool]
    """Whether a document is one of the format; reads a few keys only."""
    marks: Sequence[str]
    """Texts in files of the format that a stack is made of, also if they are no valid YAML."""

    def conversion(self) -> Conversion:
        """Return the conversion, which is imported when a file of the format is read."""
        module: Conversion = import_module(f"trainyard.importing.{self.name}.conversion")  # pyright: ignore[reportAssignmentType]
        return module


def _is_parallelcluster(document: Document) -> bool:
    sections = ("HeadNode", "Scheduling", "Image")
    return sum(document.at(section) is not None for section in sections) >= 2


def _is_eksctl(document: Document) -> bool:
    return document.at("kind") == "ClusterConfig" and "eksctl.io/" in str(document.at("apiVersion"))


def _is_terraform(document: Document) -> bool:
    nodes = document.root.value.values() if isinstance(document.root.value, dict) else ()
    return any(node.section for node in nodes)


def _is_cloudformation(document: Document) -> bool:
    resources = document.at("Resources")
    return isinstance(resources, dict) and any(
        str(each.get("Type")).startswith("AWS::")
        for each in resources.values()
        if isinstance(each, dict)
    )


_BATCH_OBJECTS = {
    "jobDefinitionName": ("type", "containerProperties", "nodeProperties", "ecsProperties"),
    "computeEnvironmentName": ("type", "computeResources"),
    "jobQueueName": ("priority", "computeEnvironmentOrder"),
    "LaunchTemplateName": ("LaunchTemplateData",),
}
"""Keys of which an object of AWS Batch has one, by the key with its name."""
LISTS_OF_BATCH: Mapping[str, str] = {
    "computeEnvironmentName": "computeEnvironments",
    "jobQueueName": "jobQueues",
    "LaunchTemplateName": "LaunchTemplateVersions",
    "jobDefinitionName": "jobDefinitions",
}
"""The list of an answer that has the objects, by the key with the name of one."""


def _is_of_batch(document: Document) -> bool:
    for key in LISTS_OF_BATCH.values():
        listed = document.at(key)
        if isinstance(listed, list) and listed:
            return all(
                isinstance(each, dict) and _BATCH_OBJECTS.keys() & each.keys() for each in listed
            )
    return any(
        document.at(name) is not None and any(document.at(key) is not None for key in keys)
        for name, keys in _BATCH_OBJECTS.items()
    )


FORMATS: Sequence[Format] = (
    Format(
        "parallelcluster", "AWS ParallelCluster configuration", _is_parallelcluster, ("HeadNode:",)
    ),
    Format("eksctl", "eksctl ClusterConfig", _is_eksctl, ("eksctl.io/",)),
    Format(
        "terraform",
        "Terraform configuration, plan or state",
        _is_terraform,
        ("terraform-aws-modules/eks", "aws_eks_", "aws_batch_"),
    ),
    Format(
        "cloudformation",
        "CloudFormation template",
        _is_cloudformation,
        ("AWS::Batch::", "AWS::EKS::", "AWS::EC2::VPC"),
    ),
    Format(
        "batch_jobs",
        "objects of AWS Batch",
        _is_of_batch,
        tuple(mark for name in _BATCH_OBJECTS for mark in (f'"{name}"', f"{name}:")),
    ),
)


EKS_ANSWERS = Format("live.eks", "EKS cluster of the account", lambda _: False, ())
"""Answers about a cluster, which no file has."""


def format_named(name: str) -> Format:
    """Return the format of a name."""
    return next(each for each in FORMATS if each.name == name)


def documents_of(path: Path) -> list[Document]:
    """Return the documents of a file, or the document of a directory of Terraform.

    A plan or a state of Terraform is a document of the same form as a directory.

    Raises:
        UnreadableYamlError: a file cannot be read, or is not valid.
    """
    if path.is_dir() or (path.is_file() and _is_terraform_file(path)):
        from trainyard.importing.terraform.documents import read_directory

        return [read_directory(path)]
    return [_as_blocks(each) for each in read_documents(path)]


def source_of(path: Path) -> Path:
    """Return what a file is read as: its directory, if it is one of Terraform that has no values.

    All such files of a directory have the same document.
    """
    is_read_with_all = _is_terraform_file(path) and ".tfvars" not in path.name
    return path.parent if is_read_with_all else path


def _as_blocks(document: Document) -> Document:
    if document.at("format_version") is None:
        return document
    from trainyard.importing.terraform.shown import blocks_of, is_shown

    return blocks_of(document) if is_shown(document) else document


def together(paths: Sequence[Path]) -> list[list[Path]]:
    """Return the files by the documents that they become: those of AWS Batch are one.

    Raises:
        UnreadableYamlError: a file cannot be read, or is not valid.
    """
    if len(paths) < 2:
        return [[each] for each in paths]
    of_batch = [
        path
        for path in paths
        if path.is_file()
        and not _is_terraform_file(path)
        and all(map(_is_of_batch, read_documents(path)))
    ]
    others = [[each] for each in paths if each not in of_batch]
    return [*others, of_batch] if of_batch else others


def without_siblings(paths: Sequence[Path]) -> list[Path]:
    """Return the paths with one file of each directory of Terraform: that with values, if any."""
    chosen: dict[Path, Path] = {}
    for path in paths:
        directory = path.parent.absolute()
        if _is_terraform_file(path) and (directory not in chosen or ".tfvars" in path.name):
            chosen[directory] = path
    return [each for each in paths if not _is_terraform_file(each) or each in chosen.values()]


def _is_terraform_file(path: Path) -> bool:
    return path.name.endswith(_TERRAFORM)


def format_of(document: Document) -> Format | None:
    """Return the format of a document, or None if no format has it."""
    return next((each for each in FORMATS if each.recognizes(document)), None)
