"""Values that YAML reads as something other than the text in the stack file.

Without quotes, `010` is the number 8, `1.30` is 1.3, `True` is true, and `2026-12-01` is a time. In
a field of text, such as a tag, the value would be another one than what was written.

Source: https://github.com/go-yaml/yaml/blob/v3.0.1/resolve.go, the decoder of the Pulumi engine
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from trainyard.components.config.problems import Problem, show

# `time.Time.String` of Go, which is how Pulumi hands on a time:
# https://pkg.go.dev/time#Time.String
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? [+-]\d{4} \S+", re.ASCII)
_Location = tuple[str | int, ...]


def misread(raw: Any, written: tuple[Any, Any] | None) -> list[Problem]:
    """Return a problem for each text that YAML reads as another value.

    Args:
        raw: The configuration.
        written: The configuration in the stack file, and the same with every scalar as the text
            in the file; None if only `raw` is known.
    """
    read, texts = written or (raw, None)
    return [found for each in _changed(read, texts, ()) if (found := _explain(raw, *each))]


_Changed = Iterator[tuple[_Location, Any, str | None]]
"""Location, value and text of scalars."""


def _changed(value: Any, text: Any, at: _Location) -> _Changed:
    """Yield the scalars that YAML changed; the text is None if it is not known."""
    if isinstance(value, Mapping):
        yield from _in_mapping(cast("Mapping[Any, Any]", value), text, at)
    elif isinstance(value, list):
        entries = cast("list[Any]", value)
        for index, (entry, inner) in enumerate(
            zip(entries, _same_size(text, entries), strict=True)
        ):
            yield from _changed(entry, inner, (*at, index))
    elif isinstance(value, str):
        if _TIME.fullmatch(value):
            yield at, value, text if text != value else None
    elif value is not None and isinstance(text, str) and text != _plain(value):
        yield at, value, text


def _in_mapping(entries: Mapping[Any, Any], texts: Any, at: _Location) -> _Changed:
    keys = list(entries)
    for key, written in zip(keys, _same_size(texts, keys), strict=True):
        if written is not None and written != _plain(key):
            yield (*at, "[key]"), key, written
        inner = None if written is None else texts[written]
        yield from _changed(entries[key], inner, (*at, _plain(key)))


def _same_size(texts: Any, entries: Sequence[Any]) -> list[Any]:
    """Return the texts of entries; nothing is known of a mapping that is made with a merge key."""
    known = isinstance(texts, list | Mapping) and len(cast("Any", texts)) == len(entries)
    return list(cast("Any", texts)) if known else [None] * len(entries)


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _explain(raw: Any, at: _Location, value: Any, text: str | None) -> Problem | None:
    # Only a file with such a value needs the models of every architecture.
    from trainyard.components.config.given_stack import GivenStack
    from trainyard.components.config.keys import path_of, place_at

    is_key = at[-1:] == ("[key]",)
    place = None if is_key else place_at(GivenStack, raw, at)
    if not is_key and (place is None or not place.is_text):
        return None
    quoted = f'"{text}"' if text is not None else "the text"
    return Problem(
        path=path_of((*at[:-1], _plain(value)) if is_key else at),
        problem=(
            f"{'is a key' if is_key else 'must be text'}; without quotes, YAML reads it as "
            f"{_kind(value)} {show(value)}"
        ),
        found=text if text is not None else value,
        allowed="text in quotes",
        remedy=f"write it in quotes in the stack file: {quoted}",
    )


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "the boolean"
    return "the time" if isinstance(value, str) else "the number"
