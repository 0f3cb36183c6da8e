"""Write all documents that are generated from the configuration: `python -m tools.schema`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trainyard.components.config.given_stack import GivenStack
from trainyard.components.config.problems import ROOT

_HEAD = """# Configuration

All keys of `trainyard:cluster` in a stack file. `python -m tools.schema` generates this page from
the models in `components/config`; editors show the same texts through
[`schema/stack.schema.json`](schema/stack.schema.json).

Set a value with `./trainyard pulumi config set --stack STACK --path KEY VALUE`, where KEY is for
example `trainyard:cluster.network.vpc_id`, or edit the stack file. Other keys are refused.
"""


def reference() -> str:
    """Return the page: one section per model, in the order in which the root refers to them."""
    schema = GivenStack.model_json_schema(ref_template="{model}")
    definitions: dict[str, Any] = schema.pop("$defs")
    sections = [_section("StackConfig", schema)]
    sections += [_section(name, definitions[name]) for name in _reached(schema, definitions)]
    return "\n".join([_HEAD, *sections])


def _reached(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> list[str]:
    order: list[str] = []
    for name in _references(schema):
        if name not in order:
            order.append(name)
            order += [n for n in _reached(definitions[name], definitions) if n not in order]
    return order


def _references(schema: object) -> Iterator[str]:
    if isinstance(schema, Mapping):
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield reference
        for key, value in schema.items():
            # The discriminator repeats the members of its union.
            if key != "discriminator":
                yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)


def _section(name: str, schema: Mapping[str, Any]) -> str:
    required = set(schema.get("required", []))
    lines = [f"## {name}", "", _prose(schema.get("description", "")), ""]
    lines += ["| Key | Value | Default | Meaning |", "|---|---|---|---|"]
    for key, field in schema["properties"].items():
        default = "required" if key in required else _default(field)
        meaning = _prose(field.get("description", ""))
        lines.append(f"| `{key}` | {_cell(_type(field))} | {_cell(default)} | {_cell(meaning)} |")
    return "\n".join([*lines, ""])


def _prose(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _default(field: Mapping[str, Any]) -> str:
    default = field.get("default")
    if default is None or default in ([], {}):
        return ""
    if isinstance(default, Mapping):
        return "see there"
    if isinstance(default, list):
        return ", ".join(f"`{value}`" for value in default)
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def _type(field: Mapping[str, Any]) -> str:
    """Return a short description of a field's values; models link to their section."""
    if "$ref" in field:
        name = field["$ref"]
        return f"[{name}](#{name.lower()})"
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    for union in ("anyOf", "oneOf"):
        if union in field:
            return " or ".join(_type(f) for f in field[union] if f.get("type") != "null")
    kind = field.get("type")
    if kind == "array":
        return f"list of {_type(field['items'])}"
    if kind == "object":
        # If keys have a pattern, the schema has `patternProperties` instead.
        values = field.get("additionalProperties") or next(
            iter(field["patternProperties"].values())
        )
        return f"by name: {_type(values)}"
    return _scalar(field, str(kind))


def _scalar(field: Mapping[str, Any], kind: str) -> str:
    if kind == "boolean":
        return "true or false"
    if kind in ("integer", "number"):
        low, high = field.get("minimum"), field.get("maximum")
        above = field.get("exclusiveMinimum")
        bounds = [f"from {low}"] if low is not None else []
        bounds += [f"above {above}"] if above is not None else []
        bounds += [f"to {high}"] if high is not None else []
        return " ".join(["number", *bounds])
    if field.get("format") == "date-time":
        return "time"
    examples = field.get("examples")
    return f"such as `{examples[0]}`" if examples else "text"


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


# Write all generated documents: `python -m tools.schema`.
#
# `--check` writes nothing; the exit code is 1 if a document is out of date.


_REPOSITORY = Path(__file__).parents[1]


def main(arguments: list[str]) -> int:
    """Write or check the documents; return the exit code."""
    stale = [
        path
        for path, content in documents().items()
        if not (_REPOSITORY / path).exists()
        or (_REPOSITORY / path).read_text(encoding="utf-8") != content
    ]
    if "--check" in arguments:
        for path in stale:
            sys.stderr.write(f"{path} is out of date; run python -m tools.schema\n")
        return 1 if stale else 0
    for path in stale:
        (_REPOSITORY / path).parent.mkdir(parents=True, exist_ok=True)
        (_REPOSITORY / path).write_text(documents()[path], encoding="utf-8")
        sys.stdout.write(f"wrote {path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
