"""Read the documents of a file, with the line of every value.

YAML is read as PyYAML reads it, which ParallelCluster uses; JSON in a fourth of that time, because
a plan of Terraform with one node group has half a megabyte. A Jinja template is read as the text
that it makes while nothing is known of its values:
https://jinja.palletsprojects.com/en/stable/templates/.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from trainyard.importing.source import Document, Node
from trainyard.stack_files.files import opened_file
from trainyard.stack_files.yaml_limits import (
    DEEPEST,
    LARGEST_BYTES,
    Excess,
    UnreadableYamlError,
    not_yaml,
    readable_text,
    unreadable,
)

_MARK = re.compile(r'[{}\[\]]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}\[\],:"]+', re.DOTALL)
"""Brackets and scalars. Of a text that is JSON, commas and colons say nothing more."""

_MOST_JSON_VALUES = 1_000_000
"""Maximum number of values and keys, of which each takes 150 bytes; a plan of Terraform has 25,000
for each node group of the EKS module."""
_MOST_DIGITS = 1_000


@dataclass(slots=True)
class _Collection:
    """A mapping or a list that is being read."""

    values: Any
    line: int
    key: str | None = None
    """Key of a mapping whose value comes next."""
    key_line: int = 0

    def add(self, value: Any, line: int) -> None:
        """Add a value, which has the line of its key."""
        if self.key is None:
            self.values.append(Node(value, line))
        else:
            self.values[self.key] = Node(value, self.key_line)
            self.key = None


def node_of_json(text: str, path: Path) -> Node:
    """Return the value of a JSON text; messages name the path.

    Raises:
        json.JSONDecodeError: the text is not JSON.
        UnreadableYamlError: it is nested too deeply, or has a key twice.
    """
    _check(text, path)  # Now the order of the marks needs no check.
    root = _Collection([], 1)
    opened = [root]
    for mark, line in _marks(text):
        inside = opened[-1]
        if mark in "{[":
            opened.append(_Collection({} if mark == "{" else [], line))
            if len(opened) > DEEPEST:
                raise _too_deep(path, line)
        elif mark in "}]":
            done = opened.pop()
            opened[-1].add(done.values, done.line)
        elif isinstance(inside.values, dict) and inside.key is None:
            inside.key, inside.key_line = _json_scalar(mark), line
            if inside.key in inside.values:
                raise unreadable(path, line, f"the key {inside.key!r} is there twice")
        else:
            inside.add(_json_scalar(mark), line)
    (value,) = root.values
    return value


def _check(text: str, path: Path) -> None:
    if sum(map(text.count, ",:[{")) > _MOST_JSON_VALUES * 2:
        raise unreadable(path, None, f"it has more than {_MOST_JSON_VALUES} values")
    try:
        json.loads(text, parse_int=_whole, parse_constant=_refused)
    except RecursionError as error:  # the only limit of nesting that its C code has
        raise _too_deep(path, None) from error


def _marks(text: str) -> Iterator[tuple[str, int]]:
    """Yield each mark with its line, counted from 1."""
    line, position = 1, 0
    for match in _MARK.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        yield match[0], line


def _json_scalar(mark: str) -> Any:
    is_plain = mark[0] == '"' and "\\" not in mark
    return mark[1:-1] if is_plain else json.loads(mark, parse_int=_whole)


def _whole(digits: str) -> int | str:
    """Return a whole number; the text of one that Python does not convert."""
    return int(digits) if len(digits) <= _MOST_DIGITS else digits


def _refused(constant: str) -> Any:
    raise json.JSONDecodeError(f"{constant} is not JSON", constant, 0)


def _too_deep(path: Path, line: int | None) -> UnreadableYamlError:
    return unreadable(path, line, f"it is nested more than {DEEPEST} levels deep")


_MARKS = ("{%", "{{")
_NOTE = (
    "it is a Jinja template: values are placeholders, loops have one turn, and conditions hold "
    "unless they compare with `==` or negate; render it to read what your values make of it"
)
_TOKEN = re.compile(r"\{\{(?P<value>.*?)\}\}|\{%[-+]?(?P<tag>.*?)[-+]?%\}|\{#.*?#\}", re.DOTALL)
_BEGIN = re.compile(r"\{[{%#]")
_ENDS = {"{{": "}}", "{%": "%}", "{#": "#}"}
_NOT_IN_NAMES = re.compile(r"[^\w.]+")
_FALSE = re.compile(r"==|\bnot\b|\bis\s+not\b")


@dataclass(slots=True)
class _Condition:
    """A condition that is being read."""

    holds: bool
    """Whether the branch here is the one to read."""
    was_read: bool
    """Whether a branch was read before."""


def without_jinja(text: str) -> str:
    """Return a text of YAML with a placeholder for each value; every line keeps its number."""
    written: list[str] = []
    conditions: list[_Condition] = []
    end = 0
    hidden = 0  # conditions here that do not hold
    for token in _tokens(text):
        between = text[end : token.start()]
        lines = token[0].count("\n")
        end = token.end()
        is_read = not hidden
        written.append(between if is_read else _lines_of(between))
        if token["value"] is not None and is_read:
            written.append(f"<{_NOT_IN_NAMES.sub('-', token['value']).strip('-')}>")
        if token["tag"] is not None:
            hidden += _enter(token["tag"].split(None, 1), conditions)
        written.append("\n" * lines)
    return "".join((*written, text[end:]))


def _lines_of(text: str) -> str:
    return "\n" * text.count("\n")


def _tokens(text: str) -> Iterator[re.Match[str]]:
    """Yield the tokens. What begins one is tried only if an end follows, so the time is linear."""
    last = {begin: text.rfind(end) for begin, end in _ENDS.items()}
    begin = _BEGIN.search(text)
    while begin is not None:
        token = _TOKEN.match(text, begin.start()) if begin.end() <= last[begin[0]] else None
        if token is not None:
            yield token
        begin = _BEGIN.search(text, token.end() if token is not None else begin.start() + 1)


def _enter(words: list[str], conditions: list[_Condition]) -> int:
    """Go into a branch of a condition, or out of one; return how many more do not hold."""
    before = conditions[-1].holds if conditions else True
    kind, rest = words[0] if words else "", words[-1] if words else ""
    if kind == "if":
        holds = not _FALSE.search(rest)
        conditions.append(_Condition(holds, holds))
        return int(not holds)
    if conditions and kind in ("elif", "else"):
        last = conditions[-1]
        last.holds = not last.was_read and (kind == "else" or not _FALSE.search(rest))
        last.was_read = last.was_read or last.holds
        return int(before) - int(last.holds)
    if conditions and kind == "endif":
        conditions.pop()
        return -int(not before)
    return 0


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
_COMMAND = "[command]"
_OF_WRAPPER = re.compile(r"^(?:\[command\]|::[a-z-]+[ :]).*", re.MULTILINE)
"""What the wrapper of the action hashicorp/setup-terraform prints around the output of Terraform:
`wrapper/terraform.js`, and the commands of the runner for its outputs and messages."""
_MOST_DOCUMENTS = 100
_LARGEST_JSON_BYTES = 30_000_000
"""Maximum size of JSON, which programs write too: a plan of Terraform has half a megabyte for each
node group of the EKS module."""


def read_documents(path: Path) -> list[Document]:
    """Return the documents of a YAML or JSON file that are not empty.

    Raises:
        UnreadableYamlError: the file cannot be read, is not YAML, or exceeds the limits.
    """
    return documents_in(_text_at(path), path)


def _text_at(path: Path) -> str:
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
    if path.suffix == ".json" or text.startswith(_COMMAND):
        text = _OF_WRAPPER.sub("", text)
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
    if any(mark in text for mark in _MARKS):
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
            if any(mark in each for mark in _MARKS)
        )
        raise UnreadableYamlError(
            f"{path}, line {line}: is a Jinja template, not YAML; render it, and read the result"
        ) from error
    is_guessed = "{%" in text
    return [replace(each, note=_NOTE, is_guessed=is_guessed) for each in found]


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


_ZIP = b"PK\x03\x04"
"""Begin of a plan that `terraform plan -out` writes: `internal/plans/planfile` of Terraform."""
_FORMS: Mapping[re.Pattern[str], str] = {
    # https://docs.aws.amazon.com/parallelcluster/latest/ug/configuration.html
    re.compile(r"\s*(?:[#;][^\n]*\n\s*)*\[(?:aws|global|aliases|cluster\b[^\]]*)\]"): (
        "is a configuration of ParallelCluster 2; convert it with "
        "`pcluster3-config-converter --config-file {path} --output-file NEW.yaml` (it is in the "
        "package aws-parallelcluster), and read NEW.yaml"
    ),
    # `internal/states/statefile/version4.go` of Terraform: the order of the fields.
    re.compile(r'\s*\{\s*"version":\s*\d+,\s*"terraform_version":'): (
        "is a state in the form in which Terraform stores it, which differs between versions; "
        "print it with `terraform show -json {path} > state.json`, and read state.json"
    ),
    # https://developer.hashicorp.com/terraform/internals/machine-readable-ui
    re.compile(r'\s*\{"@level":'): (
        "is the log of `terraform plan -json`, which has no values; save the plan with "
        "`terraform plan -out tfplan`, print it with `terraform show -json tfplan > plan.json`, "
        "and read plan.json"
    ),
}
"""What to do with a file by how it begins."""
_PLAN = (
    "is a plan in the form in which Terraform stores it; print it with "
    "`terraform show -json {path} > plan.json` in the directory where it was made, and read "
    "plan.json"
)


def refuse_other_form(path: Path) -> None:
    """Check that a file is not in a form that must be converted first.

    Raises:
        UnreadableYamlError: it is; the message has the command. Or it cannot be read.
    """
    if not path.is_file():
        return
    with suppress(OSError), opened_file(path) as file:
        if file.read(len(_ZIP)) == _ZIP:
            raise UnreadableYamlError(f"{path}: {_PLAN.format(path=path)}")
    text = _text_at(path)
    for begin, what_to_do in _FORMS.items():
        if begin.match(text):
            raise UnreadableYamlError(f"{path}: {what_to_do.format(path=path)}")
