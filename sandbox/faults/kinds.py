"""All kinds of fault, by name in a schedule. Add new kinds here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sandbox.faults.clusters import KINDS_OF_CLUSTERS
from sandbox.faults.connections import ConnectionReset, DoneWithoutAnswer
from sandbox.faults.consistency import NotFoundYet
from sandbox.faults.containers import KINDS_OF_CONTAINERS
from sandbox.faults.kills import EngineKilled, EngineKilledAfter
from sandbox.faults.kind import Kind
from sandbox.faults.refusals import REFUSALS

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            *REFUSALS,
            ConnectionReset(),
            DoneWithoutAnswer(),
            NotFoundYet(),
            EngineKilled(),
            EngineKilledAfter(),
            *KINDS_OF_CLUSTERS,
            *KINDS_OF_CONTAINERS,
        )
    }
)
"""The kinds of fault, by name."""
