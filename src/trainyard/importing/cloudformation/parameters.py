"""Values of the parameters of a template, from parameter files and from defaults.

A parameter file is that of `aws cloudformation create-stack --parameters file://…`, or of
`aws cloudformation deploy --parameter-overrides file://…`, which also takes the template
configuration of CodePipeline:
https://docs.aws.amazon.com/cli/latest/reference/cloudformation/deploy/index.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainyard.importing.reader import Reader
from trainyard.importing.reading import read_documents
from trainyard.importing.report import Report
from trainyard.importing.source import Document
from trainyard.stack_files.yaml_limits import UnreadableYamlError


class NoParametersError(Exception):
    """A file that is given as a parameter file is none; the message says what it has to have."""


_KEY, _VALUE = "ParameterKey", "ParameterValue"
_LISTS = ("List<", "CommaDelimitedList", "AWS::SSM::Parameter::Value<List<")


def is_parameter_file(document: Document) -> bool:
    """Return whether a document has values of parameters in one of the forms of the AWS CLI."""
    root = document.at()
    if isinstance(root, dict):
        return isinstance(root.get("Parameters"), dict) and not {"Resources", "Version"} & {*root}
    if not isinstance(root, list) or not root:
        return False
    return all(
        (isinstance(each, dict) and _KEY in each)
        or (isinstance(each, str) and "=" in each.lstrip("-"))
        for each in root
    )


def parameter_files_among(
    files: Sequence[Path], named: Sequence[Path]
) -> tuple[list[Path], list[Document]]:
    """Return the files to read, and the parameter files for them.

    Args:
        files: Templates and other files; a parameter file can be among several.
        named: Files that must be parameter files.

    Raises:
        NoParametersError: a named file is not a parameter file.
        UnreadableYamlError: a named file is not valid YAML or JSON.
    """
    found: list[Document] = []
    for path in named:
        documents = [each for each in read_documents(path) if is_parameter_file(each)]
        if not documents:
            raise NoParametersError(
                f"{path}: is no parameter file: write a list with `ParameterKey` and "
                '`ParameterValue`, or {"Parameters": {"NAME": "VALUE"}}'
            )
        found += documents
    if len(files) == 1:
        return [*files], found
    sources: list[Path] = []
    for path in files:
        documents = _parameters_in(path)
        found += documents
        if not documents:
            sources.append(path)
    return sources, found


def _parameters_in(path: Path) -> list[Document]:
    try:
        return [each for each in read_documents(path) if is_parameter_file(each)]
    except UnreadableYamlError:
        return []  # reading it as a source says why


@dataclass(frozen=True, slots=True)
class Given:
    """The value of a parameter in a parameter file."""

    name: str
    value: Any
    source: Reader
    """Its place in the file."""


def given_parameters(document: Document, report: Report) -> Iterator[Given]:
    """Yield the values in a parameter file, and report what has no value."""
    root = Reader(document.root, (), report)
    for name, value in root.at("Parameters").entries():
        yield Given(name, value.value, value)
    for entry in root.items():
        if isinstance(entry.value, str):
            name, _, value = entry.value.partition("=")
            yield Given(name, value, entry)
        elif entry.at(_VALUE).exists:
            yield Given(str(entry.at(_KEY).value), entry.at(_VALUE).value, entry)
        else:
            entry.unsupported(
                "the file has no value: `aws cloudformation describe-stacks --stack-name STACK` "
                "prints the one that the stack uses"
            )
    for name, value in root.entries():
        if name != "Parameters":
            value.dropped("it is no parameter; `tags` of the stack file are those of all resources")


def typed(value: Any, kind: str) -> Any:
    """Return the value of a parameter as its type: a list, or the value itself."""
    if not kind.startswith(_LISTS):
        return value
    parts: Sequence[Any] = value if isinstance(value, list) else str(value).split(",")
    return [str(part).strip() for part in parts]
