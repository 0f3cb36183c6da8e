"""What the stand-in of ParallelCluster's provider reads in configurations and requests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from sandbox.aws.server import AwsServer
from tools.parallelcluster.process import Configuration, ask

SCRIPT = Path(__file__).with_name("read_by_provider.py")


class Read(Protocol):
    """Reads many configurations and events in one process."""

    def __call__(
        self,
        *,
        clusters: Mapping[str, Configuration] = ...,
        events: Mapping[str, Mapping[str, Any]] = ...,
    ) -> dict[str, Any]:
        """Return by name what was read, or `{"refused": why}`."""
        ...


def reader(server: AwsServer) -> Read:
    """Return what reads against the account of a server, as the fixture has it."""

    def read(
        *,
        clusters: Mapping[str, Configuration] | None = None,
        events: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> dict[str, Any]:
        server.reset()
        asked = {"clusters": dict(clusters or {}), "events": dict(events or {})}
        return ask(SCRIPT, asked, aws_endpoint=server.endpoint, region="us-west-2")

    return read
