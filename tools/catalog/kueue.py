"""Generate `components/catalog/data/kueue.json` from the pinned release of Kueue.

Run `python -m tools.catalog.kueue`. The manifests of a release are `config/default` of its source
with the released image, built by Kustomize (`make artifacts` in the source). The source comes from
the Go module that the sandbox builds the controller from.

Left out: the deprecated versions of custom resources and the documentation in their schemas (nine
tenths of the file and of the stack's state), the roles and webhooks of job operators that the
add-on does not enable, and the aggregated API for the order of the queue, which breaks API
discovery, and therefore the deletion of namespaces, while the controller does not run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tools.engine import ensure_kubernetes
from tools.engine.go_build import Go
from tools.engine.kueue import MODULE, PACKAGE

DATA_FILE = Path(__file__).parents[2] / "components" / "catalog" / "data" / "kueue.json"
_ROLES = (
    *("manager-role", "manager-secrets-role", "leader-election-role", "metrics-auth-role"),
    *("manager-rolebinding", "manager-secrets-rolebinding", "leader-election-rolebinding"),
    *("metrics-auth-rolebinding", "batch-admin-role", "batch-user-role"),
    *(
        f"{kind}-{role}-role"
        for kind in ("clusterqueue", "localqueue", "resourceflavor", "workload", "job")
        for role in ("editor", "viewer")
    ),
)
"""Roles and bindings that are kept, without the prefix `kueue-`."""
_KEPT_KINDS = frozenset(
    {"Namespace", "CustomResourceDefinition", "ServiceAccount", "Secret", "Deployment"}
)
_HOOKED_GROUPS = (["kueue.x-k8s.io"], ["batch"])
"""API groups of the webhooks that are kept."""
_VISIBILITY = "kueue-visibility-server"

Manifest = dict[str, Any]


def kept(documents: list[Manifest]) -> Iterator[Manifest]:
    """Yield what the add-on installs, in the order of the release."""
    for each in documents:
        kind, name = each["kind"], each["metadata"]["name"]
        if kind.endswith("WebhookConfiguration"):
            hooks = [h for h in each["webhooks"] if h["rules"][0]["apiGroups"] in _HOOKED_GROUPS]
            yield {**each, "webhooks": hooks}
        elif kind == "CustomResourceDefinition":
            stored = [version for version in each["spec"]["versions"] if version["storage"]]
            yield {**each, "spec": {**each["spec"], "versions": _without_documentation(stored)}}
        elif (
            kind in _KEPT_KINDS
            or name.removeprefix("kueue-") in _ROLES
            or (kind == "Service" and name != _VISIBILITY)
        ):
            yield each


def _without_documentation(value: Any, *, of_names: bool = False) -> Any:
    """Return a schema without descriptions; `of_names` if the keys are names of properties."""
    if isinstance(value, list):
        return [_without_documentation(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_documentation(each, of_names=key == "properties" and not of_names)
        for key, each in value.items()
        if of_names or key != "description"
    }


def main() -> None:
    """Write the file."""
    source = Go.find(MODULE).module_directory(MODULE, PACKAGE)
    kubectl = ensure_kubernetes(lambda line: print(line, file=sys.stderr))["kubectl"]  # noqa: T201
    command = [*kubectl, "kustomize", str(source / "config" / "default")]
    built = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    objects = list(kept(list(yaml.safe_load_all(built))))
    # One object a line: a new release shows which objects it changes.
    lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in objects)
    DATA_FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
