"""Diffs of the AWS provider, and of the stand-in for Kubernetes, for changed resource inputs."""

from __future__ import annotations

import atexit
import json
import re
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

from pulumi.runtime.proto import provider_pb2

from tests.support import aws_sdk
from tests.support.aws_plugin import aws_plugin
from tests.support.aws_sdk import Declared
from tests.support.provider_plugin import Made, Plugin
from trainyard.sandbox.access import NO_ACCOUNT
from trainyard.sandbox.providers._protocol.values import UNKNOWN
from trainyard.sandbox.providers.kubernetes.checkpoint import INPUTS, identifier_of
from trainyard.sandbox.providers.kubernetes.servicer import KubernetesServicer

_CODE = "__provider"
"""The code of a dynamic provider, which differs by interpreter."""
"""The discard port, which does not answer: diffs depend on schemas, not on the account."""
_ZERO: Mapping[str, Any] = {
    "list": [],
    "map": {},
    "object": None,
    "bool": False,
    "int": 0,
    "float": 0,
}
_SCHEMA_VERSIONS: Mapping[str, int] = {
    "aws:autoscaling/group:Group": 1,
    "aws:batch/computeEnvironment:ComputeEnvironment": 1,
    "aws:batch/jobQueue:JobQueue": 1,
    "aws:ec2/flowLog:FlowLog": 1,
    "aws:ec2/keyPair:KeyPair": 1,
    "aws:ec2/launchTemplate:LaunchTemplate": 1,
    "aws:ec2/securityGroup:SecurityGroup": 1,
    "aws:ec2/securityGroupRule:SecurityGroupRule": 2,
    "aws:ec2/subnet:Subnet": 1,
    "aws:ec2/vpc:Vpc": 1,
    "aws:eks/cluster:Cluster": 1,
    "aws:resourcegroups/resource:Resource": 1,
}
"""State versions other than 0, by type; the provider upgrades older states.

Source: `SchemaVersion` of the resources of terraform-provider-aws 6.34.0.
"""


@dataclass(frozen=True, slots=True)
class ProviderVerdict:
    """The diff of a provider."""

    changed: tuple[str, ...] = ()
    """Paths of the properties that differ."""
    replacing: tuple[str, ...] = ()
    """Those of them that require a replacement."""
    deletes_first: bool = False


@cache
def _aws() -> Plugin:
    running = ExitStack()
    atexit.register(running.close)
    plugin = aws_plugin(NO_ACCOUNT, skipCredentialsValidation=True, skipRequestingAccountId=True)
    return running.enter_context(plugin)


def verdict(
    token: str, name: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> ProviderVerdict:
    """Return the provider's diff for new inputs of an existing object."""
    before, after = (
        {key: _plain(value) for key, value in each.items() if key != _CODE} for each in (old, new)
    )
    if before == after:
        return ProviderVerdict()
    if token.startswith("aws:"):
        return _of_aws(token, json.dumps(before), json.dumps(after))
    if token.startswith("kubernetes:"):
        return _of_kubernetes(token, name, before, after)
    changed = tuple(sorted(k for k in {*before, *after} if before.get(k) != after.get(k)))
    if token.startswith("pulumi-python:dynamic/aws-auth"):
        # Like its `diff`: another role is another entry.
        return ProviderVerdict(changed, tuple(key for key in changed if key == "role_arn"))
    return ProviderVerdict(changed)


def _plain(value: Any) -> Any:
    """Return a value as a provider without support for secrets gets it."""
    if isinstance(value, Mapping):
        if set(value) == {"secret"}:
            return _plain(value["secret"])
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _of_kubernetes(
    token: str, name: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> ProviderVerdict:
    plugin = Plugin(KubernetesServicer(), kubeconfig=UNKNOWN)
    inputs, _ = plugin.check(token, dict(old), name=name)
    made = Made(identifier_of(inputs), inputs, {**inputs, INPUTS: inputs})
    return _said(plugin.difference(token, made, dict(new)), {*old, *new})


@lru_cache(maxsize=4096)
def _of_aws(token: str, old: str, new: str) -> ProviderVerdict:
    before, after = json.loads(old), json.loads(new)
    answer = _aws().difference(token, _made(token, old), after)
    if answer.changes != provider_pb2.DiffResponse.DIFF_SOME:
        return ProviderVerdict()
    return _said(answer, {*before, *after})


def _said(answer: Any, given: Collection[str]) -> ProviderVerdict:
    # The differences include outputs that an update may change.
    paths = sorted(answer.detailedDiff or answer.diffs)
    asked = [path for path in paths if re.split(r"[.\[]", path)[0] in given]
    return ProviderVerdict(
        tuple(asked or paths), tuple(sorted(set(answer.replaces))), answer.deleteBeforeReplace
    )


@lru_cache(maxsize=256)
def _made(token: str, inputs: str) -> Made:
    """Return an object as after its creation, with empty values or 0 for those that AWS sets."""
    checked, failures = _aws().check(token, json.loads(inputs))
    assert not failures, (token, failures)
    declared = aws_sdk.outputs(token)
    foreseen = _aws().foreseen(token, checked)
    outputs = {key: _filled_in(value, declared.get(key)) for key, value in foreseen.items()}
    version = str(_SCHEMA_VERSIONS.get(token, 0))
    meta = {"__meta": json.dumps({"schema_version": version})}
    return Made("it", checked, {**outputs, "id": "it", **meta})


def _filled_in(value: Any, declared: Declared | None) -> Any:
    """Return a planned value as after the creation: without unknown values."""
    fields = {} if declared is None else declared.fields
    if value == UNKNOWN:
        return _ZERO.get("str" if declared is None else declared.kind, "")
    if isinstance(value, dict):
        # In a block, the provider also records unset values.
        set_ = {key: UNKNOWN if item is None else item for key, item in value.items()}
        return {key: _filled_in(item, fields.get(key)) for key, item in set_.items()}
    if isinstance(value, list):
        return [_filled_in(item, declared and replace(declared, kind="object")) for item in value]
    return value
