"""The blocks of a Terraform file, with the expressions as parsed.

HCL is parsed by python-hcl2. Its tree is used, not its dictionaries: those have no lines, and
expressions as text. JSON has the same blocks in another form:
https://developer.hashicorp.com/terraform/language/syntax/json. Texts in quotes and in heredocs:
https://developer.hashicorp.com/terraform/language/expressions/strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

from trainyard.importing.reading import read_documents
from trainyard.importing.source import ExcessError, Node
from trainyard.importing.terraform.values import Limits
from trainyard.stack_files.yaml_limits import DEEPEST, UnreadableYamlError, readable_text

_TEMPLATE = re.compile(r"(?<![$%])[$%]\{")
_ESCAPES = {r"\n": "\n", r"\t": "\t", r"\r": "\r", r"\"": '"', r"\\": "\\"}


def unescaped(text: str) -> str:
    """Return a part of a text in quotes without its escape sequences."""
    text = re.sub(r"([$%])\1\{", r"\1{", text)
    return re.sub(r"\\.", lambda match: _ESCAPES.get(match[0], match[0]), text)


def heredoc(token: str) -> tuple[str, bool]:
    """Return the text of a heredoc, and whether it has parts to evaluate.

    Such a text is shown as it is written: heredocs hold user data, which is not taken over.
    """
    begin, _, rest = token.partition("\n")
    name = begin.removeprefix("<<").removeprefix("-").strip()
    text = f"{rest.rstrip().removesuffix(name).rstrip()}\n"
    text = dedent(text) if begin.startswith("<<-") else text
    return text, _TEMPLATE.search(text) is not None


if TYPE_CHECKING:
    from lark import Tree

TERMS = (
    "index_expr_term",
    "get_attr_expr_term",
    "attr_splat_expr_term",
    "full_splat_expr_term",
)
"""Rules of the grammar that go on from a value: an attribute, an index, a splat."""
_MARKS = re.compile(r'[{}]|"(?:[^"\\]|\\.)*"')
"""What decides where an expression in a template ends: braces, and texts that may have some."""
_BLANK = re.compile(r"\s{100,}")
_MOST_BLANK = 100_000_000
"""Maximum of line ends times characters in all runs of blanks. The parser looks for the end of a
heredoc in the rest of the run at each line end."""
_SIGNED = re.compile(r"(?:-[0-9]){100}")
"""Digits with signs, in the rest of which the parser looks for a fraction at each sign."""
_OPENING = ("LPAR", "LSQB", "LBRACE", "INTERP_START", "DIRECTIVE_START")
_CLOSING = ("RPAR", "RSQB", "RBRACE")
_DIRECTIVE = re.compile(r"(?<!%)%\{")
"""Begin of a loop or a condition in a template."""
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\t": r"\t", "\r": r"\r"})
_LABELS = {"module": 1, "resource": 2, "data": 2, "variable": 1, "output": 1, "provider": 1}
"""Number of labels by type of block, without which JSON cannot be read."""


@dataclass(frozen=True, slots=True)
class Expression:
    """The value of an attribute that is not yet evaluated."""

    tree: Tree[Any] | Node
    """The tree of HCL, or the value of JSON, whose texts are templates."""
    text: str
    """The text of the file, of which the tree has positions."""
    file: Path
    line: int
    """Line of the key."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a file, such as `resource "aws_vpc" "main" { … }`."""

    kind: str
    labels: Sequence[str]
    file: Path
    line: int
    attributes: dict[str, Expression] = field(default_factory=dict[str, Expression])
    blocks: list[Block] = field(default_factory=list["Block"])


def read_blocks(path: Path, limits: Limits) -> list[Block]:
    """Return the blocks of a file; a file of values (`*.tfvars`) is one block without a kind.

    Raises:
        UnreadableYamlError: the file is not valid, or exceeds a limit.
    """
    if path.suffix == ".json":
        return [block for each in read_documents(path) for block in _of_json(each.root, path)]
    text = readable_text(path)
    try:
        body = _parsed(path, text, limits).children[0]
    except ExcessError as error:
        raise UnreadableYamlError(f"{path}: {error}; split or simplify it and retry") from error
    whole = _filled(Block("", (), path, 1), body, text)
    return [whole] if ".tfvars" in path.suffixes else whole.blocks


def _parsed(path: Path, text: str, limits: Limits) -> Tree[Any]:
    """Return the tree of a text. The parser itself needs no stack for nested brackets.

    Raises:
        ExcessError: it exceeds a limit.
        UnreadableYamlError: it is not Terraform.
    """
    from hcl2.parser import parser
    from lark import UnexpectedInput

    _refuse_slow(text)
    interactive = parser().parse_interactive(text + "\n")  # as `hcl2.parses_to_tree` does
    depth, last = 0, None
    try:
        for number, last in enumerate(interactive.iter_parse(), 1):
            limits.token(number)
            depth += (last.type in _OPENING) - (last.type in _CLOSING)
            if depth > DEEPEST:
                raise ExcessError(f"is nested more than {DEEPEST} levels deep in line {last.line}")
        return interactive.feed_eof(last)
    except UnexpectedInput as error:
        line = min(error.line, text.count("\n") + 1)
        problem = error.get_context(text, span=20).split("\n")[0].strip()
        raise UnreadableYamlError(
            f"{path}, line {line}: is not valid Terraform: cannot read `{problem}`; correct it "
            "(`terraform validate` says what is expected) and retry"
        ) from error


