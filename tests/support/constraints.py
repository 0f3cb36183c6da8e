"""Constraints of the AWS API parameters that get values of stack files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tools.catalog.constraints import DATA_FILE

CONSTRAINTS: Mapping[str, Mapping[str, Any]] = json.loads(DATA_FILE.read_text(encoding="utf-8"))[
    "parameters"
]
"""By the name of the parameter, as in `tools/catalog/parameters.yaml`."""
