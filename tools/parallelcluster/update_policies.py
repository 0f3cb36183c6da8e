"""Generate `components/catalog/data/parallelcluster_update_policies.txt`.

Run `python -m tools.parallelcluster.update_policies` when the version of ParallelCluster changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tools.lock import ROOT
from tools.parallelcluster.process import ask
from trainyard.sandbox.access import NO_ACCOUNT

SCRIPT = Path(__file__).with_name("schema_policies.py")
DATA_FILE = ROOT / "components" / "catalog" / "data" / "parallelcluster_update_policies.txt"

# Sections that the program never writes.
_LEFT_OUT = ("LoginNodes", "DirectoryService", "DevSettings", "AdditionalPackages")


_ANY_REGION = "us-west-2"
"""The schema requires a region; no policy depends on it."""


def schema_policies() -> Mapping[str, str]:
    """Return the policy of every setting that the program may write, by path.

    Raises:
        EngineError: the environment of ParallelCluster cannot be created.
        ParallelClusterError: ParallelCluster failed.
    """
    policies = ask(SCRIPT, {}, account=NO_ACCOUNT, region=_ANY_REGION)
    return {
        path: policy for path, policy in policies.items() if path.partition(".")[0] not in _LEFT_OUT
    }


def table(policies: Mapping[str, str]) -> str:
    """Return the data file: one setting per line, with its policy."""
    return "".join(f"{path} {policy}\n" for path, policy in policies.items())


if __name__ == "__main__":
    DATA_FILE.write_text(table(schema_policies()), encoding="utf-8")
