"""Texts of HCL in quotes and in heredocs.

https://developer.hashicorp.com/terraform/language/expressions/strings
"""

from __future__ import annotations

import re
from textwrap import dedent

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
