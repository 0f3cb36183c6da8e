"""The generated documents and their content."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tools.schema.reference import reference
from trainyard.components.config.given_stack import GivenStack
from trainyard.components.config.problems import ROOT


def stack_schema() -> dict[str, Any]:
    """Return the schema of `Pulumi.<stack>.yaml`, including the cluster models.

    Only `kind` is required: tracked stack files omit values that only the user knows, and the
    program reports missing values.
    """
    cluster = _without_required_values(GivenStack.model_json_schema(ref_template="#/$defs/{model}"))
    definitions = cluster.pop("$defs")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "trainyard stack file",
        "type": "object",
        "properties": {
            "config": {
                "type": "object",
                "properties": {
                    "aws:region": {
                        "type": "string",
                        "description": "Region of the stack, such as `us-west-2`.",
                    },
                    ROOT: {"$ref": "#/$defs/StackConfig"},
                },
                "patternProperties": {"^trainyard:(?!cluster$)": False},
            },
        },
        "$defs": {**definitions, "StackConfig": cluster},
    }


def _without_required_values(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_required_values(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    # A property may have the name of the keyword, whose value is a list.
    required = schema.get("required")
    listed = required if isinstance(required, list) else ()
    kept = {
        k: _without_required_values(v)
        for k, v in schema.items()
        if k != "required" or v is not listed
    }
    if "kind" in listed:
        kept["required"] = ["kind"]
    return kept


def stack_schema_text() -> str:
    """Return the schema as file content."""
    return json.dumps(stack_schema(), indent=2) + "\n"


def documents() -> Mapping[str, str]:
    """Return the content of every generated document, by path from the repository root."""
    return {
        "docs/schema/stack.schema.json": stack_schema_text(),
        "docs/config.md": reference(),
    }
