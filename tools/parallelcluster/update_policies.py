"""Make `components/catalog/data/parallelcluster_update_policies.txt`.

Run `python -m tools.parallelcluster.update_policies` when the version of ParallelCluster changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tools.lock import ROOT
from tools.parallelcluster.process import ask

SCRIPT = Path(__file__).with_name("schema_policies.py")
DATA_FILE = ROOT / "components" / "catalog" / "data" / "parallelcluster_update_policies.txt"

# Sections that no cluster of ours has.
_LEFT_OUT = ("LoginNodes", "DirectoryService", "DevSettings", "AdditionalPackages")

_NOWHERE = "http://127.0.0.1:9"
"""The schema answers without an account, and none can be asked here."""

_ANY_REGION = "us-west-2"
"""The schema wants a region to be set; no policy depends on it."""


def schema_policies() -> Mapping[str, str]:
    """Return the policy of every setting that the program may write, by its path.

    Raises:
        EngineError: the environment of ParallelCluster cannot be made.
        ParallelClusterError: ParallelCluster broke.
    """
    policies = ask(SCRIPT, {}, aws_endpoint=_NOWHERE, region=_ANY_REGION)
    return {
        path: policy for path, policy in policies.items() if path.partition(".")[0] not in _LEFT_OUT
    }


def table(policies: Mapping[str, str]) -> str:
    """Return the data file: one setting a line, and its policy."""
    return "".join(f"{path} {policy}\n" for path, policy in policies.items())


if __name__ == "__main__":
    DATA_FILE.write_text(table(schema_policies()), encoding="utf-8")
