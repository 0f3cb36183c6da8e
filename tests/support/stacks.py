"""The stack files of the repository, completed with the ids of the sandbox's account."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pulumi
import yaml

from tests.support.account import ZONES, reservation_facts, subnet_facts
from tests.support.cloud import Cloud, Registered
from tests.support.stack_files import raw_config
from trainyard.components.account.facts import AccountFacts
from trainyard.components.architectures.build import build
from trainyard.components.architectures.prepare import Prepared, prepare
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.catalog.versions import PARALLELCLUSTER_VERSION
from trainyard.components.compute.facts import ImageFacts
from trainyard.components.config.load import load_stack_config
from trainyard.components.network.facts import VpcFacts, ZoneFacts
from trainyard.sandbox.account.fixture import fixture
from trainyard.sandbox.account.images import NEURON, NVIDIA
from trainyard.stack_files.completion import sandbox_completion
from trainyard.stack_files.stack_files import find_stack_file, stack_names

ROOT = Path(__file__).parents[2]
STACKS = stack_names()
_KINDS = {stack: find_stack_file(stack).architecture for stack in STACKS}
EKS_STACKS = [stack for stack in STACKS if _KINDS[stack] == "eks"]
PARALLELCLUSTER_STACKS = [stack for stack in STACKS if _KINDS[stack] == "parallelcluster"]
BATCH_STACKS = [stack for stack in STACKS if _KINDS[stack] == "batch"]
NETWORK_STACKS = [stack for stack in STACKS if _KINDS[stack] == "network"]
NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
"""The time of the goldens; times of the account are relative to it."""


def stack_config(stack: str) -> dict[str, Any]:
    """Return the `config` of a stack file, its `trainyard:cluster` completed, to be changed."""
    return copy.deepcopy(_stack_config(stack))


@cache
def _stack_config(stack: str) -> dict[str, Any]:
    text = (ROOT / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8")
    config = yaml.safe_load(text)["config"]
    ids = sandbox_completion(find_stack_file(stack))
    return config | {"trainyard:cluster": _merged(ids, config["trainyard:cluster"])}


def _merged(base: dict[str, Any], override: dict[str, Any]) -> dict[str, Any]:
    both = {key: value for key, value in override.items() if isinstance(value, dict)}
    return base | override | {key: _merged(base.get(key, {}), both[key]) for key in both}


def prepared(stack: str, *, changes: Mapping[str, Any] | None = None) -> Prepared:
    """Return the plan of a stack file in the sandbox's account at `NOW`.

    `changes` are merged into its `trainyard:cluster`.
    """
    raw = stack_config(stack)["trainyard:cluster"]
    return _prepared(stack, _merged(raw, dict(changes or {})))


def stack_plan(stack: str, **changes: Any) -> Any:
    """Return the plan of a stack file with some keys changed, as in `raw_config`.

    Raises:
        ConfigError: the stack file or the account does not allow it.
    """
    return _prepared(stack, raw_config(stack_config(stack)["trainyard:cluster"], **changes)).plan


def _prepared(stack: str, raw: Mapping[str, Any]) -> Prepared:
    stack_file = f"Pulumi.{stack}.yaml"
    return prepare(
        load_stack_config(raw, stack_file=stack_file),
        account_facts(),
        stack_file=stack_file,
        region=stack_config(stack)["aws:region"],
        now=NOW,
    )


def program_of(stack: str, *, changes: Mapping[str, Any] | None = None) -> Callable[[], None]:
    """Return a program that registers everything of a stack file, as `__main__.py` does."""

    def program() -> None:
        for name, value in build(prepared(stack, changes=changes).plan).items():
            pulumi.export(name, value)

    return program


def account_facts() -> AccountFacts:
    """Return the sandbox's account as the program would read it at `NOW`."""
    account = fixture()
    vpc = VpcFacts(
        vpc_id=account["vpc"]["id"],
        dns_support=True,
        dns_hostnames=True,
        endpoint_services=frozenset(),
    )
    return AccountFacts(
        account_id="123456789012",
        vpc=vpc,
        subnets={raw["id"]: subnet_facts(raw) for raw in account["subnets"]},
        reservations={raw["id"]: reservation_facts(raw, NOW) for raw in account["reservations"]},
        key_pairs={raw["name"]: "ed25519" for raw in account["key_pairs"]},
        images={
            **{raw["id"]: _image(raw) for raw in account["parallelcluster_images"]["custom"]},
            **{
                image_id: ImageFacts(
                    image_id=image_id,
                    state="available",
                    architecture="x86_64",
                    root_volume_gib=30,
                    name=f"al2023-ami-ecs-{drivers}-hvm-2023.0.20260101-kernel-6.1-x86_64",
                    from_amazon=True,
                    tags={},
                )
                for image_id, drivers in ((NVIDIA, "gpu"), (NEURON, "neuron"))
            },
        },
        zones=tuple(
            ZoneFacts(name=name, zone_id=zone_id, kind="availability-zone")
            for name, zone_id in ZONES.items()
        ),
        offered_zone_ids=_offered_zone_ids(),
    )


@cache
def _offered_zone_ids() -> Mapping[str, frozenset[str]]:
    return {
        name: frozenset(zone for zone in known.zone_ids if zone.startswith("usw2-"))
        for name, known in INSTANCE_TYPES.items()
    }


def _image(raw: dict[str, Any]) -> ImageFacts:
    version = raw.get("version", PARALLELCLUSTER_VERSION)
    return ImageFacts(
        image_id=raw["id"],
        state="available",
        architecture="x86_64",
        root_volume_gib=45,
        name=raw["name"],
        tags={
            "parallelcluster:version": version,
            "parallelcluster:os": raw["os"],
            "parallelcluster:build_status": "available",
        },
    )


def render(cloud: Cloud) -> str:
    """Return the registered resources as readable text, by type and name."""
    names = {made.urn: made.name for made in cloud.registered}
    resources = sorted(cloud.registered, key=lambda made: (made.type, made.name))
    return yaml.dump(
        [_described(made, names) for made in resources],
        Dumper=_GoldenDumper,
        default_flow_style=None,
        sort_keys=False,
        width=1000,
    )


class _GoldenDumper(yaml.SafeDumper):
    """Writes a text of several lines as a literal block."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_GoldenDumper.add_representer(str, _represent_text)


def _described(made: Registered, names: dict[str, str]) -> dict[str, Any]:
    described: dict[str, Any] = {"type": made.type, "name": made.name}
    if made.parent in names:
        described["parent"] = names[made.parent]
    if not made.is_component:
        described["waits_for"] = sorted(names[urn] for urn in made.dependencies if urn in names)
    if made.ignore_changes:
        described["ignore_changes"] = list(made.ignore_changes)
    if made.inputs:
        described["inputs"] = _legible(made.inputs)
    return described


def _legible(value: Any, key: str = "") -> Any:
    if key == "userData":
        return base64.b64decode(value).decode()
    if key in {"templateBody", "nodeProperties", "containerProperties"}:
        return json.loads(value)
    if key == "securityGroups":
        return " + ".join(value)
    if isinstance(value, dict):
        # `__provider` is the pickled code of a dynamic provider, which differs by interpreter.
        return {k: _legible(value[k], k) for k in sorted(value) if k != "__provider"}
    if isinstance(value, list):
        return [_legible(inner) for inner in value]
    return value
