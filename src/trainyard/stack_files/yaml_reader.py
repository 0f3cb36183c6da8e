"""Read YAML as the Pulumi engine reads it, from files that may be untrusted.

A stack file is data: limits apply before any object is created, and what the engine rejects is
rejected here, with the line number. The engine's decoder is go-yaml 3. How it reads plain scalars,
and what it rejects (duplicate keys, recursive aliases, too many aliases, NaN), was measured with
engine 3.259. Source: https://github.com/go-yaml/yaml/blob/v3.0.1/resolve.go, and `decode.go` there
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import yaml

from trainyard.stack_files.files import write_whole
from trainyard.stack_files.yaml_limits import Excess, not_yaml, readable_text

EXACT_INTEGER = 2**53
"""Above this value the engine, which passes numbers as JSON, loses digits."""

# libyaml is several times faster than the Python parser, but not every PyYAML build has it.
_FastLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file; plain scalars are read as the engine reads them.

    Raises:
        UnreadableYamlError: the file cannot be read, is not YAML, or exceeds the limits.
    """
    text = readable_text(path)
    try:
        Excess(path).refuse(text)
        # The loader derives from SafeLoader and adds no way to construct objects.
        return yaml.load(text, Loader=_EngineLoader)  # noqa: S506
    except yaml.YAMLError as error:
        raise not_yaml(path, error, text) from error


def read_written(path: Path) -> Any:
    """Return the content of a YAML file that `read_yaml` accepts, every scalar as its text."""
    return yaml.load(readable_text(path), Loader=_TextLoader)  # noqa: S506 - as above


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
