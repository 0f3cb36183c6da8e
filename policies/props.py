"""Reading a resource's properties when some of them are not known yet.

The SDK ends a rule at the first unknown value that it touches, for every resource of a stack
rule. Here an unknown value is an answer like any other: the rule goes on with what it can tell,
and what it could not tell is said at the end.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from pulumi_policy.proxy import UnknownValueError


class Unknown:
    """The answer for a value that only exists once resources are made."""

    def __repr__(self) -> str:
        return "a value that is not known yet"


UNKNOWN: Final = Unknown()


class Facts:
    """The properties of one resource.

    Values come back as the SDK gives them: numbers are floats, lists and maps are proxies.
    A missing property is None, an unknown one is `UNKNOWN`.

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
        return UNKNOWN if isinstance(value, UnknownValueError) else value

    def needed(self, *path: str | int) -> Any:
        """Return the value at a path; if it is unknown, the rule says that it could not tell."""
        value = self._look(path)
        if not isinstance(value, UnknownValueError):
            return value
        self._undecided = UnknownValueError(value.unknown_type_sentinel, [self.name, *value.props])
        return UNKNOWN

    def _look(self, path: tuple[str | int, ...]) -> Any:
        value: Any = self._props
        for step in path:
            try:
                value = value[step]
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
        """Return the length of a list; 0 where there is none, or where it is not known yet."""
        value = self.needed(*path)
        return 0 if value is None or value is UNKNOWN else len(value)

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


def is_set(value: Any) -> bool:
    """Whether a property is given: known and not empty, or to be known later."""
    return value is UNKNOWN or value not in (None, "", False)


def is_true(value: Any) -> bool:
    """Whether a boolean is on; launch templates spell it as the word `true`."""
    return value is True or (isinstance(value, str) and value.lower() == "true")
