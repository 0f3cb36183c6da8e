"""Edits of one YAML list that keep all other characters of the text.

Users keep comments, order, anchors and unusual styles in `aws-auth`. Writing the parsed list back
would lose them, so the text is never generated from data: the tokens of the YAML scanner give the
positions of the items, and edits insert or cut only there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Literal

import yaml

_BYTE_ORDER_MARK = "\ufeff"
_BLANK = " \t\r\n" + _BYTE_ORDER_MARK
_TAB_BETWEEN = re.compile(r"(?<=[^\s?-])[ \t]*\t[ \t]*")
_OPENING = (
    yaml.BlockSequenceStartToken,
    yaml.BlockMappingStartToken,
    yaml.FlowSequenceStartToken,
    yaml.FlowMappingStartToken,
)
_CLOSING = (yaml.BlockEndToken, yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken)


@dataclass(slots=True)
class Item:
    """Position of one item: from its first character (its `-` in block style) to its end."""

    start: int
    end: int
    in_braces: bool = False
    """Whether the item is a mapping in braces."""


@dataclass(slots=True)
class ListLayout:
    """Positions of the list and its items in a text."""

    style: Literal["none", "block", "flow"] = "none"
    """`none`: no list, only whitespace and comments."""
    items: list[Item] = field(default_factory=list[Item])
    commas: list[int] = field(default_factory=list[int])
    """Positions of the commas between items in flow style, including a trailing one."""
    opening: int = 0
    """Position of the first character inside the list."""
    closing: int = 0
    """Position of the end of the list: the `]`, or the text after the list in block style."""


def readable(text: str) -> str:
    """Return the text, with the same length, without tabs that only PyYAML refuses.

    A tab before a value or a comment is valid YAML and replaced. A tab as indentation is invalid
    and kept.
    """
    return _TAB_BETWEEN.sub(lambda blank: " " * len(blank.group()), text)


def first_document(text: str) -> Any:
    """Return the data of the first document, the only one that the authenticator reads.

    Raises:
        yaml.YAMLError: the text is not YAML.
    """
    loader = yaml.SafeLoader(readable(text))
    try:
        return loader.get_data() if loader.check_data() else None
    finally:
        loader.dispose()


def line_break(text: str) -> str:
    """Return the line ending of the text."""
    if "\r\n" in text:
        return "\r\n"
    return "\r" if "\r" in text and "\n" not in text else "\n"


def scan(text: str) -> ListLayout:
    """Return the positions of the list items in the first document.

    Raises:
        yaml.YAMLError: the text is not YAML.
    """
    layout = ListLayout(closing=len(text))
    depth = 0
    for token in _first_document_tokens(text):
        depth -= isinstance(token, _CLOSING)
        if depth == 0:
            if layout.style != "none":
                layout.closing = token.start_mark.index
                break
            _open(layout, token)
        else:
            _place(layout, token, depth)
        depth += isinstance(token, _OPENING)
    return layout


def _first_document_tokens(text: str) -> Iterator[yaml.Token]:
    tokens = yaml.scan(readable(text), Loader=yaml.SafeLoader)
    return takewhile(lambda token: not isinstance(token, yaml.DocumentEndToken), tokens)


def _open(layout: ListLayout, token: yaml.Token) -> None:
    if isinstance(token, yaml.BlockSequenceStartToken):
        layout.style = "block"
    elif isinstance(token, yaml.FlowSequenceStartToken):
        layout.style = "flow"
    layout.opening = token.end_mark.index


def _place(layout: ListLayout, token: yaml.Token, depth: int) -> None:
    start, end = token.start_mark.index, token.end_mark.index
    if layout.style == "block" and depth == 1 and isinstance(token, yaml.BlockEntryToken):
        layout.items.append(Item(start, end))
    elif layout.style == "flow" and depth == 1 and isinstance(token, yaml.FlowEntryToken):
        layout.commas.append(start)
    elif layout.style == "flow" and len(layout.items) == len(layout.commas):
        layout.items.append(Item(start, end, isinstance(token, yaml.FlowMappingStartToken)))
    elif layout.items and end > start:  # the end of a block is an empty token, further down
        item = layout.items[-1]
        item.end = end
        item.in_braces |= depth == 1 and isinstance(token, yaml.FlowMappingStartToken)


def append(text: str, layout: ListLayout, block: Iterable[str], flow: str) -> str:
    """Return the text with one more item at the end of its list.

    `block` are the lines of the item in block style, the first with its `-`; `flow` is the item
    on one line.
    """
    if layout.style == "flow":
        return _append_flow(text, layout, flow)
    if not text.strip(_BLANK):
        return text + "\n".join(block) + "\n"
    indent, new_line = "", line_break(text)
    if layout.items:
        indent = " " * column(text, layout.items[-1].start)
        block = [f"- {flow}"] if layout.items[-1].in_braces else block
    added = new_line.join(indent + line for line in block)
    end = len(text[: layout.closing].rstrip(_BLANK))
    place = max([end, *(item.end for item in layout.items[-1:])])
    if text[:place].endswith(("\r", "\n")):
        return text[:place] + added + new_line + text[place:]
    return text[:place] + new_line + added + text[place:]


def _append_flow(text: str, layout: ListLayout, flow: str) -> str:
    if not layout.items:
        return text[: layout.opening] + flow + text[layout.opening :]
    last = layout.items[-1]
    comma_there = len(layout.commas) == len(layout.items)
    after = layout.commas[-1] + 1 if comma_there else last.end
    comma, added = ("", f"{flow},") if comma_there else (",", flow)
    if not _starts_line(text, last.start):
        return text[:after] + comma + f" {added}" + text[after:]
    indent = " " * column(text, last.start)
    end = max(after, len(text[: layout.closing].rstrip(_BLANK)))
    new_line = line_break(text)
    return text[:after] + comma + text[after:end] + new_line + indent + added + text[end:]


def replace(text: str, layout: ListLayout, index: int, block: Iterable[str], flow: str) -> str:
    """Return the text with one item replaced; a comment after the item is kept."""
    item = layout.items[index]
    if layout.style == "flow":
        return text[: item.start] + flow + text[item.end :]
    indent = " " * column(text, item.start)
    lines = [f"- {flow}"] if item.in_braces else block
    added = f"{line_break(text)}{indent}".join(lines)
    return text[: item.start] + added + text[len(text[: item.end].rstrip(_BLANK)) :]


def remove(text: str, layout: ListLayout, index: int) -> str:
    """Return the text without one item and its lines (block style) or comma (flow style)."""
    if layout.style == "flow":
        return _remove_flow(text, layout, index)
    item = layout.items[index]
    stop = _line_end(text, len(text[: item.end].rstrip(_BLANK)))
    return _cut_lines(text, item.start, max(stop, len(text[: item.end].rstrip("\r\n"))))


def _remove_flow(text: str, layout: ListLayout, index: int) -> str:
    item = layout.items[index]
    if index < len(layout.commas):
        return _cut_item(text, item.start, layout.commas[index] + 1)
    if index == 0:
        return text[: item.start] + text[item.end :]
    comma = layout.commas[index - 1]
    if not text[comma + 1 : item.start].strip(_BLANK):
        return text[:comma] + text[item.end :]
    without_item = _cut_item(text, item.start, item.end)
    return without_item[:comma] + without_item[comma + 1 :]


def _cut_item(text: str, start: int, end: int) -> str:
    rest = text[end : _line_end(text, end)]
    if _starts_line(text, start) and not rest.strip(_BLANK):
        return _cut_lines(text, start, _line_end(text, end))
    following = end + len(rest) - len(rest.lstrip(" ")) if text[start - 1] in "[ " else end
    return text[:start] + text[following:]


def _cut_lines(text: str, start: int, end: int) -> str:
    """Cut whole lines with the line ending before them, or after them at the start of the text."""
    before = text[:start].rstrip(" \t")
    if before.endswith("\r\n"):
        return before[:-2] + text[end:]
    if before.endswith(("\r", "\n")):
        return before[:-1] + text[end:]
    return before + text[end:].removeprefix(line_break(text))


def column(text: str, place: int) -> int:
    """Return the column of a position on its line."""
    line = text[:place].rpartition("\n")[2].rpartition("\r")[2]
    return len(line.removeprefix(_BYTE_ORDER_MARK))


def _starts_line(text: str, place: int) -> bool:
    return not text[place - column(text, place) : place].strip(_BLANK)


def _line_end(text: str, place: int) -> int:
    found = re.compile(r"[\r\n]|$").search(text, place)
    return found.start() if found else len(text)
