"""Write all documents that are generated from the configuration: `python -m tools.schema`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trainyard.components.catalog.provider_keys import AWS_KEYS, PROVIDER_KEYS, Support
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
                    **{f"aws:{name}": schema for name, schema in _accepted_keys().items()},
                    ROOT: {"$ref": "#/$defs/StackConfig"},
                },
                "patternProperties": {
                    "^trainyard:(?!cluster$)": False,
                    f"^aws:(?!(?:{'|'.join(_accepted_keys())})$)": False,
                    "^(?:eks|kubernetes):": False,
                },
            },
        },
        "$defs": {**definitions, "StackConfig": cluster},
    }


_TEXTS = {"type": "array", "items": {"type": "string"}}
_FORMS: Mapping[str, Mapping[str, Any]] = {
    "allowedAccountIds": _TEXTS,
    "assumeRoles": {"type": "array", "items": {"type": "object", "required": ["roleArn"]}},
    "endpoints": {"type": "array", "items": {"type": "object"}},
    "forbiddenAccountIds": _TEXTS,
    "profile": {"type": "string"},
    "region": {"type": "string"},
    "stsRegion": {"type": "string"},
}
"""Forms of the keys of the AWS provider that are not scalars of several types."""


def _accepted_keys() -> dict[str, dict[str, Any]]:
    """Return the schema of each key of the AWS provider that can be set, by key."""
    return {
        name: {**_FORMS.get(name, {}), "description": key.meaning}
        if key.support is not Support.REFUSED
        else {"const": key.unless}
        for name, key in AWS_KEYS.items()
        if key.support is not Support.REFUSED or key.unless is not None
    }


_SETTINGS_HEAD = """# Provider settings

Keys of the Pulumi providers in a stack file, beside `trainyard:cluster`. `python -m tools.schema`
generates this page from `components/catalog/provider_keys.py`.

The engine reaches the account with these keys. So do the program, `check --live`, and every command
that reads or changes the account: they use the same credentials, account, region and endpoints. A
key for which that is not possible is refused, before AWS is called, with what to do instead. A key
that no provider has is refused with the nearest one.

```yaml
config:
  aws:region: us-west-2
  aws:profile: team
  aws:assumeRoles:
    - roleArn: arn:aws:iam::123456789012:role/deploys-training
      externalId: team-research
      duration: 1h
  aws:allowedAccountIds: ["123456789012"]
```

- **Roles** are assumed one after the other, the first with the credentials of the profile or of the
  environment. An entry has `roleArn` and, if needed, `sessionName`, `externalId`, `duration` (`15m`
  to `12h`, at most `1h` for the second role and later ones), `policy`, `policyArns`,
  `sourceIdentity`, `tags` and `transitiveTagKeys`, as in
  [AssumeRole](https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html). The caller
  needs `sts:AssumeRole` on the role, and the role has to trust the caller. Commands renew the
  credentials; `ssh` and `ssm` hand the current ones to the program that they start.
- **EKS**: the kubeconfig runs `aws eks get-token` with the role, for which one role without
  `externalId` is possible. Write others as profiles into `~/.aws/config`, with `role_arn`,
  `external_id` and `source_profile`, and set `aws:profile`.
- **Accounts**: without a match, nothing of the account is read and the command ends. `check`
  without `--live`, `lint` and `plan` need no credentials for it. Write the ids in quotes, because
  YAML reads them as numbers.
- **Endpoints** belong to the region of the stack: other regions, as in `capacity search`, have
  those of AWS.
- **In the sandbox** your profile and endpoints are left out, and so are roles and account ids of
  none of its [accounts](sandbox.md#a-second-account).
- Commands without a stack, such as `capacity list`, use the credentials of the environment.
"""


def provider_settings_page() -> str:
    """Return the page about the keys of the providers."""
    parts = [_SETTINGS_HEAD]
    for support, title in _TITLES.items():
        parts += [f"## {title}", "", *_settings_table(support), ""]
    return "\n".join(parts)


_TITLES = {
    Support.HONOURED: "Honoured by every command",
    Support.ENGINE: "For the engine alone",
    Support.REFUSED: "Refused",
}


def _settings_table(support: Support) -> Iterator[str]:
    refused = support is Support.REFUSED
    yield "| Key | Why | Instead |" if refused else "| Key | Meaning |"
    yield "|---|---|---|" if refused else "|---|---|"
    for namespace, keys in PROVIDER_KEYS.items():
        for name, key in keys.items():
            if key.support is support:
                cells = [f"`{namespace}:{name}`", key.meaning, *([key.instead] if refused else [])]
                yield f"| {' | '.join(map(_cell, cells))} |"
    if refused:
        yield "| every key of `eks` | pulumi-eks has no settings | remove it |"


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
        "docs/provider-settings.md": provider_settings_page(),
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
