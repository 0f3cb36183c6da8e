"""All kinds of fault, by name in a schedule. Add new kinds here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from trainyard.sandbox.faults.clusters import KINDS_OF_CLUSTERS
from trainyard.sandbox.faults.connections import ConnectionReset, DoneWithoutAnswer
from trainyard.sandbox.faults.consistency import NotFoundYet
from trainyard.sandbox.faults.containers import KINDS_OF_CONTAINERS
from trainyard.sandbox.faults.kills import EngineKilled, EngineKilledAfter
from trainyard.sandbox.faults.kind import Kind
from trainyard.sandbox.faults.refusals import REFUSALS

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
