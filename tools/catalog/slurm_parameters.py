"""Generate `components/catalog/data/slurm_parameters.json` from the source of Slurm.

Run `python -m tools.catalog.slurm_parameters READ_CONFIG_C VERSION`. READ_CONFIG_C is
`src/common/read_config.c` of the Slurm version in the pinned ParallelCluster, which the release
notes name: https://github.com/aws/aws-parallelcluster/releases
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

DATA_FILE = Path(__file__).parents[2] / "components" / "catalog" / "data" / "slurm_parameters.json"
TABLES = {
    "slurm_conf": "slurm_conf_options",
    "partition": "_partition_options",
    "node": "_nodename_options",
}
"""Table of the parser in C, by what it parses."""
_ENTRY = re.compile(r'^\s*\{\s*"(\w+)"', re.MULTILINE)


def parameters(source: str) -> dict[str, list[str]]:
    """Return the parameters that Slurm parses in each kind of line, sorted.

    Raises:
        ValueError: the source has no such table.
    """
    return {kind: _names(source, table) for kind, table in TABLES.items()}


def _names(source: str, table: str) -> list[str]:
    begin = re.search(rf"s_p_options_t {table}\[\] = \{{", source)
    if begin is None:
        raise ValueError(f"there is no table {table} in the source")
    body = source[begin.end() :].partition("{NULL}")[0]
    return sorted(_ENTRY.findall(body), key=str.lower)


def main(path: str, version: str) -> None:
    """Write the file."""
    found = parameters(Path(path).read_text(encoding="utf-8"))
    text = json.dumps({"slurm": version, **found}, indent=2)
    DATA_FILE.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:3])
