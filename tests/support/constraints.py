"""Constraints of the AWS API parameters that get values of stack files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from re import _constants as codes  # the standard library has no public parser
from re import _parser as parser
from typing import Any

from tools.catalog.constraints import DATA_FILE

CONSTRAINTS: Mapping[str, Mapping[str, Any]] = json.loads(DATA_FILE.read_text(encoding="utf-8"))[
    "parameters"
]
"""By the name of the parameter, as in `tools/catalog/parameters.yaml`."""


_SEPARATORS = " \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
UNBOUNDED = 300
"""More repetitions than any parameter accepts."""


def in_python(pattern: str) -> str:
    """Return a pattern of an API model, which has Java's syntax, for `re`."""
    # `\\w` has the letters, the numbers and the underscore; every such class names all three.
    translated = pattern.replace(r"\p{L}", r"\w").replace(r"\p{N}", "")
    translated = translated.replace(r"\p{Z}", _SEPARATORS)
    return translated.replace(r"\uD800\uDC00-\uDBFF\uDFFF", r"\U00010000-\U0010FFFF")


def width(pattern: str) -> tuple[int, int]:
    """Return the lengths of the shortest and the longest text that matches a pattern.

    A pattern can begin with a look-ahead for its length.
    """
    parsed = parser.parse(pattern)
    least, most = parsed.getwidth()
    for code, value in parsed[:1]:
        if code is codes.ASSERT:
            least, most = max(least, value[1].getwidth()[0]), min(most, value[1].getwidth()[1])
    return least, most


def extremes(pattern: str, fits: Callable[[str], bool]) -> set[str]:
    """Return texts that match a pattern and fit, with each part as short or as long as possible."""
    parsed = parser.parse(pattern)
    found = set[str]()
    for last in (0, 1):
        # Unlimited parts are repeated as often as fits.
        texts = [_written(parsed, longest=times, last=last) for times in range(UNBOUNDED)]
        matching = [text for text in texts if re.fullmatch(pattern, text) and fits(text)]
        found |= {min(matching, key=len), max(matching, key=len)} if matching else set()
    return found


def _written(parsed: Any, *, longest: int, last: int) -> str:
    return "".join(_WRITE[code](value, longest, last) for code, value in parsed)


def _repeat(value: Any, longest: int, last: int) -> str:
    least, most, inner = value
    most = max(least, min(most, longest) if most == codes.MAXREPEAT else most if longest else 0)
    return _written(inner, longest=min(longest, 1), last=last) * most


def _one_of(value: Any, longest: int, last: int) -> str:
    del longest
    given = [item for item in value if item[0] is not codes.NEGATE]
    if len(given) != len(value):
        return "Z" if last else "a"
    code, of = given[-1 if last else 0]
    if code is codes.RANGE:
        return chr(of[1 if last else 0])
    return chr(of) if code is codes.LITERAL else "_" if of is codes.CATEGORY_WORD else "7"


_WRITE: dict[Any, Any] = {
    codes.LITERAL: lambda value, longest, last: chr(value),
    codes.NOT_LITERAL: lambda value, longest, last: "Z",
    codes.ANY: lambda value, longest, last: "~",
    codes.IN: _one_of,
    codes.MAX_REPEAT: _repeat,
    codes.BRANCH: lambda value, longest, last: _written(
        value[1][-1 if last else 0], longest=longest, last=last
    ),
    codes.SUBPATTERN: lambda value, longest, last: _written(value[3], longest=longest, last=last),
    codes.AT: lambda value, longest, last: "",
    codes.ASSERT: lambda value, longest, last: "",
    codes.ASSERT_NOT: lambda value, longest, last: "",
}
