"""Read YAML as the Pulumi engine reads it, from files that may be untrusted.

A stack file is data: limits apply before any object is created, and what the engine rejects is
rejected here, with the line number. The engine's decoder is go-yaml 3. How it reads plain scalars,
and what it rejects (duplicate keys, recursive aliases, too many aliases, NaN), was measured with
engine 3.259. Source: https://github.com/go-yaml/yaml/blob/v3.0.1/resolve.go, and `decode.go` there
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import yaml

from components.look_alikes import odd_characters
from tools.workspace.files import write_whole

LARGEST_BYTES = 1_000_000
"""Maximum size of a file: a stack with a hundred node pools has 50 kB."""
DEEPEST = 64
"""Maximum nesting depth: the schema of stack files has less than twenty levels."""
MOST_NODES = 100_000
"""Maximum number of nodes in a file; each use of an alias counts the nodes that it refers to."""
EXACT_INTEGER = 2**53
"""Above this value the engine, which passes numbers as JSON, loses digits."""

_STRING_TAG = "tag:yaml.org,2002:str"
# https://yaml.org/spec/1.2.2/#51-character-set: characters that a file must escape.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")

# libyaml is several times faster than the Python parser, but not every PyYAML build has it.
_FastLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class UnreadableYamlError(Exception):
    """A file is not usable YAML; the message names the file, the line and a fix."""


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file; plain scalars are read as the engine reads them.

    Raises:
        UnreadableYamlError: the file cannot be read, is not YAML, or exceeds the limits.
    """
    text = _text(path)
    try:
        _Excess(path).refuse(text)
        # The loader derives from SafeLoader and adds no way to construct objects.
        return yaml.load(text, Loader=_EngineLoader)  # noqa: S506
    except yaml.YAMLError as error:
        line, problem = _place_of(error)
        raise _unreadable(path, line, problem + _odd_in(text, line)) from error


def read_written(path: Path) -> Any:
    """Return the content of a YAML file that `read_yaml` accepts, every scalar as its text."""
    return yaml.load(_text(path), Loader=_TextLoader)  # noqa: S506 - as above


def _unreadable(path: Path, line: int | None, problem: str) -> UnreadableYamlError:
    at = f", line {line}" if line else ""
    return UnreadableYamlError(f"{path}{at}: is not valid YAML: {problem}; correct it and retry")


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            raise _unreadable(path, None, "it is not a regular file")
        with path.open("rb") as file:
            raw = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise _unreadable(path, None, f"it cannot be read ({error.strerror})") from error
    if len(raw) > LARGEST_BYTES:
        raise _unreadable(path, None, f"it has more than {LARGEST_BYTES} bytes")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise _unreadable(path, line, "it is not UTF-8") from error
    control = _CONTROL.search(text)
    if control:
        line = text.count("\n", 0, control.start()) + 1
        raise _unreadable(path, line, f"it has the control character U+{ord(control[0]):04X}")
    return text


def _odd_in(text: str, line: int | None) -> str:
    """Return the look-alike characters of a line, such as spaces that are no indentation."""
    lines = text.splitlines()
    odd = odd_characters(lines[line - 1]) if line and line <= len(lines) else ""
    return f" (the line contains {odd})" if odd else ""


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


class _Excess:
    """Checks the limits on the event stream, without constructing objects."""

    def __init__(self, path: Path) -> None:
        self._path = path
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
                    raise _unreadable(self._path, event.start_mark.line + 1, problem)

    def _fault(self, event: Any) -> str | None:
        """Count a node, and return what is wrong with it."""
        inside = self._open[-1]
        problem = _key_fault(event, inside) or _tag_fault(event)
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
        if inside.size > MOST_NODES:
            return f"it has more than {MOST_NODES} values, counting those of each alias"
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


class _TextLoader(_FastLoader):
    """Reads every scalar as text."""


_TextLoader.yaml_implicit_resolvers = {}


class _EngineLoader(_FastLoader):
    """Reads YAML 1.2 scalars as the engine's Go decoder does, not YAML 1.1 scalars."""


_FLOAT = re.compile(r"^[-+]?(?:\.[0-9_]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$")
_NOT_FINITE = re.compile(r"^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$")


