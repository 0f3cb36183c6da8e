"""Generate `keys.txt` from the resource schemas of CloudFormation.

Unpack `CloudformationSchema.zip` of a region, whose address is in
https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-schemas.html, and run
`python -m trainyard.importing.cloudformation.generate DIRECTORY`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trainyard.importing.cloudformation.fates import TYPES

DATA_FILE = Path(__file__).with_name("keys.txt")

_SCALARS = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean"}
_TEMPLATE = {
    "AWSTemplateFormatVersion": "text",
    "Description": "text",
    "Metadata": "map",
    "Parameters": "section",
    "Parameters.*": "section",
    "Parameters.*.Type": "text",
    "Parameters.*.Default": "any",
    "Parameters.*.Description": "text",
    "Parameters.*.AllowedValues": "list",
    "Parameters.*.AllowedPattern": "text",
    "Parameters.*.ConstraintDescription": "text",
    "Parameters.*.MinLength": "integer",
    "Parameters.*.MaxLength": "integer",
    "Parameters.*.MinValue": "number",
    "Parameters.*.MaxValue": "number",
    "Parameters.*.NoEcho": "boolean",
    "Rules": "map",
    "Mappings": "map",
    "Conditions": "map",
    "Transform": "any",
    "Globals": "map",
    "Hooks": "map",
    "Outputs": "section",
    "Outputs.*": "section",
    "Outputs.*.Value": "any",
    "Outputs.*.Description": "any",
    "Outputs.*.Condition": "text",
    "Outputs.*.Export": "section",
    "Outputs.*.Export.Name": "any",
    "Resources": "section",
}
"""Sections of a template, https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/
template-anatomy.html, and the attributes of parameters, parameters-section-structure.html.
`Globals` is of the transform AWS::Serverless."""
_ATTRIBUTES = {
    "Type": "text",
    "Condition": "text",
    "CreationPolicy": "map",
    "DeletionPolicy": "text",
    "DependsOn": "any",
    "Metadata": "map",
    "UpdatePolicy": "map",
    "UpdateReplacePolicy": "text",
}
"""https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/
aws-product-attribute-reference.html"""
_OF_CUSTOM = {"Version": "text"}
"""Attribute of custom resources (`valid_custom_attributes` in
`rules/resources/Configuration.py` of cfn-lint)."""


def table(schemas: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the data file: one key a line, with its kind.

    Args:
        schemas: Schema by resource type.
    """
    rows = dict(_TEMPLATE)
    for name in ("*", *sorted(schemas)):
        rows[f"Resources.{name}"] = "section"
        attributes = {**_ATTRIBUTES, **(_OF_CUSTOM if name == "*" else {})}
        rows |= {f"Resources.{name}.{key}": kind for key, kind in attributes.items()}
        rows[f"Resources.{name}.Properties"] = "map" if name == "*" else "section"
        if name != "*":
            rows |= dict(_keys(f"Resources.{name}.Properties", schemas[name], schemas[name], ()))
    lines = ["# Keys of CloudFormation templates; `*` is a name that the user chooses."]
    return "".join(f"{line}\n" for line in [*lines, *(f"{key} {rows[key]}" for key in rows)])


def read_schemas(directory: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return the schemas of the resource types that conversions read, from AWS's files."""
    files = {name: directory / f"{name.lower().replace('::', '-')}.json" for name in TYPES}
    return {name: json.loads(path.read_text(encoding="utf-8")) for name, path in files.items()}


def _keys(
    at: str, section: Mapping[str, Any], schema: Mapping[str, Any], parents: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    """Yield the path and the kind of every key below a section."""
    answers = {each.rpartition("/")[2] for each in schema.get("readOnlyProperties", ())}
    for key, given in section.get("properties", {}).items():
        if not parents and key in answers:
            continue
        reference = given.get("$ref", given.get("items", {}).get("$ref", ""))
        kind, below = _kind(given, schema)
        path = f"{at}.{key}"
        if reference and reference in parents:
            kind, below = "any", {}  # a section in itself
        yield path, kind
        if kind in ("section", "sections"):
            yield from _keys(path, below, schema, (*parents, reference or path))


def _kind(given: Mapping[str, Any], schema: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    given = _followed(given, schema)
    kind = given.get("type", "object" if "properties" in given else "any")
    if kind == "array":
        items = _followed(given.get("items", {}), schema)
        of_items, below = _kind(items, schema)
        lists = {"section": "sections", "map": "maps", "any": "anys"}
        return lists.get(of_items, "list"), below
    if kind == "object":
        return ("section", given) if given.get("properties") else ("map", {})
    return _SCALARS.get(kind, "any") if isinstance(kind, str) else "any", {}


def _followed(given: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = given.get("$ref")
    return schema["definitions"][reference.rpartition("/")[2]] if reference else given


if __name__ == "__main__":
    DATA_FILE.write_text(table(read_schemas(Path(sys.argv[1]))), encoding="utf-8")
