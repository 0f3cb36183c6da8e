"""An account whose EKS clusters have real control planes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import spawn
from trainyard.sandbox.aws.server import AwsServer
from trainyard.sandbox.kubernetes.control_planes import ControlPlanes


@pytest.fixture
def control_planes(
    server: AwsServer, kubernetes_programs: dict[str, list[str]], tmp_path: Path
) -> Iterator[ControlPlanes]:
    """The clusters of the account, which has the contents of the fixture."""
    server.reset()
    planes = ControlPlanes(tmp_path / "clusters", kubernetes_programs, server.access, spawn)
    server.use_control_planes(planes)
    yield planes
    server.use_control_planes(None)
    planes.stop_all()
