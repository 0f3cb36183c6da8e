"""Control planes that a test may break."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.support.processes import spawn
from trainyard.sandbox.access import NO_ACCOUNT
from trainyard.sandbox.kubernetes.control_planes import ControlPlanes


@pytest.fixture
def make_control_planes(
    kubernetes_programs: dict[str, list[str]], tmp_path: Path
) -> Iterator[Callable[..., ControlPlanes]]:
    """Return a function that creates `ControlPlanes`; all of them are stopped after the test."""
    made: list[ControlPlanes] = []

    def make(
        programs: Mapping[str, Sequence[str]] | None = None,
    ) -> ControlPlanes:
        planes = ControlPlanes(
            tmp_path / "clusters", programs or kubernetes_programs, NO_ACCOUNT, spawn
        )
        made.append(planes)
        return planes

    yield make
    for planes in made:
        planes.stop_all()
