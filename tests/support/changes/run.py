"""Run a plan as a program, in an account with the resources of the unchanged plan."""

from __future__ import annotations

import contextlib
import gc
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest import mock
from zlib import crc32

import pulumi
from pulumi.output import Unknown
from pulumi.runtime import rpc
from pulumi.runtime.mocks import MockResourceArgs

from tests.support import provider_answers
from tests.support.changes.verdicts import verdict
from tests.support.cloud import Cloud, Registered, readable
from trainyard.components.architectures.build import build

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan

SUCCESSOR = "-anew"
"""Suffix of the names and ids of an object that replaces another one."""
Key = tuple[str, str]
"""Type and logical name."""
_CALLS = {
    "aws:ec2/getSubnet:getSubnet": {"availabilityZone": "us-west-2b", "cidrBlock": "10.0.144.0/20"}
}


class ChangedCloud(Cloud):
    """Answers as a cloud in which an earlier program was deployed, with changed outputs."""

    def __init__(self, before: Mapping[Key, Registered] | None = None) -> None:
        super().__init__(_CALLS)
        self.mocks.new_resource = partial(self._new_resource, before or {})
        self.mocks.call = partial(_call, self.mocks.call)

    def _new_resource(
        self, before: Mapping[Key, Registered], args: MockResourceArgs
    ) -> tuple[str, dict[str, Any]]:
        inputs = {key: readable(value) for key, value in args.inputs.items()}
        found = before.get((args.typ, args.name))
        name, newest = args.name, 1
        if found is not None and found.inputs != inputs:
            seen = watched(inputs, found.inputs, found.ignore_changes)
            said = verdict(args.typ, args.name, found.inputs, seen)
            newest = 2 if said.changed else 1
            name += SUCCESSOR if said.replacing else ""
        answers = provider_answers.outputs(args.typ, name, args.inputs)
        if "latestVersion" in answers and not name.endswith(SUCCESSOR):
            answers |= {"latestVersion": newest}
        return identifier(args.typ, name), {**args.inputs, **answers}


def identifier(type_: str, name: str) -> str:
    """Return an id of an object, in the provider's format if the provider validates it."""
    if type_ == "aws:ec2/launchTemplate:LaunchTemplate":
        return f"lt-{crc32(name.encode()):017x}"
    return f"{name}-id"


def _call(plain: Callable[..., Any], args: Any) -> tuple[dict[str, Any], list[Any]]:
    """Return the answer of a call; another image parameter leads to another image."""
    answer, failures = plain(args)
    if args.token == "aws:ssm/getParameter:getParameter":
        answer = {**answer, "value": f"ami-{crc32(args.args['name'].encode()):017x}"}
    return answer, failures


def watched(
    wanted: Mapping[str, Any], before: Mapping[str, Any], ignored: Iterable[str]
) -> Mapping[str, Any]:
    """Return the wanted inputs, with the previous values at ignored paths."""
    for path in ignored:
        wanted = _as_before(wanted, before, path)
    return wanted


def _as_before(wanted: Mapping[str, Any], before: Mapping[str, Any], path: str) -> dict[str, Any]:
    key, _, rest = path.partition(".")
    kept = {name: value for name, value in wanted.items() if name != key}
    inner, was = wanted.get(key), before.get(key)
    if rest and isinstance(inner, Mapping) and isinstance(was, Mapping):
        return kept | {key: _as_before(inner, was, rest)}
    return kept | ({key: was} if key in before else {})


def deployed(plan: AnyPlan, stack: str, before: Mapping[Key, Registered] | None = None) -> Cloud:
    """Return the resources that a plan registers; `before` are those of an earlier plan."""
    return run_program(lambda: build(plan), stack, ChangedCloud(before))


def run_program(program: Callable[[], object], stack: str, cloud: Cloud) -> Cloud:
    """Run a program to its end against a cloud."""
    pulumi.runtime.settings.set_root_resource(None)
    with _quick(), _uncollected(), mock.patch.dict(os.environ, {"PULUMI_CONFIG": json.dumps({})}):
        pulumi.runtime.set_mocks(
            cloud.mocks, project="trainyard", stack=stack, preview=False, monitor=cloud
        )
        pulumi.runtime.settings.SETTINGS.callbacks = cloud.callbacks

        @pulumi.runtime.test
        def run() -> pulumi.Output[None]:
            program()
            return pulumi.Output.from_input(None)

        run()
    return cloud


@contextlib.contextmanager
def _quick() -> Iterator[None]:
    """Skip the SDK's work for previews and for error messages, which takes half of its time.

    An update has no unknown values, so a search for them is not needed.
    """
    with (
        mock.patch.object(rpc, "contains_unknowns", lambda value: isinstance(value, Unknown)),
        mock.patch("pulumi.runtime.resource._get_stack_trace", return_value=None),
        mock.patch("pulumi.runtime.resource._get_source_position", return_value=None),
    ):
        yield


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Collect garbage only between programs; in them it takes a sixth of the time for nothing."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def by_key(cloud: Cloud) -> dict[Key, Registered]:
    """Return the registered resources, without the program's own components."""
    return {(made.type, made.name): made for made in cloud.registered if not made.is_component}
