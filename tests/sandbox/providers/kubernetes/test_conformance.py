"""The `kubernetes` stand-in gives the recorded answers of the official provider."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2_grpc

from tests.support.tracked import ROOT
from tools.conformance.kubernetes.__main__ import RECORDINGS
from tools.conformance.kubernetes.cases import CASES
from tools.conformance.kubernetes.plugin import OPTIONS, Plugin, engine, running
from tools.conformance.kubernetes.recording import compared, played
from tools.conformance.recordings import read
from trainyard.sandbox.access import NO_ACCOUNT
from trainyard.sandbox.kubernetes.control_planes import ControlPlane
from trainyard.sandbox.providers._protocol.serve import engine_log
from trainyard.sandbox.providers.kubernetes.servicer import KubernetesServicer

PLUGIN = ROOT / "sandbox" / "providers" / "kubernetes" / "pulumi-resource-kubernetes"
ALL = frozenset(CASES)


@dataclass(frozen=True)
class Accepted:
    """A permanent difference."""

    cases: frozenset[str]
    difference: str
    """Regular expression of the output for it."""
    reason: str


ACCEPTED = (
    Accepted(
        ALL,
        r"^\d+ Configure answer\.(acceptSecrets|supports_autonaming_configuration): True → nothing",
        "The stand-ins ask the engine for plain values; it marks what a secret went into itself. "
        "Names that the engine proposes (`pulumi:autonaming`) are set for no stack.",
    ),
    Accepted(
        frozenset({"unknown-field"}),
        r"^\d+ (Check answer\.inputs|Create (answer|error)): ",
        "The provider drops a field that does not exist; here a slip of the pen is an error.",
    ),
)


@contextmanager
def in_this_process() -> Iterator[Plugin]:
    """Serve the stand-in in this process, because a separate one takes a second to start."""
    with engine() as (address, attach):
        server = grpc.server(ThreadPoolExecutor(max_workers=8), options=OPTIONS)
        servicer = KubernetesServicer(engine_log([address]))
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            with attach(port) as plugin:
                yield plugin
        finally:
            server.stop(None)


@pytest.mark.kubernetes
@pytest.mark.parametrize("case", CASES)
def test_the_stand_in_answers_as_recorded(
    case: str, control_plane: ControlPlane, tmp_path: Path
) -> None:
    def start(environment: Mapping[str, str]) -> AbstractContextManager[Plugin]:
        if not environment:
            return in_this_process()
        own = {"AWS_ENDPOINT_URL": NO_ACCOUNT.url, "TRAINYARD_PYTHON": sys.executable}
        environment = {**own, **environment}
        return running([str(PLUGIN)], log=tmp_path / "plugin.log", environment=environment)

    recorded = read(RECORDINGS / f"{case}.yaml")["exchanges"]
    found = compared(recorded, played(case, control_plane, start))
    accepted = [each for each in ACCEPTED if case in each.cases]
    open_ = [d for d in found if not any(re.search(each.difference, d) for each in accepted)]
    assert open_ == []
    stale = [e.reason for e in accepted if not any(re.search(e.difference, d) for d in found)]
    assert stale == []


def test_every_recording_is_of_a_case() -> None:
    assert {path.stem for path in RECORDINGS.glob("*.yaml")} == ALL
