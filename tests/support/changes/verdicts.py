"""What the stand-ins of the providers say to other inputs of a resource.

What they know of replacements is compared with the providers' sources in
`tests/sandbox/providers/test_replacements.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pulumi.runtime.proto import provider_pb2

from sandbox.providers._protocol.values import to_struct
from sandbox.providers.aws.registry import RESOURCE_TYPES
from sandbox.providers.aws.servicer import AwsServicer
from sandbox.providers.kubernetes.servicer import KubernetesServicer
from tests.support.provider_plugin import Call, urn

_CODE = "__provider"
"""The code of a dynamic provider, which differs by interpreter."""


@dataclass(frozen=True, slots=True)
class ProviderVerdict:
    """What a provider would do."""

    changed: tuple[str, ...] = ()
    """Properties that differ; empty where nothing does."""
    replacing: tuple[str, ...] = ()
    """Those of them that only a new object can have."""
    deletes_first: bool = False


@cache
def _servicers() -> tuple[Any, Any]:
    return AwsServicer("http://127.0.0.1"), KubernetesServicer()


def verdict(
    token: str, name: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> ProviderVerdict:
    """Return what the provider of a type says to new inputs of an object that exists."""
    before, after = (
        {key: value for key, value in each.items() if key != _CODE} for each in (old, new)
    )
    if before == after:
        return ProviderVerdict()
    aws, kubernetes = _servicers()
    if token in RESOURCE_TYPES:
        defaults = RESOURCE_TYPES[token].defaults
        return _asked(aws, token, name, {**defaults, **before}, {**defaults, **after})
    if token.startswith("kubernetes:"):
        return _asked(kubernetes, token, name, before, after)
    changed = tuple(sorted(k for k in {*before, *after} if before.get(k) != after.get(k)))
    if token.startswith("pulumi-python:dynamic/aws-auth"):
        # As its `diff` says: another role is another entry.
        return ProviderVerdict(changed, tuple(key for key in changed if key == "role_arn"))
    return ProviderVerdict(changed)


def _asked(
    servicer: Any, token: str, name: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> ProviderVerdict:
    request = provider_pb2.DiffRequest(
        id="it", urn=urn(token, name), old_inputs=to_struct(dict(old)), news=to_struct(dict(new))
    )
    answer = servicer.Diff(request, Call())
    return ProviderVerdict(tuple(answer.diffs), tuple(answer.replaces), answer.deleteBeforeReplace)
