"""Keep secrets out of documents: values of stack files, answers of AWS, objects of Kubernetes.

`hidden` serves every document that leaves this machine, and hides what
`trainyard.components.secret_text` decides: forms, values below names, `{name, value}` entries, and
what follows a flag in a list. `shareable` serves documents that are made to be given to others.
Programs of users are in them, and a secret of a program can have any name and any form:
environment, arguments and commands are left out by path, and only their names are kept.

Sources of the paths:
    https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/ (`Container`,
        `EphemeralContainer`, `Probe`, `LifecycleHandler`; `exec` has `command`, `httpGet` headers)
    https://docs.aws.amazon.com/batch/latest/APIReference/API_JobDetail.html (`container`,
        `ecsProperties`, `eksProperties`, `nodeProperties`, `parameters`)
    https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_ContainerDefinition.html
        (`command`, `entryPoint`, `environment`, `healthCheck`)
    https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_Parameter.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/HeadNode-v3.html (`CustomActions`, `Args`)
    https://kubernetes.io/docs/reference/labels-annotations-taints/ (`last-applied-configuration`)
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from trainyard.components.secret_text import (
    HIDDEN,
    is_secret_name,
    is_secret_value,
    looks_secret,
    without_secrets,
)

LEFT_OUT = "[left out]"
"""The text that replaces a value of a program: it can be a secret, and need not look like one."""

_PAIR_NAMES = ("name", "Name", "key", "Key", "ParameterKey", "parameterKey", "OptionName")
_PAIR_VALUES = (
    *("value", "Value", "values", "Values", "ParameterValue", "parameterValue", "ResolvedValue"),
    *("default", "Default", "DefaultValue", "stringValue", "secureValue"),
)
_OF_REFERENCES = frozenset(
    [
        "name",
        "namespace",
        "key",
        "kind",
        "apiVersion",
        "secretName",
        "valueFrom",
        "items",
        "path",
        "mode",
        "defaultMode",
        "optional",
        "audience",
        "expirationSeconds",
        "type",
        "Type",
        "description",
        "Description",
        "NoEcho",
        "title",
    ]
)
"""Keys below the name of a secret that say where it is, or what it is for."""
_FLAG = re.compile(r"--?[A-Za-z][\w.-]*")
_SHORT_FLAGS = frozenset({"-p", "-a", "-u", "--user", "login"})
"""What precedes a password in some commands."""
_MOST_WORDS = 12
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]{40,}={0,2}\s*")
_ENVIRONMENTS = frozenset({"env", "environment", "Environment", "environmentVariables"})
_ARGUMENTS = frozenset(
    [
        "args",
        "Args",
        "arguments",
        "Arguments",
        "command",
        "Command",
        "entryPoint",
        "EntryPoint",
        "entrypoint",
    ]
)
_PARAMETERS = frozenset({"parameters", "Parameters"})
_OF_JOBS = frozenset({"jobDefinition", "jobDefinitionName", "jobDefinitionArn", "jobId"})
"""Keys beside the parameters of a job of AWS Batch."""
_HEADERS = "httpHeaders"
_LAST_APPLIED = "last-applied-configuration"
_VARIABLE = re.compile(r"[A-Za-z_]\w*")
_SECRET_OBJECT, _DATA = "Secret", ("data", "stringData")


def hidden(value: Any) -> Any:
    """Return a value of a stack file, or a JSON document, without secrets.

    Values below a key such as `password` are hidden whatever they look like.
    """
    if isinstance(value, str):
        return _hidden_text(value, hidden)
    if isinstance(value, Mapping):
        return _mapped(cast("Mapping[Any, Any]", value), _hidden_entry)
    if isinstance(value, list | tuple):
        return _hidden_list(cast("Sequence[Any]", value))
    return value


def hidden_at(key: str, value: Any) -> Any:
    """Return the value of a key such as `password` without secrets."""
    return _below(key, value)


def shareable(value: Any) -> Any:
    """Return a document without secrets, and without what is given to programs."""
    return hidden(_without_programs(value))


def value_in(shared: Any, location: Sequence[str | int]) -> Any:
    """Return what `shareable` has left of the value at a location of a document.

    Args:
        shared: The document without secrets.
        location: Keys and indexes from its root.
    """
    for part in location:
        if isinstance(shared, str):
            return shared  # in place of all that was below
        try:
            shared = shared[part]
        except (KeyError, IndexError):
            return HIDDEN  # the key itself was a secret
    return shared


def _mapped(entries: Mapping[Any, Any], entry: Callable[[Any, Any], Any]) -> dict[Any, Any]:
    name = next((entries[key] for key in _PAIR_NAMES if isinstance(entries.get(key), str)), "")
    secret = is_secret_name(name)
    return {
        _plain_key(key): (
            _below(name, each)
            if key in _PAIR_VALUES and (secret or isinstance(each, str))
            # The name of a pair is not the name of a secret with that text as its value.
            else hidden(each)
            if key in _PAIR_NAMES and isinstance(each, str)
            else entry(key, each)
        )
        for key, each in entries.items()
    }


def _plain_key(key: Any) -> Any:
    return without_secrets(key) if isinstance(key, str) else key


def _hidden_entry(key: Any, value: Any) -> Any:
    if not isinstance(key, str):
        return hidden(value)
    return _below(key, value)


def _below(name: str, value: Any) -> Any:
    """Return what has a name; everything in it is hidden if that is the name of a secret."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str | int | float):
        return HIDDEN if is_secret_value(name, value) else hidden(value)
    if not is_secret_name(name):
        return hidden(value)
    if isinstance(value, Mapping):
        entries = cast("Mapping[Any, Any]", value)
        return {
            _plain_key(key): hidden(each) if key in _OF_REFERENCES else _below(name, each)
            for key, each in entries.items()
        }
    if isinstance(value, list | tuple):
        return [_below(name, each) for each in cast("Sequence[Any]", value)]
    return hidden(value)


