"""Docstrings of model fields, read from the source on demand.

Only error messages and generated documents need them. Pydantic can read them too
(`use_attribute_docstrings`), but does so at class creation, which takes a third of the time of
`check`:
https://docs.pydantic.dev/latest/api/config/#pydantic.config.ConfigDict.use_attribute_docstrings
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Mapping
from functools import cache
from itertools import pairwise

from pydantic import BaseModel


@cache
def field_docs(model: type[BaseModel]) -> Mapping[str, str]:
    """Return the field docstrings of a model, by field name.

    A field that a subclass redeclares does not inherit the docstring of its base.
    """
    docs: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and base is not BaseModel:
            docs = {
                name: text
                for name, text in docs.items()
                if name not in inspect.get_annotations(base)
            }
            docs |= _classes(base.__module__).get(base.__qualname__, {})
    # Documented class variables and type hints are not fields.
    return {name: text for name, text in docs.items() if name in model.model_fields}


@cache
def _classes(module: str) -> Mapping[str, Mapping[str, str]]:
    """Return the field docstrings of every class of a module, by class name."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {
        statement.name: dict(_documented(statement))
        for statement in tree.body
        if isinstance(statement, ast.ClassDef)
    }


def _documented(definition: ast.ClassDef) -> list[tuple[str, str]]:
    return [
        (field.target.id, inspect.cleandoc(below.value.value))
        for field, below in pairwise(definition.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    ]
