"""What the expressions of a plan refer to.

A plan has no value for what is known after `apply`, but it has the references of the expression:
https://developer.hashicorp.com/terraform/internals/json-format#configuration-representation
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.importing.terraform.blocks import without_keys

Module = tuple[str, ...]
"""Names of the calls that lead to a module, without keys of `count` and `for_each`."""
_ELEMENT = re.compile(r"\[\d+\]\Z")
"""An element of an output, such as the second of the subnets of a module."""
_OF_INSTANCES = ("each", "count")
"""Names whose value differs between instances."""


@dataclass(frozen=True, slots=True)
class Referent:
    """A resource, another name that has no value of its own, or `each` and `count`."""

    module: Module
    name: str
    """Such as `aws_subnet.private[0].id`, `local.subnets` or `each.value`."""

    @property
    def differs(self) -> bool:
        """Whether the value differs between instances, which the plan does not show."""
        return self.name.partition(".")[0] in _OF_INSTANCES


@dataclass(frozen=True, slots=True)
class Configuration:
    """The configuration of a plan; empty for a state."""

    root: Mapping[str, Any]

    def expression(self, module: Module, resource: str, path: Sequence[str | int]) -> Any:
        """Return the expression of an attribute, or None; `dynamic` blocks have none."""
        listed = at(self._module(module), "resources")
        resources = listed if isinstance(listed, list) else ()
        found = next((each for each in resources if at(each, "address") == resource), None)
        return at(found, "expressions", *path)

    def referents(self, module: Module, expression: Any) -> list[Referent]:
        """Return what an expression refers to, through variables and outputs of modules."""
        return list(self._referents(module, expression, set()))

    def is_sensitive(self, variable: str) -> bool:
        """Return whether a variable of the root module is a secret, or is not declared."""
        declared = at(self._module(()), "variables", variable)
        return declared is None or at(declared, "sensitive") is True

    def provider(self, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the values of the provider `aws` without an alias."""
        expressions = at(self.root, "provider_config", "aws", "expressions")
        given = expressions.items() if isinstance(expressions, dict) else ()
        values = {key: _value_of(each, variables) for key, each in given}
        return {key: value for key, value in values.items() if value is not None}

    def _call(self, module: Module) -> Any:
        """Return the call of a module, or None."""
        calls = (part for name in module for part in ("module", "module_calls", name))
        return at({"module": at(self.root, "root_module")}, *calls)

    def _module(self, module: Module) -> Any:
        return at(self._call(module), "module")

    def _referents(
        self, module: Module, expression: Any, seen: set[tuple[Module, str]]
    ) -> Iterator[Referent]:
        last = ""
        for reference in _references(expression):
            implied = last.startswith((f"{reference}.", f"{reference}["))
            if implied or (module, reference) in seen:
                continue
            last = reference
            seen.add((module, reference))
            yield from self._referent(module, reference, seen)

    def _referent(
        self, module: Module, reference: str, seen: set[tuple[Module, str]]
    ) -> Iterator[Referent]:
        kind, *names = without_keys(reference).split(".")
        if kind == "var" and names:
            given = at(self._call(module), "expressions", names[0])
            yield from self._referents(module[:-1], given, seen)
        elif kind == "module" and len(names) > 1:
            inner = (*module, names[0])
            output = at(self._module(inner), "outputs", names[1], "expression")
            found = list(self._referents(inner, output, seen))
            element = _ELEMENT.search(reference)
            if element is not None and len(found) == 1:
                (whole,) = found
                if without_keys(whole.name) == whole.name:
                    found = [Referent(whole.module, f"{whole.name}{element[0]}")]
            yield from found
        else:
            yield Referent(module, reference)


def _value_of(expression: Any, variables: Mapping[str, Any]) -> Any:
    references = _references(expression)
    if len(references) == 1:
        return variables.get(references[0].removeprefix("var."))
    return at(expression, "constant_value")


def _references(expression: Any) -> list[str]:
    listed = at(expression, "references")
    return [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []


def at(value: Any, *path: str | int) -> Any:
    """Return the value at a path, or None."""
    for part in path:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return None
    return value
