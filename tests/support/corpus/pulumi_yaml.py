"""Programs in Pulumi's YAML language, as a preview shows them to the policy pack.

Outputs of other resources, such as `${efa.id}`, are unknown; their inputs are known. Only the
features that the corpus needs are supported: `type`, `properties`, `options.protect` and
`fn::toJSON`.

Source:
    https://www.pulumi.com/docs/iac/languages-sdks/yaml/yaml-language-reference/
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from tests.support.policy import UNKNOWN, Declared, Program

_REFERENCE = re.compile(r"\$\{([\w-]+)(?:\.(\w+))?\}")
_TO_JSON = "fn::toJSON"


def declared(resources: Mapping[str, Any]) -> Program:
    """Return the `resources` of a program as the engine declares them during a preview."""
    return tuple(_resource(name, made, resources) for name, made in resources.items())


def _resource(name: str, made: Mapping[str, Any], resources: Mapping[str, Any]) -> Declared:
    properties = cast("Mapping[str, Any]", made.get("properties", {}))
    depends = {key: sorted(set(_names(value))) for key, value in properties.items()}
    return Declared(
        type_token(made["type"]),
        name,
        {key: _value(value, resources) for key, value in properties.items()},
        {key: names for key, names in depends.items() if names},
        protect=made.get("options", {}).get("protect", False),
    )


def type_token(written: str) -> str:
    """Return the full token of a type from its short form, such as `aws:ec2:LaunchTemplate`."""
    package, module, name = written.split(":")
    if package != "aws" or "/" in module:
        return written
    return f"{package}:{module}/{name[0].lower()}{name[1:]}:{name}"


def _value(value: Any, resources: Mapping[str, Any]) -> Any:
    if isinstance(value, Mapping):
        whole = cast("Mapping[str, Any]", value)
        if _TO_JSON in whole:
            return _json(_value(whole[_TO_JSON], resources))
        return {key: _value(inner, resources) for key, inner in whole.items()}
    if isinstance(value, list):
        return [_value(inner, resources) for inner in cast("list[Any]", value)]
    if not isinstance(value, str) or not (found := _REFERENCE.search(value)):
        return value
    name, key = found.groups()
    given = resources[name].get("properties", {}).get(key)
    if found.group() == value and given is not None:
        return _value(given, resources)
    return UNKNOWN


def _json(value: Any) -> str:
    text = json.dumps(value)
    # One unknown value makes the whole text unknown.
    return UNKNOWN if UNKNOWN in text else text


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for inner in cast("Mapping[str, Any]", value).values():
            yield from _names(inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _names(inner)
    elif isinstance(value, str):
        yield from (name for name, _ in _REFERENCE.findall(value))
