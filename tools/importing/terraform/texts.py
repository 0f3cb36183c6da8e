"""Texts of HCL in quotes and in heredocs.

https://developer.hashicorp.com/terraform/language/expressions/strings
"""

from __future__ import annotations

import re
from textwrap import dedent

_HEREDOC = re.compile(r"<<(-?)[\w.-]+\r?\n(.*?)\s*[\w.-]+\s*\Z", re.DOTALL)
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
    match = _HEREDOC.match(token)
    text = f"{match[2]}\n" if match else ""
    text = dedent(text) if match and match[1] else text
    return text, _TEMPLATE.search(text) is not None
