"""Text that somebody else wrote, made fit for a terminal, a log and a shell.

Stack files and the answers of an account are data: what they hold is shown and never obeyed.
"""

from __future__ import annotations

import re
import shlex

# Controls, marks that turn the direction of writing, and separators that some programs take for
# the end of a line: https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
# A log of GitHub Actions obeys lines that begin with the first, and the second wherever it stands:
# https://github.com/actions/runner, `src/Runner.Common/ActionCommand.cs`
_WORKFLOW_LINE = re.compile(r"^(\s*)::", re.MULTILINE)
_WORKFLOW_MARK = "##["
_WORD = re.compile(r"[\w@%+=:,./-]+", re.ASCII)


def printable(text: str) -> str:
    """Return a text with what a terminal would obey, or not show, spelled out."""
    return "".join(c if c.isprintable() else _spelled(c) for c in text)


def legible(text: str) -> str:
    """Return a text of several lines with nothing in it that a terminal or a CI log would obey."""
    shown = _OBEYED.sub(lambda found: _spelled(found[0]), text)
    return _WORKFLOW_LINE.sub(r"\1: :", shown).replace(_WORKFLOW_MARK, "# #[")


def shortened(text: str, characters: int) -> str:
    """Return the beginning of a text that is longer than some characters, else the text."""
    return text if len(text) <= characters else f"{text[: characters - 1]}…"


def shell_word(text: str) -> str:
    """Return a text as one word of a POSIX shell, in quotes where it needs them.

    The `…` of an abbreviated id stays bare: no shell has a meaning for it.
    """
    return text if _WORD.fullmatch(text.replace("…", "")) else shlex.quote(text)


def _spelled(character: str) -> str:
    return character.encode("unicode_escape").decode()
