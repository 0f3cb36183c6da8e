"""A Kubernetes object, registered as its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi


class KubernetesObject(pulumi.CustomResource):
    """An object of any kind, also of a custom resource definition.

    The engine gets the same registration as from the classes of `pulumi_kubernetes`. Their import
    and their conversion of every field would take half a second of each preview and each update.

    Args:
        name: Logical name.
        manifest: The object, with `apiVersion` and `kind`.
        opts: Options with the provider of the cluster.
    """

    metadata: pulumi.Output[Any]
    """The metadata of the object in the cluster, such as `metadata["name"]`."""

    def __init__(
        self, name: str, manifest: Mapping[str, Any], opts: pulumi.ResourceOptions
    ) -> None:
        api_version, kind = manifest["apiVersion"], manifest["kind"]
        group = api_version if "/" in api_version else f"core/{api_version}"
        super().__init__(f"kubernetes:{group}:{kind}", name, dict(manifest), opts)
