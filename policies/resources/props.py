"""Properties of a resource, some of which are unknown in a preview or are JSON documents.

The SDK stops a rule at the first unknown value that it reads, for all resources of a stack rule.
`Facts` returns `UNKNOWN` instead. The rule continues with the other values, and reports at the end
which value was missing.

A program may write a property in another form than its schema: a number as a string, or a single
item instead of a list or the other way round. `Facts` accepts these forms. A value of a wrong type,
such as a mapping instead of a number, counts as missing, because the provider rejects it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pulumi_policy.proxy import UnknownValueError


class Unknown:
    """The result for a value that does not exist until resources are created."""

    def __repr__(self) -> str:
        return "a value that is not known yet"


UNKNOWN: Final = Unknown()


@dataclass(frozen=True, slots=True)
class Nested:
    """The result for a list or a mapping, which shows only whether it is empty.

    Its items have their own paths. It is hashable, so that rules can collect results in a set.
    """

    content: Mapping[str, Any] | Sequence[Any]

    def __bool__(self) -> bool:
        """Whether it is not empty."""
        return len(self.content) > 0

    def __hash__(self) -> int:
        """Return the same number for equal contents."""
        return len(self.content)


class Facts:
    """The properties of one resource.

    Numbers are floats, as in the SDK. A missing property is None, an unknown one is `UNKNOWN`.
    Lists and maps are `Nested`, except for a list of one string or number, which is that value.

    Args:
        name: name of the resource.
        props: properties from the SDK: inputs in a resource rule, outputs in a stack rule.
        given_later: properties that depend on other resources; None for inputs. An unknown output
            that depends on no resource was not set by the program. AWS computes it (the zones of
            an Auto Scaling group, the inline rules of a security group), so it counts as missing.
    """

    def __init__(
        self, name: str, props: Mapping[str, Any], given_later: Collection[str] | None = None
    ) -> None:
        self.name = name
        self._props = props
        self._given_later = given_later
        self._undecided: UnknownValueError | None = None

    def get(self, *path: str | int) -> Any:
        """Return the value at a path; None if any step of it is missing."""
        value = self._look(path)
        return UNKNOWN if isinstance(value, UnknownValueError) else _answer(value)

    def number(self, *path: str | int) -> Any:
        """Return the number at a path, also from a string; None if it is not a number."""
        return number_of(self.get(*path))

    def needed(self, *path: str | int) -> Any:
        """Return the value at a path; if it is unknown, the rule reports that at its end."""
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
        """Return the first value that is set, known or unknown."""
        return next((value for path in paths if is_set(value := self.get(*path))), None)

    def count(self, *path: str | int) -> int:
        """Return the length of a list; 0 if it is missing or unknown, 1 for a single item."""
        if self.needed(*path) is UNKNOWN:
            return 0
        value = self._look(path)
        return len(value) if _is_list(value) else int(is_set(_answer(value)))

    def values(self, *path: str | int) -> list[Any]:
        """Return the items of a list, with `UNKNOWN` for unknown items; empty if it is missing."""
        return [self.needed(*path, index) for index in range(self.count(*path))]

    def say_what_is_undecided(self) -> None:
        """Report the unknown value that the rule needed, after its other messages.

        Raises:
            UnknownValueError: `needed` met an unknown value; the SDK reports an advisory.
        """
        if self._undecided is not None:
            raise self._undecided


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _step(value: Any, step: str | int) -> Any:
    """Return the value one step further; a step into a list of one item may omit the index."""
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
    """Whether a property is set: unknown, or known and not empty."""
    return value is UNKNOWN or bool(value)


def is_true(value: Any) -> bool:
    """Whether a boolean is true; launch templates write it as the string `true`."""
    return value is True or (isinstance(value, str) and value.lower() == "true")


_LONGEST_NUMBER = 32
"""Characters of a number in a string; sizes and counts of AWS are shorter."""


def number_of(value: Any) -> Any:
    """Return a number, also from a string; `UNKNOWN` for an unknown value, otherwise None."""
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
    """Return a number without its fraction; None if it is missing or unknown."""
    number = number_of(value)
    return None if number is None or number is UNKNOWN else int(number)


def parsed(text: object) -> Any:
    """Return a JSON document, or None if the value is not a string or not JSON."""
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def parsed_members(text: object) -> Mapping[str, Any]:
    """Return a JSON object whose keys start in lower case; empty if there is none.

    The AWS provider ignores case in documents of AWS Batch. Programs use the form of the API
    (`numNodes`) or that of CloudFormation (`NumNodes`).
    """
    document = _lower(parsed(text))
    return document if isinstance(document, dict) else {}


def members(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object in a document; empty if there is none."""
    section = document.get(name)
    return section if isinstance(section, dict) else {}


def entries(document: Mapping[str, Any], name: str) -> list[Any]:
    """Return the entries of a list in a document; a single value counts as a list of one."""
    found = document.get(name)
    if found is None:
        return []
    return found if isinstance(found, list) else [found]


def objects(document: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the objects of a list in a document; a single object counts as a list of one."""
    return [each for each in entries(document, name) if isinstance(each, dict)]


def texts(document: Mapping[str, Any], name: str) -> list[str]:
    """Return the strings of a list in a document; a single string counts as a list of one."""
    return [each for each in entries(document, name) if isinstance(each, str)]


def _lower(document: Any) -> Any:
    if isinstance(document, dict):
        return {key[:1].lower() + key[1:]: _lower(value) for key, value in document.items()}
    return [_lower(item) for item in document] if isinstance(document, list) else document
