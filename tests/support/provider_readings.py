"""Configurations and requests as the stand-in of ParallelCluster's provider reads them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from tools.parallelcluster.process import Configuration, ask
from trainyard.sandbox.aws.server import AwsServer

SCRIPT = Path(__file__).with_name("read_by_provider.py")


class Read(Protocol):
    """Reads many configurations and events in one process."""

    def __call__(
        self,
        *,
        clusters: Mapping[str, Configuration] = ...,
        events: Mapping[str, Mapping[str, Any]] = ...,
    ) -> dict[str, Any]:
        """Return the reading of each by name, or `{"refused": why}`."""
        ...


def reader(server: AwsServer) -> Read:
    """Return a reader for the account of a server, with the contents of the fixture."""

    def read(
        *,
        clusters: Mapping[str, Configuration] | None = None,
        events: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> dict[str, Any]:
        server.reset()
        asked = {"clusters": dict(clusters or {}), "events": dict(events or {})}
        return ask(SCRIPT, asked, account=server.access, region="us-west-2")

    return read
