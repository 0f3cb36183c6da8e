"""The properties of AWS resources and functions, as the installed pulumi-aws declares them."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pulumi_aws
from pulumi import _types


@dataclass(frozen=True, slots=True)
class Declared:
    """The SDK's declaration of one wire name."""

    kind: str
    """`list`, `map`, `object`, or the name of a scalar type."""
    type: type | None = None
    """The class of the object, or of the items of a list of objects."""
    items_are_lists: bool = False

    @property
    def fields(self) -> Mapping[str, Declared]:
        """Fields of the object, or of the objects of the list, by wire name."""
        return {} if self.type is None else _fields(self.type)


def inputs(token: str) -> Mapping[str, Declared]:
    """Return the input properties of a resource, by wire name."""
    module, name = _class(token)
    # `InitArgs` where a property's type has the other name, such as the attachment of an interface.
    return _fields(getattr(module, f"{name}InitArgs", None) or getattr(module, f"{name}Args"))


def outputs(token: str) -> Mapping[str, Declared]:
    """Return the output properties of a resource, by wire name."""
    module, name = _class(token)
    return _fields(getattr(module, name))


def arguments(token: str) -> Mapping[str, Declared]:
    """Return the arguments of a function, by wire name."""
    module, name = _function(token)
    function = getattr(module, name)
    hints = typing.get_type_hints(function)
    given = re.findall(r"__args__\['(\w+)'\] = (\w+)", inspect.getsource(function))
    return {wire: _declared(hints[parameter]) for wire, parameter in given}


def results(token: str) -> Mapping[str, Declared]:
    """Return the properties of a function's result, by wire name."""
    module, name = _function(token)
    result = "".join(part.capitalize() for part in name.split("_")) + "Result"
    return _fields(getattr(module, result))


@cache
def tokens() -> Mapping[str, tuple[str, str]]:
    """Return the package and the class of every resource type, by token."""
    tree = ast.parse(Path(str(pulumi_aws.__file__)).read_text(encoding="utf-8"))
    registered = next(
        keyword.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "resource_modules" and isinstance(keyword.value, ast.Constant)
    )
    return {
        token: (module["fqn"], name)
        for module in json.loads(str(registered))
        for token, name in module["classes"].items()
    }


def _class(token: str) -> tuple[Any, str]:
    package, name = tokens()[token]
    return _module(package, _snake(name)), name


def _function(token: str) -> tuple[Any, str]:
    _, path, name = token.split(":")
    module = path.partition("/")[0]
    package = "pulumi_aws" if module == "index" else f"pulumi_aws.{module}"
    return _module(package, _snake(name)), _snake(name)


def _module(package: str, name: str) -> Any:
    # A package is loaded lazily. If its first use is the import of one of its modules, the package
    # never gets the definitions of that module.
    getattr(importlib.import_module(package), "__all__", None)
    return importlib.import_module(f"{package}.{name}")


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


@cache
def _fields(of: type) -> Mapping[str, Declared]:
    types = _types.resource_types(of) | _types._types_from_py_properties(of)
    names = {wire for _, wire, _ in _types._py_properties(of)}
    return {wire: _declared(types[wire]) for wire in names}


def _declared(hint: Any) -> Declared:
    hint = _types.unwrap_type(hint)
    if typing.get_origin(hint) is typing.Union:
        # A class of arguments or an equivalent dictionary, or a document: as text, or as an object
        # that the SDK itself writes as text.
        choices = typing.get_args(hint)
        hint = str if str in choices else next(filter(_is_object, choices), hint)
    origin = typing.get_origin(hint)
    if _is_object(hint):
        return Declared("object", hint)
    if origin in (list, typing.get_origin(typing.Sequence[str])):
        item = _declared(typing.get_args(hint)[0])
        return Declared("list", item.type, items_are_lists=item.kind == "list")
    if origin in (dict, typing.get_origin(typing.Mapping[str, str])):
        return Declared("map")
    return Declared(getattr(hint, "__name__", str(hint)))


def _is_object(hint: Any) -> bool:
    return isinstance(hint, type) and (_types.is_input_type(hint) or _types.is_output_type(hint))