def _hidden_list(values: Sequence[Any]) -> list[Any]:
    """Return a list; what follows `--password` is hidden, and so is a password of a command."""
    found: list[Any] = []
    for value in values:
        before = found[-1] if found and isinstance(found[-1], str) else ""
        if isinstance(value, str) and before and not value.startswith("-"):
            value = _argument(found, before, value)
        found.append(hidden(value))
    return found


def _argument(before: Sequence[Any], last: str, value: str) -> str:
    flag = last.lstrip("-") if _FLAG.fullmatch(last) else ""
    if flag and is_secret_value(flag, value):
        return HIDDEN
    if last not in _SHORT_FLAGS:
        return value
    # `["docker", "login", "-p", "…"]` is the text of a command.
    words = " ".join(str(each) for each in before[-_MOST_WORDS:])
    shown = without_secrets(f"{words} {value}")
    return value if shown.endswith(without_secrets(value)) else HIDDEN


def _hidden_text(text: str, walk: Callable[[Any], Any]) -> str:
    """Return a text without secrets; a JSON document in it is walked, and Base64 is decoded."""
    inner = _json_in(text)
    if inner is not None:
        found = walk(inner)
        return text if found == inner else json.dumps(found)
    shown = without_secrets(text)
    return HIDDEN if shown == text and _is_encoded_secret(text) else shown


def _json_in(text: str) -> Any:
    """Return the JSON object or list that a text is; None if it is none."""
    if text.lstrip()[:1] not in {"{", "["}:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_encoded_secret(text: str) -> bool:
    """Return whether a text is Base64 of a text with a secret, such as user data."""
    if not _BASE64.fullmatch(text):
        return False
    try:
        decoded = base64.b64decode(text).decode()
    except (binascii.Error, ValueError):
        return False
    return looks_secret(decoded)


def _without_programs(value: Any) -> Any:
    if isinstance(value, str):
        inner = _json_in(value)
        return value if inner is None else json.dumps(_without_programs(inner))
    if isinstance(value, list | tuple):
        return [_without_programs(each) for each in cast("Sequence[Any]", value)]
    if not isinstance(value, Mapping):
        return value
    entries = cast("Mapping[Any, Any]", value)
    data = _DATA if entries.get("kind") == _SECRET_OBJECT else ()
    given = (*data, *(_PARAMETERS if _OF_JOBS & entries.keys() else ()))
    return {
        key: _left_out(each) if key in given else _without_program(str(key), each)
        for key, each in entries.items()
    }


def _without_program(key: str, value: Any) -> Any:
    if key in _ARGUMENTS or key.endswith(_LAST_APPLIED):
        return LEFT_OUT if value else value
    if key in _ENVIRONMENTS or key == _HEADERS or (key in _PARAMETERS and isinstance(value, list)):
        return _left_out(value)
    return _without_programs(value)


def _left_out(value: Any) -> Any:
    """Return the names of variables or parameters; where values come from is kept too."""
    if isinstance(value, Mapping):
        entries = cast("Mapping[Any, Any]", value)
        return {key: _left_out_at(key, each) for key, each in entries.items()}
    if isinstance(value, list | tuple):
        return [_left_out(each) for each in cast("Sequence[Any]", value)]
    return LEFT_OUT if value else value


def _left_out_at(key: Any, value: Any) -> Any:
    kept = key in _PAIR_NAMES or key in {"valueFrom", "ValueFrom"}
    # `git.head` in the history of updates is no variable.
    if kept or not _VARIABLE.fullmatch(str(key)):
        return _without_programs(value)
    return _left_out(value) if isinstance(value, str | int | float) else _without_programs(value)
