"""Sanitize untrusted text for terminals, logs and shells.

Stack files and AWS responses are data: their content is displayed but never interpreted.
"""

from __future__ import annotations

import re
import shlex
import textwrap

from trainyard.components.secret_text import without_secrets

# Control characters, bidirectional marks, and separators that some programs treat as line endings:
# https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
# GitHub Actions interprets log lines that begin with the first, and the second anywhere:
# https://github.com/actions/runner, `src/Runner.Common/ActionCommand.cs`
_WORKFLOW_LINE = re.compile(r"^(\s*)::", re.MULTILINE)
_WORKFLOW_MARK = "##["
_WORD = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
_LABEL = re.compile(r" *(?:(?:problem|found|allowed|fix|note|warning): +|• )?")
"""The beginning of a line, under which its continuation is indented."""
_TO_COPY = re.compile(r"\b(?:trainyard|kubectl|pulumi|pcluster|aws|sed) [a-z-]")
"""Lines with a command."""


def printable(text: str) -> str:
    """Return a text with control and invisible characters escaped, and without secrets."""
    shown = without_secrets(text)
    return "".join(c if c.isprintable() else _spelled(c) for c in shown)


def legible(text: str) -> str:
    """Return a multi-line text without secrets and what a terminal or CI log would interpret."""
    shown = _OBEYED.sub(lambda found: _spelled(found[0]), without_secrets(text))
    return _WORKFLOW_LINE.sub(r"\1: :", shown).replace(_WORKFLOW_MARK, "# #[")


def shortened(text: str, characters: int) -> str:
    """Return the text, truncated to a number of characters."""
    return text if len(text) <= characters else f"{text[: characters - 1]}…"


def shell_word(text: str) -> str:
    """Return a text as one POSIX shell word, quoted if necessary.

    The `…` of an abbreviated id is not quoted, because it has no meaning in a shell.
    """
    return text if _WORD.fullmatch(text.replace("…", "")) else shlex.quote(text)


def folded(text: str, columns: int) -> str:
    """Return a text for a terminal: lines break at words, except those with a command to copy."""
    return "\n".join(_folded_line(line, columns) for line in text.split("\n"))


def _folded_line(line: str, columns: int) -> str:
    if len(line) <= columns or _TO_COPY.search(line):
        return line
    label = _LABEL.match(line)
    hanging = " " * len(label[0] if label else "")
    return fill(line, columns, hanging)


def fill(line: str, columns: int, hanging: str) -> str:
    """Return a line broken at words, with an indentation of the lines that follow."""
    return textwrap.fill(
        line, columns, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False
    )


def _spelled(character: str) -> str:
    return character.encode("unicode_escape").decode()