def _refuse_slow(text: str) -> None:
    """Refuse what the regular expressions of the parser need quadratic time for."""
    blank = sum(each[0].count("\n") * len(each[0]) for each in _BLANK.finditer(text))
    if blank > _MOST_BLANK:
        raise ExcessError("has thousands of blank lines in a row")
    if _SIGNED.search(text):
        raise ExcessError("has more than 100 digits with signs between them")


def children(tree: Tree[Any], kind: str = "") -> Iterator[Tree[Any]]:
    """Yield the subtrees of a tree, without its punctuation, line ends and comments."""
    for each in tree.children:
        found = getattr(each, "data", "new_line_or_comment")
        if found == kind or (not kind and found != "new_line_or_comment"):
            yield each


def text_of(tree: Tree[Any], text: str) -> str:
    """Return the text of a tree in one line."""
    return " ".join(text[tree.meta.start_pos : tree.meta.end_pos].split())


def _filled(block: Block, body: Tree[Any], text: str) -> Block:
    for each in children(body):
        if each.data == "attribute":
            name, value = children(each)
            expression = Expression(value, text, block.file, each.meta.line)
            block.attributes[str(name.children[0])] = expression
        else:
            block.blocks.append(_block(each, text, block.file))
    return block


def _block(tree: Tree[Any], text: str, file: Path) -> Block:
    kind, *labels, body = children(tree)
    names = [text_of(each, text).strip('"') for each in labels]
    return _filled(Block(str(kind.children[0]), names, file, tree.meta.line), body, text)


def _of_json(root: Node, path: Path) -> Iterator[Block]:
    if not isinstance(root.value, dict):
        return
    if path.name.endswith(".tfvars.json"):
        yield _json_block("", (), root, path)
        return
    for kind, node in root.value.items():
        yield from _json_blocks(kind, (), node, path)


def _json_blocks(kind: str, labels: Sequence[str], node: Node, path: Path) -> Iterator[Block]:
    if isinstance(node.value, list):
        for each in node.value:
            yield from _json_blocks(kind, labels, each, path)
    elif isinstance(node.value, dict):
        if len(labels) == _LABELS.get(kind, 0):
            yield _json_block(kind, labels, node, path)
            return
        for label, below in node.value.items():
            yield from _json_blocks(kind, (*labels, label), below, path)


def _json_block(kind: str, labels: Sequence[str], node: Node, path: Path) -> Block:
    expressions = {key: Expression(each, "", path, each.line) for key, each in node.value.items()}
    return Block(kind, labels, path, node.line, expressions)


def read_template(template: str, file: Path, line: int, limits: Limits) -> Expression | None:
    """Return the expression of a text with `${…}`, of JSON or of a file; None if it is not one.

    Raises:
        ExcessError: it exceeds a limit.
    """
    if _DIRECTIVE.search(template):
        return None
    text = f'x = "{"".join(_quoted(template))}"'
    try:
        (attribute,) = children(_parsed(file, text, limits).children[0])
    except UnreadableYamlError:
        return None
    _, value = children(attribute)
    return Expression(value, text, file, line)


def _quoted(template: str) -> Iterator[str]:
    """Yield the parts of a template, those between expressions with escape sequences."""
    end = 0
    while (begin := template.find("${", end)) >= 0:
        depth = 1
        marks = _MARKS.finditer(template, begin + 2)
        after = len(template)
        for mark in marks:
            depth += {"{": 1, "}": -1}.get(mark[0], 0)
            if not depth:
                after = mark.end()
                break
        yield _escaped(template[end:begin])
        yield template[begin:after].replace("\n", " ")
        end = after
    yield _escaped(template[end:])


def _escaped(text: str) -> str:
    return text.translate(_ESCAPED)


def steps_of(tree: Any) -> tuple[Any, list[Any]]:
    """Return where a traversal begins, and its steps."""
    steps: list[Any] = []
    while True:
        if tree.data == "expr_term":
            inner = next(children(tree))
            if inner.data not in (*TERMS, "identifier"):
                return tree, steps[::-1]
            tree = inner
        elif tree.data in TERMS:
            tree, last = children(tree)
            steps.append(last)
        else:
            return tree, steps[::-1]


def name_of(get_attr: Any) -> str:
    """Return the name of an attribute in a traversal."""
    return str(next(children(get_attr)).children[0])
