"""Reading a resource's properties when some of them are not known yet.

The SDK ends a rule at the first unknown value that it touches, for every resource of a stack
rule. Here an unknown value is an answer like any other: the rule goes on with what it can tell,
and what it could not tell is said at the end.

A program may spell a property otherwise than its schema has it: a number as text, a list of one
without its list or the other way round. It is read as what it means. What means nothing in its
place, such as a mapping where a number belongs, counts as missing: the provider refuses it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pulumi_policy.proxy import UnknownValueError


class Unknown:
    """The answer for a value that only exists once resources are made."""

    def __repr__(self) -> str:
        return "a value that is not known yet"


UNKNOWN: Final = Unknown()


@dataclass(frozen=True, slots=True)
class Nested:
    """The answer for a list or a mapping: whether there is anything in it, and what equals it.

    What is in it has a path of its own. It may stand in a set, as a text may: a rule that looks
    for a text in a set does not find it there.
    """

    content: Mapping[str, Any] | Sequence[Any]

    def __bool__(self) -> bool:
        """Whether anything is in it."""
        return len(self.content) > 0

    def __hash__(self) -> int:
        """Return the same number for what may be equal."""
        return len(self.content)


class Facts:
    """The properties of one resource.

    Values come back as the SDK gives them: numbers are floats. A missing property is None, an
    unknown one is `UNKNOWN`, lists and maps are `Nested`, but for a list of one text or number.

    Args:
        name: of the resource.
        props: as the SDK gives them: inputs in a rule on one resource, outputs in one on a stack.
        given_later: properties that depend on other resources; None if everything is an input.
            A stack rule sees outputs, and one that is unknown and depends on nothing was not
            given by the program: AWS fills it in (the zones of an Auto Scaling group, the inline
            rules of a security group), so it counts as missing.
    """

    def __init__(
        self, name: str, props: Mapping[str, Any], given_later: Collection[str] | None = None
    ) -> None:
        self.name = name
        self._props = props
        self._given_later = given_later
        self._undecided: UnknownValueError | None = None

    def get(self, *path: str | int) -> Any:
        """Return the value at a path; a step into something missing is missing too."""
        value = self._look(path)
        return UNKNOWN if isinstance(value, UnknownValueError) else _answer(value)

    def number(self, *path: str | int) -> Any:
        """Return the number at a path, also one spelled as text; what is none is missing."""
        return number_of(self.get(*path))

    def needed(self, *path: str | int) -> Any:
        """Return the value at a path; if it is unknown, the rule says that it could not tell."""
        value = self._look(path)
        if not isinstance(value, UnknownValueError):
            return _answer(value)
        self._undecided = UnknownValueError(value.unknown_type_sentinel, [self.name, *value.props])
        return UNKNOWN

    def _look(self, path: tuple[str | int, ...]) -> Any:
        value: Any = self._props
        for step in path:
            try:
                value = _step(value, step)
            except UnknownValueError as unknown:
                filled_in = self._given_later is not None and path[0] not in self._given_later
                return None if filled_in else unknown
            except (KeyError, IndexError, TypeError):
                return None
        return value

    def first(self, *paths: tuple[str | int, ...]) -> Any:
        """Return the first value that is there, known or unknown."""
        return next((value for path in paths if is_set(value := self.get(*path))), None)

    def count(self, *path: str | int) -> int:
        """Return the length of a list; 0 where there is none, or where it is not known yet.

        What stands there without a list is one item.
        """
        if self.needed(*path) is UNKNOWN:
            return 0
        value = self._look(path)
        return len(value) if _is_list(value) else int(is_set(_answer(value)))

    def values(self, *path: str | int) -> list[Any]:
        """Return the items of a list, `UNKNOWN` for one that is not known yet; empty without it."""
        return [self.needed(*path, index) for index in range(self.count(*path))]

    def say_what_is_undecided(self) -> None:
        """End the rule, with all that it reported, by naming the value that it lacked.

        Raises:
            UnknownValueError: `needed` met an unknown; the SDK makes it an advisory.
        """
        if self._undecided is not None:
            raise self._undecided


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _step(value: Any, step: str | int) -> Any:
    """Return what is one step further; into a list of one, its list may be left out."""
    if isinstance(step, int) and not _is_list(value):
        return value if step == 0 else None
    if isinstance(step, int):
        return value[step]
    return value[0][step] if _is_list(value) and len(value) == 1 else value[step]


def _answer(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Nested(value)
    if not _is_list(value):
        return value
    try:
        alone = value[0] if len(value) == 1 else None
    except UnknownValueError:
        return Nested(value)
    return alone if isinstance(alone, str | int | float) else Nested(value)


def is_set(value: Any) -> bool:
    """Whether a property is given: known and not empty, or to be known later."""
    return value is UNKNOWN or bool(value)


def is_true(value: Any) -> bool:
    """Whether a boolean is on; launch templates spell it as the word `true`."""
    return value is True or (isinstance(value, str) and value.lower() == "true")


_LONGEST_NUMBER = 32
"""Characters of a number that is spelled as text: more than any size or count of AWS has."""


def number_of(value: Any) -> Any:
    """Return a number, also of a text; `UNKNOWN` stays, and what is no number is None."""
    if value is UNKNOWN or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    if not isinstance(value, str) or len(value) > _LONGEST_NUMBER:
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def whole_number(value: Any) -> int | None:
    """Return a number without its fraction; None where there is none, or none that is known."""
    number = number_of(value)
    return None if number is None or number is UNKNOWN else int(number)