def _plain_scalar_rules() -> dict[str | None, list[tuple[str, re.Pattern[str]]]]:
    # PyYAML reads `yes` and `on` as booleans and `12:30` as a number; the engine reads text.
    prefix = "tag:yaml.org,2002:"
    own = {f"{prefix}bool", f"{prefix}int", f"{prefix}float"}
    rules = {
        first: [(tag, pattern) for tag, pattern in entries if tag not in own]
        for first, entries in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    boolean = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
    integer = re.compile(r"^[-+]?(?:0x[0-9a-fA-F_]+|0o?[0-7_]+|0b[01_]+|[1-9][0-9_]*|0)$")
    for first in "tTfF":
        rules.setdefault(first, []).append((f"{prefix}bool", boolean))
    for first in "-+.0123456789":
        numbers = [("int", integer), ("float", _FLOAT), ("float", _NOT_FINITE)]
        found = [(f"{prefix}{kind}", pattern) for kind, pattern in numbers]
        rules.setdefault(first, []).extend(found)
    return rules


def _go_time(loader: _EngineLoader, node: yaml.ScalarNode) -> str:
    # The program receives an unquoted time as Go prints it, measured with engine 3.259.
    try:
        value: date | datetime = loader.construct_yaml_timestamp(node)
        if not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day, tzinfo=UTC)
        moment = value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    except (ValueError, AttributeError, OverflowError):
        return node.value  # not a valid time, such as 2026-02-30: also text for the engine
    return moment.strftime("%Y-%m-%d %H:%M:%S +0000 UTC")


def _go_integer(loader: _EngineLoader, node: yaml.ScalarNode) -> int | str:
    try:
        value: int = loader.construct_yaml_int(_with_plain_octal(node))
    except ValueError:
        return node.value  # `0x_`: also text for the engine
    return _exact(value, node)


def _with_plain_octal(node: yaml.ScalarNode) -> yaml.ScalarNode:
    # `0o17` is the YAML 1.2 spelling of `017` in YAML 1.1; the engine accepts both.
    plain = re.sub(r"^([-+]?0)o", r"\1", node.value)
    return yaml.ScalarNode(node.tag, plain, node.start_mark, node.end_mark)


def _go_float(loader: _EngineLoader, node: yaml.ScalarNode) -> float | int | str:
    del loader
    if _NOT_FINITE.match(node.value):
        raise _refused_number(node, "not a number")
    value = float(node.value.replace("_", ""))
    if value in (float("inf"), float("-inf")):
        return node.value  # out of range for a number: also text for the engine
    # JSON as Go writes it has no 10.0.
    return _exact(int(value), node) if value.is_integer() else value


def _exact(value: int, node: yaml.ScalarNode) -> int:
    if abs(value) > EXACT_INTEGER:
        raise _refused_number(node, "a number of more than 53 bits, which loses digits")
    return value


def _refused_number(node: yaml.ScalarNode, what: str) -> yaml.MarkedYAMLError:
    shown = node.value if len(node.value) <= 40 else f"{node.value[:39]}…"
    problem = f"`{shown}` is {what}; write it in quotes if it is text"
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


_EngineLoader.yaml_implicit_resolvers = _plain_scalar_rules()
_EngineLoader.add_constructor("tag:yaml.org,2002:timestamp", _go_time)
_EngineLoader.add_constructor("tag:yaml.org,2002:int", _go_integer)
_EngineLoader.add_constructor("tag:yaml.org,2002:float", _go_float)


class _EngineDumper(yaml.SafeDumper):
    """Quotes what either YAML 1.1 or the engine would not read as text."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write every value in full."""
        return True


_EngineDumper.yaml_implicit_resolvers = {
    first: [*yaml.SafeDumper.yaml_implicit_resolvers.get(first, []), *rules]
    for first, rules in _EngineLoader.yaml_implicit_resolvers.items()
}


def write_yaml(path: Path, content: Any) -> None:
    """Write a YAML file that the engine and `read_yaml` read back unchanged."""
    write_whole(path, yaml_text(content))


def yaml_text(content: Any) -> str:
    """Return the text that `write_yaml` writes."""
    return yaml.dump(content, Dumper=_EngineDumper, sort_keys=False)
