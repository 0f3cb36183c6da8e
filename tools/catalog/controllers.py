"""Generate `components/catalog/data/kueue.json` and `jobset.json` from the pinned releases.

Run `python -m tools.catalog.controllers`. The manifests of a release are `config/default` of its
source with the released image, built by Kustomize (`make artifacts` in the source). The source
comes from the Go module that the sandbox builds the controller from. Clusters can have a later
patch of it than the Go proxy: `kueue=DIRECTORY` names a checkout of that tag.

Left out: the deprecated versions of custom resources and the documentation in their schemas (nine
tenths of the files and of the stack's state), and of Kueue its configuration, which the add-on
writes itself, the roles and webhooks of job operators that the add-on does not enable, and the
aggregated API for the order of the queue, which breaks API discovery, and therefore the deletion of
namespaces, while the controller does not run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from trainyard.components.catalog.kueue import (
    CONTROLLER_RELEASES,
    JOBSET_GROUP,
    KUEUE_GROUP,
    KUEUE_RELEASE,
)
from trainyard.sandbox.engine import ensure_kubernetes
from trainyard.sandbox.engine.controllers import MODULE, PACKAGES
from trainyard.sandbox.engine.go_build import Go

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
"""Roles and bindings of Kueue that are kept, without the prefix `kueue-`."""
_KEPT_KINDS = frozenset(
    {"Namespace", "CustomResourceDefinition", "ServiceAccount", "Secret", "Deployment"}
)
_HOOKED_GROUPS = ([KUEUE_GROUP], ["batch"], [JOBSET_GROUP])
"""API groups of the webhooks of Kueue that are kept."""
_VISIBILITY = "kueue-visibility-server"

Manifest = dict[str, Any]


def kept(documents: list[Manifest]) -> Iterator[Manifest]:
    """Yield what an add-on installs, in the order of the release."""
    for each in documents:
        if each["kind"] == "CustomResourceDefinition":
            stored = [version for version in each["spec"]["versions"] if version["storage"]]
            yield {**each, "spec": {**each["spec"], "versions": _without_documentation(stored)}}
        else:
            yield each


def kept_of_kueue(documents: list[Manifest]) -> Iterator[Manifest]:
    """Yield what the add-on of Kueue installs, in the order of the release."""
    for each in kept(documents):
        kind, name = each["kind"], each["metadata"]["name"]
        if kind.endswith("WebhookConfiguration"):
            hooks = [h for h in each["webhooks"] if h["rules"][0]["apiGroups"] in _HOOKED_GROUPS]
            yield {**each, "webhooks": hooks}
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
    """Write the files."""
    checkouts = dict(argument.split("=", 1) for argument in sys.argv[1:])
    kubectl = ensure_kubernetes(lambda line: print(line, file=sys.stderr))["kubectl"]  # noqa: T201
    for name, release in CONTROLLER_RELEASES.items():
        given = checkouts.get(name)
        source = Path(given or Go.find(MODULE).module_directory(MODULE, PACKAGES[name]))
        command = [*kubectl, "kustomize", str(source / "config" / "default")]
        built = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        documents = list(yaml.safe_load_all(built))
        objects = (kept_of_kueue if release == KUEUE_RELEASE else kept)(documents)
        # One object a line: a new release shows which objects it changes.
        lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in objects)
        release.data_file.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
