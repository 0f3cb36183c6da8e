"""The keys that a template can have: those of its sections and of its resource types."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from typing_extensions import override

from trainyard.importing.cloudformation.functions import IF, function_of
from trainyard.importing.key_table import Keys, KeyTable, ShapeProblem
from trainyard.importing.source import Location, Node, child

_ANY = "*"
_LOOP = "Fn::"


@dataclass(frozen=True)
class TemplateKeys(KeyTable):
    """The keys of templates, in which users choose the names of parameters and resources.

    The table has the type of a resource in the place of its logical id, and `*` for other names.
    """

    @override
    def named(self, keys: Keys, key: str, node: Node) -> str:
        """Return the name that the table has for a key of the section at a path."""
        if keys == ("Resources",):
            kind = child(node, "Type")
            found = "" if kind is None else str(kind.value)
            return found if (*keys, found) in self.kinds else _ANY
        return _ANY if keys in (("Parameters",), ("Outputs",)) else key

    @override
    def value_problems(self, node: Node, at: Location, keys: Keys) -> Iterator[ShapeProblem]:
        """Yield the problems of a value, and of both values of an `If`."""
        function = function_of(node, at)
        if function is None:
            if not str(at[-1]).startswith(_LOOP):
                yield from super().value_problems(node, at, keys)
        elif function.name == IF and isinstance(function.argument.value, list):
            for index, each in enumerate(function.argument.value[1:3], 1):
                yield from self.value_problems(each, (*function.at, index), keys)

    @override
    def element_problems(self, node: Node, at: Location, keys: Keys) -> Iterator[ShapeProblem]:
        """Yield the problems of an element of a list, unless a function makes it."""
        if function_of(node, at) is None:
            yield from super().element_problems(node, at, keys)
