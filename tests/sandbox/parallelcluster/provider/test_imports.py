"""ParallelCluster's Python environment has what the function of its custom resource imports."""

from __future__ import annotations

import subprocess

import pytest

from tests.support.tracked import ROOT
from trainyard.sandbox.engine.parallelcluster_environment import parallelcluster_python


@pytest.mark.parallelcluster
def test_the_function_starts_in_its_environment() -> None:
    program = "import trainyard.sandbox.parallelcluster.provider.handler"
    command = [str(parallelcluster_python(print)), "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
