"""Lists the update policy of every ParallelCluster setting; runs in its environment.

Prints a JSON object with the name of the policy by path of the setting, in schema order. List items
carry the setting that identifies them: `SlurmQueues[Name]`.

Source: the schema's metadata `update_policy` and `update_key`, as `ConfigPatch` reads them:
https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/config/config_patch.py
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from typing import Any

_ANY_NAME = "policies"
"""The schema requires a cluster name; no policy depends on it."""


def main() -> None:
    """Print the policies."""
    schema = importlib.import_module("pcluster.schemas.cluster_schema").ClusterSchema
    default = importlib.import_module("pcluster.config.update_policy").UpdatePolicy.UNSUPPORTED
    json.dump(dict(_policies(schema(cluster_name=_ANY_NAME), "", default)), sys.stdout)


def _policies(schema: Any, prefix: str, default: Any) -> Iterator[tuple[str, str]]:
    for field in schema.declared_fields.values():
        path = f"{prefix}{field.data_key}"
        is_section = hasattr(field, "nested")
        if is_section and getattr(field, "many", False):
            path += f"[{field.metadata.get('update_key')}]"
        policy = field.metadata.get("update_policy", default).name
        yield path, policy
        if field.data_key == "Script":
            # A list with this name holds several scripts, and the schema has no field for it.
            yield f"{prefix}Sequence", policy
        if is_section:
            yield from _policies(field.schema, f"{path}.", default)


if __name__ == "__main__":
    main()
