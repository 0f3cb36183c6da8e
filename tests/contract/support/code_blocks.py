"""Code blocks of the documents, and the commands in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.support.tracked import ROOT

_BLOCK = re.compile(r"^( *)```([a-z]*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"(?:^|\s|\()\./trainyard(?=\s)")
_ENDS = ("|", "||", "&&", ";", ">", ">>", "2>", ")", "&")


class CodeBlock(NamedTuple):
    """A fenced block of a document."""

    path: Path
    """Relative to the root of the repository."""
    line: int
    language: str
    """Empty if the block does not name one."""
    text: str


def code_blocks(path: Path) -> Iterator[CodeBlock]:
    """Yield the code blocks of a document."""
    document = (ROOT / path).read_text(encoding="utf-8")
    for found in _BLOCK.finditer(document):
        line = document.count("\n", 0, found.start()) + 1
        yield CodeBlock(path, line, found[2], found[3])


def commands(text: str) -> Iterator[list[str]]:
    """Yield the arguments of every `./trainyard` in the lines of a shell.

    Output of commands, which does not begin with one, is left out.
    """
    text = re.sub(r"<([a-z]+)>", r"\1", text.replace("\\\n", " "))  # a placeholder
    for line in text.splitlines():
        start = _COMMAND.search(line)
        if start is None:
            continue
        words = shlex.shlex(line[start.end() :], posix=True, punctuation_chars="|&;<>()")
        words.whitespace_split = True
        arguments: list[str] = []
        for word in words:
            if word in _ENDS:
                break
            arguments.append(word)
        yield arguments
