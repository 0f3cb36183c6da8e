"""Lists the update policy of every setting of ParallelCluster; runs in its environment.

Prints a JSON object: by path of the setting, in the order of the schema, the name of its policy.
The items of a list carry the setting that tells them apart: `SlurmQueues[Name]`.

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
"""The schema wants the cluster's name; no policy depends on it."""


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
            # Several scripts stand in a list of this name, which the schema has no field for.
            yield f"{prefix}Sequence", policy
        if is_section:
            yield from _policies(field.schema, f"{path}.", default)


if __name__ == "__main__":
    main()
