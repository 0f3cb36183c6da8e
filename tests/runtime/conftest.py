"""A real API server for the tests marked `kubernetes`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.processes import spawn
from trainyard.sandbox.access import NO_ACCOUNT
from trainyard.sandbox.kubernetes.control_planes import ControlPlane, ControlPlanes


@pytest.fixture(scope="session")
def control_plane(
    kubernetes_programs: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """One control plane for all tests of this folder, without an AWS account."""
    directory = tmp_path_factory.mktemp("clusters")
    planes = ControlPlanes(directory, kubernetes_programs, NO_ACCOUNT, spawn)
    yield planes.create("aws-auth")
    planes.stop_all()
