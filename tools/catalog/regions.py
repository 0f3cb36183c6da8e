"""Generate `components/catalog/data/regions.json` from the data of botocore.

Run `python -m tools.catalog.regions` after an update of botocore.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import botocore
from botocore.loaders import Loader

DATA_FILE = Path(__file__).parents[2] / "components" / "catalog" / "data" / "regions.json"


def regions() -> dict[str, Any]:
    """Return the pattern of region names and the known regions of each partition."""
    partitions = Loader().load_data("partitions")["partitions"]
    return {
        "botocore": botocore.__version__,
        "partitions": {
            each["id"]: {
                "pattern": each["regionRegex"],
                # `aws-global` and the like are endpoints of global services.
                "regions": sorted(name for name in each["regions"] if "global" not in name),
            }
            for each in partitions
        },
    }


def text() -> str:
    """Return the content of the file."""
    return json.dumps(regions(), indent=2) + "\n"


if __name__ == "__main__":
    DATA_FILE.write_text(text(), encoding="utf-8")
