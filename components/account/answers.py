"""Plain records of AWS responses, and checks of their types against the API models."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast

from trainyard.components.plain_text import legible

# Type checks of AWS responses against the API models.
#
# An endpoint, a proxy or an emulator can return anything. After the check, code can rely on the
# types; a missing key that the program needs raises an error that names the call. Times are in UTC:
# botocore converts those that a service sends as numbers, as EKS does, to the zone of this machine
# (`_parse_timestamp_with_tzinfo` in `botocore/utils.py`), so that a day could be another one.
#
# Source: botocore's service models, the machine-readable API references
# (https://github.com/boto/botocore/tree/develop/botocore/data)


_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "character": (str,),
    "integer": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
    "boolean": (bool,),
    "timestamp": (datetime,),
}
"""Python types by shape type."""


_PARSED = frozenset({"TemplateBody", "PolicyDocument", "AssumeRolePolicyDocument"})
"""String members that boto3 returns as parsed JSON."""


_LAST = threading.local()


class AccountUnreachableError(Exception):
    """No credentials, or no answer from AWS; the message says what to do."""

    def __str__(self) -> str:
        """Return the message, which can contain text from AWS."""
        return legible(super().__str__())


class UnexpectedAnswerError(AccountUnreachableError):
    """The response of AWS, or of a proxy or emulator, does not match the API."""

    def __init__(self, call: str, problem: str) -> None:
        super().__init__(
            f"the answer to {call} cannot be used: {problem}; look at what answers in AWS's place "
            "(AWS_ENDPOINT_URL, a proxy), and try again"
        )


class MissingValueError(UnexpectedAnswerError):
    """An object in a response lacks a value that the program needs."""

    def __init__(self, call: str, key: str) -> None:
        self.problem = f"it has no {key}"
        super().__init__(call, self.problem)


class Answer(dict[str, Any]):
    """A part of a response; a missing key raises an error that names the call."""

    __slots__ = ("call",)

    def __init__(self, call: str, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.call = call

    def __missing__(self, key: str) -> Any:
        """Raise an error for the missing key.

        Raises:
            MissingValueError: always.
        """
        raise MissingValueError(self.call, key)


def understood(call: str, value: Any, do: object) -> Any:
    """Return the checked response of a client method, with its mappings as `Answer`.

    Args:
        call: For messages: `ec2:DescribeVpcs`.
        value: What the method returned.
        do: The method; only responses of boto3 methods are checked.

    Raises:
        UnexpectedAnswerError: a value does not have the type in the API.
    """
    _LAST.call = call
    return _checked(call, value, _output_shape(do), call.partition(":")[2])


def last_call() -> str:
    """Return the last call of this thread, for errors while its response is read."""
    return getattr(_LAST, "call", "AWS")


def _output_shape(do: object) -> Any:
    meta = getattr(getattr(do, "__self__", None), "meta", None)
    try:
        name = meta.method_to_api_mapping[getattr(do, "__name__", "")]  # pyright: ignore[reportOptionalMemberAccess]
        return meta.service_model.operation_model(name).output_shape  # pyright: ignore[reportOptionalMemberAccess]
    except (AttributeError, KeyError, TypeError):
        return None


def _checked(call: str, value: Any, shape: Any, path: str) -> Any:
    kind = getattr(shape, "type_name", None)
    if isinstance(value, Mapping):
        if kind not in (None, "structure", "map") and path.rpartition(".")[2] not in _PARSED:
            raise _wrong(call, path, kind)
        return _mapping(call, cast("Mapping[str, Any]", value), shape, path)
    if isinstance(value, list):
        if kind not in (None, "list"):
            raise _wrong(call, path, kind)
        inner = getattr(shape, "member", None)
        entries = enumerate(cast("list[Any]", value))
        return [_checked(call, each, inner, f"{path}[{index}]") for index, each in entries]
    wanted = _TYPES.get(kind or "")
    boolean = isinstance(value, bool) and kind != "boolean"
    if kind in ("structure", "map", "list") or (
        wanted and (boolean or not isinstance(value, wanted))
    ):
        raise _wrong(call, path, kind)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC)
    return value


def _mapping(call: str, value: Mapping[str, Any], shape: Any, path: str) -> Answer:
    members: Mapping[str, Any] = getattr(shape, "members", {})
    entries = getattr(shape, "value", None)
    # Null values are omitted, as in boto3.
    given = {key: inner for key, inner in value.items() if inner is not None}
    return Answer(
        call,
        {
            key: _checked(call, inner, members.get(key, entries), f"{path}.{key}")
            for key, inner in given.items()
        },
    )


def _wrong(call: str, path: str, kind: str | None) -> UnexpectedAnswerError:
    return UnexpectedAnswerError(call, f"{path} is no {kind}")
