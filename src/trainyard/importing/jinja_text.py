"""Jinja templates as the text that they make while nothing is known of their values.

https://jinja.palletsprojects.com/en/stable/templates/
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MARKS = ("{%", "{{")
NOTE = (
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
