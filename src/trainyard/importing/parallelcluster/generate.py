"""Generate `keys.txt` from ParallelCluster's own schema.

Run `python -m trainyard.importing.parallelcluster.generate` when the version of ParallelCluster
changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tools.parallelcluster import schema_keys
from tools.parallelcluster.process import ask
from trainyard.components.catalog.versions import PARALLELCLUSTER_VERSION
from trainyard.sandbox.access import NO_ACCOUNT

DATA_FILE = Path(__file__).with_name("keys.txt")

RETIRED: Mapping[str, str] = {
    "Scheduling.AwsBatchQueues": "anys",
    "Scheduling.AwsBatchSettings": "any",
    "Scheduling.SchedulerQueues": "anys",
    "Scheduling.SchedulerSettings": "any",
    "LoginNodes.Pools.Ssh.KeyName": "text",
    "DevSettings.AwsBatchCliPackage": "text",
}
"""Keys of earlier 3.x versions, with the kinds that they had.

https://github.com/aws/aws-parallelcluster/blob/v3.11.1/cli/src/pcluster/schemas/cluster_schema.py,
and `SchedulerQueues` and `SchedulerSettings`, the scheduler plugins, of the same file in v3.5.0.
"""
_ANY_REGION = "us-west-2"
"""The schema requires a region; no key depends on it."""


def schema_kinds() -> Mapping[str, str]:
    """Return the kind of every key of the installed ParallelCluster, by path.

    Raises:
        EngineError: the environment of ParallelCluster cannot be created.
        ParallelClusterError: ParallelCluster failed.
    """
    return ask(Path(schema_keys.__file__), {}, account=NO_ACCOUNT, region=_ANY_REGION)


def table(kinds: Mapping[str, str]) -> str:
    """Return the data file: one key a line, with its kind, and the retired keys at the end."""
    retired = {path: kind for path, kind in RETIRED.items() if path not in kinds}
    lines = [
        f"# Keys of aws-parallelcluster {PARALLELCLUSTER_VERSION}, from pcluster/schemas.",
        *(f"{path} {kind}" for path, kind in kinds.items()),
        "# Keys of earlier versions.",
        *(f"{path} {kind}" for path, kind in retired.items()),
    ]
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    DATA_FILE.write_text(table(schema_kinds()), encoding="utf-8")
