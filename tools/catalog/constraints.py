"""Generate `components/catalog/data/parameter_constraints.json`.

Run `python -m tools.catalog.constraints` after an update of botocore, which has the model of every
AWS API. `parameters.yaml` in this directory links the fields of stack files to the parameters of
AWS APIs that they become. The generated file has the constraints of these parameters, so that a
review shows which ones a new version of botocore changes. `tests/contract/test_constraints.py`
compares the fields with them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import botocore
import botocore.session
import yaml
from botocore.exceptions import UnknownServiceError
from botocore.model import OperationNotFoundError

LINKS_FILE = Path(__file__).with_name("parameters.yaml")
DATA_FILE = (
    Path(__file__).parents[2] / "components" / "catalog" / "data" / "parameter_constraints.json"
)

_KEPT = ("min", "max", "pattern", "enum")
"""Traits of a shape that constrain its values."""


class LinkError(Exception):
    """`parameters.yaml` names a parameter that botocore does not have; the message names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What a field of a stack file becomes in AWS APIs."""

    parameters: tuple[str, ...] = ()
    """Names, as `parameters.yaml` explains."""
    form: str = "{}"
    """The value of the parameter, with `{}` for the value of the field."""
    values: tuple[str, ...] = ()
    """Objects, as `module:NAME`, with the numbers that a validator of the model allows."""
    mapped: str = ""
    """Mapping, as `module:NAME`, from values of the field to values of the parameter."""
    narrower: str = ""
    """Why the field refuses values that the parameter accepts; empty if it accepts all."""
    stricter_in: str = ""
    """Function, as `module:name`, of the plan that refuses what the field accepts, and the
    parameter does not."""
    none: str = ""
    """Why the field becomes no parameter, or one without constraints."""
    source: str = ""
    """Address of the rule that `narrower` or `none` states."""


@cache
def links() -> Mapping[str, Link]:
    """Return the links of `parameters.yaml`, by the name of a type or a field."""
    content = _content()
    rows = {**content["types"], **content["fields"]}
    named = {name: _link(given) for name, given in rows.items()}
    for group in content["none"]:
        link = Link(none=group["reason"], source=group.get("source", ""))
        named |= dict.fromkeys(group["fields"], link)
    return named


@cache
def _content() -> Any:
    return yaml.safe_load(LINKS_FILE.read_text(encoding="utf-8"))


def _link(given: Mapping[str, Any]) -> Link:
    lists = {key: tuple(given[key]) for key in ("parameters", "values") if key in given}
    return Link(**{**given, **lists})


def linked_parameters() -> list[str]:
    """Return the names of all linked parameters, sorted."""
    linked = {name for link in links().values() for name in link.parameters}
    return sorted(linked.union(_content()["composed"]))


def constraints(parameter: str) -> dict[str, Any]:
    """Return the type and the constraints of a parameter.

    Raises:
        LinkError: botocore does not have it.
    """
    shape = _shape(parameter)
    traits: Mapping[str, Any] = shape.metadata
    kept = {trait: traits[trait] for trait in _KEPT if trait in traits}
    return {"type": shape.type_name, **kept}


def _shape(parameter: str) -> Any:
    answered = ":" in parameter
    service, operation, path = re.split(r"[.:]", parameter, maxsplit=2)
    try:
        model = _service(service).operation_model(operation)
        shape = model.output_shape if answered else model.input_shape
        for part in re.findall(r"\w+|\[\]|\{\w+\}", path):
            shape = _member(shape, part)
    except (UnknownServiceError, OperationNotFoundError, KeyError, AttributeError) as error:
        raise LinkError(f"botocore {botocore.__version__} has no parameter {parameter}") from error
    return shape


def _member(shape: Any, part: str) -> Any:
    if part == "[]":
        return shape.member
    if part in ("{key}", "{value}"):
        return shape.key if part == "{key}" else shape.value
    return shape.members[part]


@cache
def _service(name: str) -> Any:
    return botocore.session.get_session().get_service_model(name)


def render(parameters: Iterable[str]) -> str:
    """Return the data file with one line per constraint, so that diffs show what changed."""
    content = {
        "source": f"API models of botocore {botocore.__version__}",
        "parameters": {name: constraints(name) for name in parameters},
    }
    return json.dumps(content, indent=2) + "\n"


def generate() -> str:
    """Return the content of the data file, from the installed botocore."""
    return render(linked_parameters())


if __name__ == "__main__":
    DATA_FILE.write_text(generate(), encoding="utf-8")
