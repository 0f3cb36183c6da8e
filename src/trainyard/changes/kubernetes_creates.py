"""Kubernetes objects that an update would create, and commands for those that exist already.

Since 4.29.0, pulumi-kubernetes creates objects with a plain POST, which fails if the object exists.
The preview does not detect this.

Sources:
    https://github.com/pulumi/pulumi-kubernetes/blob/v4.32.0/CHANGELOG.md, 4.29.0
    https://www.pulumi.com/docs/iac/cli/commands/pulumi_import/
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from trainyard.changes.steps import PlannedStep
from trainyard.components.typed_command import pulumi_command

CLUSTER = "aws:eks/cluster:Cluster"
_AUTOMATIC_NAME = "pulumi.com/autonamed"
"""Annotation of objects with a name that the provider generated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesCreate:
    """An object that an update would create."""

    type: str
    """Type token, such as `kubernetes:apps/v1:DaemonSet`."""
    logical_name: str
    api_version: str
    kind: str
    namespace: str
    """Empty if the object has none: it is in `default`, or is cluster-scoped."""
    name: str
    parent: str
    """URN of its parent; empty if this update creates the parent."""
    provider: str
    """URN of its provider."""

    @property
    def identifier(self) -> str:
        """Id of the object in pulumi-kubernetes."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    def api_path(self, *, plural: str, namespaced: bool) -> str:
        """Return the object's API path, from the plural name and scope of its kind."""
        place = f"/namespaces/{self.namespace or 'default'}" if namespaced else ""
        return f"{api_root(self.api_version)}{place}/{plural}/{self.name}"

    def delete_command(self) -> str:
        """Return the kubectl arguments that delete the object."""
        group = self.api_version.rpartition("/")[0]
        version = self.api_version.rpartition("/")[2]
        # Fully qualified, so that kubectl cannot select the same kind in another API group.
        kind = f"{self.kind.lower()}.{version}.{group}" if group else self.kind.lower()
        where = ["--namespace", self.namespace] if self.namespace else []
        return shlex.join(["delete", kind, *where, self.name])

    def import_command(self, *, stack: str, extra: Sequence[str] = ()) -> str:
        """Return the command that imports the object into the state of the stack unchanged."""
        return pulumi_command(
            shlex.join(
                [
                    *("import", "--stack", stack, *extra),
                    *(
                        "--parent",
                        f"parent={self.parent}",
                        "--provider",
                        f"provider={self.provider}",
                    ),
                    *("--protect=false", "--generate-code=false", "--yes"),
                    *(self.type, self.logical_name, self.identifier),
                ]
            )
        )


def api_root(api_version: str) -> str:
    """Return the path of an API version: `/api/v1`, `/apis/apps/v1`."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def existing_cluster(steps: Iterable[PlannedStep]) -> str:
    """Return the name of the cluster that an update keeps; empty if there is none."""
    kept = (
        step.identifier
        for step in steps
        if step.type == CLUSTER and step.operation in ("same", "update")
    )
    return next(kept, "")


def kubernetes_creates(steps: Sequence[PlannedStep]) -> Iterator[KubernetesCreate]:
    """Yield the objects that an update would create under a known name."""
    made = {step.urn for step in steps if step.operation == "create"}
    for step in steps:
        package = step.type.partition(":")[0]
        if step.operation != "create" or package != "kubernetes" or step.type.endswith("Patch"):
            continue
        metadata = step.new.get("metadata") or {}
        if not metadata.get("name") or _AUTOMATIC_NAME in (metadata.get("annotations") or {}):
            continue
        yield KubernetesCreate(
            type=step.type,
            logical_name=step.name,
            api_version=step.new["apiVersion"],
            kind=step.new["kind"],
            namespace=metadata.get("namespace") or "",
            name=metadata["name"],
            parent="" if step.parent in made else step.parent,
            provider=step.provider.rpartition("::")[0],
        )
