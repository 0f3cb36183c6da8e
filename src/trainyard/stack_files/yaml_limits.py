"""Limits of YAML files that may be untrusted, and the errors of files that exceed them.

A file is data: the limits apply to the stream of events, before any object is created.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from trainyard.components.look_alikes import odd_characters
from trainyard.stack_files.files import FileRefusedError, given_bytes

LARGEST_BYTES = 1_000_000
"""Maximum size of a file: a stack with a hundred node pools has 50 kB."""
DEEPEST = 64
"""Maximum nesting depth: the schema of stack files has less than twenty levels."""
MOST_NODES = 100_000
"""Maximum number of nodes in a file; each use of an alias counts the nodes that it refers to."""

_TERRAFORM = (".tf", ".tfvars", ".tfvars.example")
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_STRING_TAG = "tag:yaml.org,2002:str"
# https://yaml.org/spec/1.2.2/#51-character-set: characters that a file must escape.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")


# libyaml is several times faster than the Python parser, but not every PyYAML build has it.
_FastLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class UnreadableYamlError(Exception):
    """A file is not usable YAML; the message names the file, the line and a fix."""


def unreadable(path: Path, line: int | None, problem: str) -> UnreadableYamlError:
    """Return the error of a file, with the line of the problem if it is known."""
    at = f", line {line}" if line else ""
    kind = "Terraform" if path.name.endswith(_TERRAFORM) else "YAML"
    return UnreadableYamlError(f"{path}{at}: is not valid {kind}: {problem}; correct it and retry")


def readable_text(path: Path, *, largest: int = LARGEST_BYTES, utf_16: bool = False) -> str:
    """Return the text of a file.

    Args:
        path: The file.
        largest: Its maximum size in bytes.
        utf_16: Whether it can be UTF-16 with a byte order mark, as PowerShell 5 writes the output
            of a program into a file.

    Raises:
        UnreadableYamlError: it cannot be read, is too large, is not UTF-8, or has control
            characters.
    """
    try:
        raw = given_bytes(path, most_bytes=largest)
    except FileRefusedError as error:
        raise UnreadableYamlError(str(error)) from error
    try:
        text = raw.decode("utf-16" if utf_16 and raw.startswith(_UTF_16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise unreadable(path, line, "it is not UTF-8") from error
    control = _CONTROL.search(text)
    if control:
        line = text.count("\n", 0, control.start()) + 1
        raise unreadable(path, line, f"it has the control character U+{ord(control[0]):04X}")
    return text


def _odd_in(text: str, line: int | None) -> str:
    """Return the look-alike characters of a line, such as spaces that are no indentation."""
    lines = text.splitlines()
    odd = odd_characters(lines[line - 1]) if line and line <= len(lines) else ""
    return f" (the line contains {odd})" if odd else ""


def not_yaml(path: Path, error: yaml.YAMLError, text: str) -> UnreadableYamlError:
    """Return the error of a file whose text is not YAML."""
    line, problem = _place_of(error)
    return unreadable(path, line, problem + _odd_in(text, line))


def _place_of(error: yaml.YAMLError) -> tuple[int | None, str]:
    """Return the line of an error, counted from 1, and its description."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    begun = getattr(error, "context_mark", None)
    context = getattr(error, "context", None)
    if context and begun:
        context += f" that begins in line {begun.line + 1}"
    parts = [context, getattr(error, "problem", None)]
    said = ", ".join(part for part in parts if part) or str(error).partition("\n")[0]
    return (mark.line + 1 if mark else None), said


@dataclass(slots=True)
class _Collection:
    """A mapping or sequence that is being read."""

    anchor: str | None
    is_mapping: bool
    size: int = 1
    """Number of nodes in it, including itself."""
    at_key: bool = True
    keys: set[str] = field(default_factory=set[str])


class Excess:
    """Checks the limits on the event stream, without constructing objects."""

    def __init__(self, path: Path, *, tags: bool = False, most_values: int = MOST_NODES) -> None:
        """Check a file; `tags` says whether its values can have tags."""
        self._path = path
        self._most_values = most_values
        self._tags = tags
        self._open = [_Collection(None, is_mapping=False, size=0)]
        self._sizes: dict[str | None, int] = {}

    def refuse(self, text: str) -> None:
        """Check every node.

        Raises:
            UnreadableYamlError: the file is nested too deeply, has too many nodes, or contains a
                duplicate key, a recursive alias, or a tag.
        """
        for event in yaml.parse(text, Loader=_FastLoader):
            if isinstance(event, yaml.CollectionEndEvent):
                done = self._open.pop()
                self._sizes[done.anchor] = done.size
                self._open[-1].size += done.size
            elif isinstance(event, yaml.NodeEvent):
                problem = self._fault(event)
                if problem:
                    raise unreadable(self._path, event.start_mark.line + 1, problem)

    def _fault(self, event: Any) -> str | None:
        """Count a node, and return what is wrong with it."""
        inside = self._open[-1]
        problem = _key_fault(event, inside) or (None if self._tags else _tag_fault(event))
        if isinstance(event, yaml.AliasEvent):
            if any(each.anchor == event.anchor for each in self._open):
                return f"the alias `*{event.anchor}` contains itself"
            inside.size += self._sizes.get(event.anchor, 1)
        elif isinstance(event, yaml.ScalarEvent):
            inside.size += 1
            self._sizes[event.anchor] = 1
        else:
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            self._open.append(_Collection(event.anchor, is_mapping))
        if len(self._open) > DEEPEST:
            return f"it is nested more than {DEEPEST} levels deep"
        if inside.size > self._most_values:
            return f"it has more than {self._most_values} values, counting those of each alias"
        return problem


def _key_fault(event: Any, inside: _Collection) -> str | None:
    if not inside.is_mapping:
        return None
    is_key, inside.at_key = inside.at_key, not inside.at_key
    if not is_key:
        return None
    if not isinstance(event, yaml.ScalarEvent):
        return "a key is not text"
    if event.value in inside.keys:
        return f"the key {event.value!r} is there twice"
    inside.keys.add(event.value)
    return None


def _tag_fault(event: Any) -> str | None:
    tag = getattr(event, "tag", None)
    if tag in (None, _STRING_TAG):
        return None
    return f"it has the tag {tag!r}; write the value without a tag"
