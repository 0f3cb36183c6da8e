"""The findings of every rule of the pack for a program that ran under the recording monitor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policies.pack.discovery import POLICIES
from tests.support.cloud import Cloud
from tests.support.policy import Declared, check


def declared(cloud: Cloud) -> list[Declared]:
    """Return the registered resources; every property has all dependencies of its resource."""
    names = {made.urn: made.name for made in cloud.registered}
    return [
        Declared(
            made.type,
            made.name,
            {"id": f"{made.name}-id", **made.inputs},
            {key: [names[u] for u in made.dependencies if u in names] for key in made.inputs},
            protect=made.protect,
        )
        for made in cloud.registered
        if not made.is_component
    ]


def violations(
    cloud: Cloud, config: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, list[str]]:
    """Return the messages of every rule that is broken, by rule; `config` is that of the pack."""
    program = declared(cloud)
    found = {p.name: check(p, *program, config=(config or {}).get(p.name)) for p in POLICIES}
    assert not [said for findings in found.values() for said in findings.undecided]
    return {name: findings.messages for name, findings in found.items() if findings.messages}
