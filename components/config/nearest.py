"""The allowed value that a wrong value was probably meant to be."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence

from trainyard.components.look_alikes import plain_characters


def nearest(found: object, choices: Sequence[str]) -> str | None:
    """Return the allowed value that is meant, by number, then by letters, then by spelling."""
    return next(nearest_of(found, choices), None)


def nearest_of(found: object, choices: Sequence[str]) -> Iterator[str]:
    """Yield the allowed value that is meant, if that is clear."""
    numbers = [int(each) for each in choices if re.fullmatch(r"-?\d+", each)]
    if numbers and len(numbers) == len(choices):
        yield from _of_numbers(found, numbers)
        return
    text = plain_characters(str(found)).strip()
    same = {_letters(each): each for each in choices}
    if _letters(text) in same:
        yield same[_letters(text)]
        return
    close = difflib.get_close_matches(_letters(text), list(same), n=1, cutoff=0.6)
    yield from (same[each] for each in close)


def _of_numbers(found: object, numbers: Iterable[int]) -> Iterator[str]:
    digits = re.search(r"-?\d+", str(found))
    if digits and not isinstance(found, bool):
        wanted = int(digits[0])
        # Of two that are equally near, the larger one.
        yield str(min(numbers, key=lambda each: (abs(each - wanted), -each)))


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())
