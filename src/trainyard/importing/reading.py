"""Read the documents of a file, with the line of every value.

YAML is read as PyYAML reads it, which ParallelCluster uses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from trainyard.importing.jinja_text import MARKS, NOTE, without_jinja
from trainyard.importing.json_text import node_of_json
from trainyard.importing.source import Document, Node
from trainyard.stack_files.yaml_limits import (
    LARGEST_BYTES,
    Excess,
    UnreadableYamlError,
    not_yaml,
    readable_text,
    unreadable,
)

# libyaml is several times faster, but not every PyYAML build has it.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CORE = "tag:yaml.org,2002:"
_MERGE = f"{_CORE}merge"
_CONSTRUCTED = {f"{_CORE}{kind}" for kind in ("bool", "int", "float", "null")}
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_MOST_VALUES = 20_000
"""Maximum number of values of YAML: a template of 500 objects has 10,000."""
_PLAN_MARK = '"format_version"'
"""Key of plans and states of Terraform, which have more values."""
_MOST_DOCUMENTS = 100
_LARGEST_JSON_BYTES = 30_000_000
"""Maximum size of JSON, which programs write too: a plan of Terraform has half a megabyte for each
node group of the EKS module."""


def read_documents(path: Path) -> list[Document]:
    """Return the documents of a YAML or JSON file that are not empty.

    Raises:
        UnreadableYamlError: the file cannot be read, is not YAML, or exceeds the limits.
    """
    return documents_in(text_at(path), path)


def text_at(path: Path) -> str:
    """Return the text of a file.

    Raises:
        UnreadableYamlError: the file cannot be read, or exceeds the limits of its kind.
    """
    if path.suffix == ".json":
        return readable_text(path, largest=_LARGEST_JSON_BYTES, utf_16=True)
    return readable_text(path)


def documents_in(text: str, path: Path) -> list[Document]:
    """Return the documents of a text that are not empty; messages name the path.

    Raises:
        UnreadableYamlError: the text is not YAML, or exceeds the limits.
    """
    if path.suffix == ".json":
        found = _of_json(text, path)
        if found is not None:
            return found
        # What YAML accepts in addition, such as comments, may be indented with tabs.
        text = text.replace("\t", " ")
    try:
        return _documents(text, path)
    except (yaml.YAMLError, UnreadableYamlError) as error:
        found = _with_placeholders(text, path)
        if found is not None:
            return found
        if isinstance(error, yaml.YAMLError):
            raise not_yaml(path, error, text) from error
        raise


def _of_json(text: str, path: Path) -> list[Document] | None:
    """Return the documents of a JSON text; None if it can only be YAML."""
    if text.count(",") > _MOST_VALUES and _PLAN_MARK not in text:
        raise unreadable(path, None, f"it has more than {_MOST_VALUES} values")
    try:
        root = node_of_json(text, path)
    except json.JSONDecodeError as error:
        if len(text) > LARGEST_BYTES:
            raise unreadable(path, error.lineno, f"{error.msg}, as JSON") from error
        return None
    return [] if root.value is None else [Document(path, root)]


def _documents(text: str, path: Path) -> list[Document]:
    Excess(path, tags=True, most_values=_MOST_VALUES).refuse(text)
    roots = list(yaml.compose_all(text, Loader=_LOADER))
    nodes = [(index, _node(root, root.start_mark.line + 1)) for index, root in enumerate(roots)]
    found = [Document(path, node, index) for index, node in nodes if node.value is not None]
    if len(found) > _MOST_DOCUMENTS:
        raise unreadable(path, None, f"it has more than {_MOST_DOCUMENTS} documents")
    return found


def _with_placeholders(text: str, path: Path) -> list[Document] | None:
    """Return the documents of a text that a program fills in before it is YAML; None of others.

    In a text for `envsubst`, that is `[${ZONE_A}, ${ZONE_B}]`.
    """
    if any(mark in text for mark in MARKS):
        return _of_template(text, path)
    filled = _VARIABLE.sub(r"<\1>", text)
    if filled != text:
        with suppress(yaml.YAMLError, UnreadableYamlError):
            return _documents(filled, path)
    return None


def _of_template(text: str, path: Path) -> list[Document]:
    """Return the documents of a Jinja template."""
    try:
        found = _documents(without_jinja(text), path)
    except (yaml.YAMLError, UnreadableYamlError) as error:
        line = next(
            number
            for number, each in enumerate(text.splitlines(), 1)
            if any(mark in each for mark in MARKS)
        )
        raise UnreadableYamlError(
            f"{path}, line {line}: is a Jinja template, not YAML; render it, and read the result"
        ) from error
    return [replace(each, note=NOTE) for each in found]


def node_of(text: str) -> Node:
    """Return the value of a YAML text that the program itself has written."""
    root = yaml.compose(text, Loader=_LOADER)
    return _node(root, root.start_mark.line + 1)


def _node(node: yaml.Node, line: int) -> Node:
    tag = "" if node.tag.startswith(_CORE) else node.tag
    if isinstance(node, yaml.MappingNode):
        return Node(dict(_entries(node)), line, tag)
    if isinstance(node, yaml.SequenceNode):
        return Node([_node(each, each.start_mark.line + 1) for each in node.value], line, tag)
    return Node(_scalar(node), line, tag)


def _entries(node: yaml.MappingNode) -> Iterator[tuple[str, Node]]:
    """Yield the entries of a mapping; those of a merge key come first and are overridden."""
    for key, value in node.value:
        if key.tag == _MERGE:
            for each in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if isinstance(each, yaml.MappingNode):
                    yield from _entries(each)
    for key, value in node.value:
        if key.tag != _MERGE:
            yield str(key.value), _node(value, key.start_mark.line + 1)


def _scalar(node: yaml.Node) -> Any:
    if node.tag not in _CONSTRUCTED:
        return str(node.value)  # also a time, which no format here has
    try:
        return yaml.constructor.SafeConstructor().construct_object(node)
    except (ValueError, LookupError):  # such as `0x_` and `!!bool maybe`
        return str(node.value)
