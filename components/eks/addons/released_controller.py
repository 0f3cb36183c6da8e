"""The workload of a controller that comes from the manifests of its release."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from trainyard.components.catalog.image_digests import by_content
from trainyard.components.catalog.kueue import ControllerRelease
from trainyard.components.eks.addons.node_selection import away_from
from trainyard.components.runtime.workload_plan import SKIP_AWAIT, Manifest, WorkloadPlan

CONFIGURATION_ANNOTATION = "trainyard/configuration"
"""Annotation of the controller's pods with a digest of its configuration, which it reads at its
start."""


def released_controller(
    release: ControllerRelease,
    objects: Sequence[Manifest],
    *,
    image: str,
    kept_off: Sequence[str],
    objects_after: Sequence[Manifest] = (),
) -> WorkloadPlan:
    """Return the Deployment of a controller with its objects.

    Args:
        release: The controller.
        objects: Its objects as released, with one Deployment.
        image: The pinned image.
        kept_off: EC2 instance types of the nodes that are drained and replaced.
        objects_after: Objects that its webhooks review.
    """
    (controller,) = (each for each in objects if each["kind"] == "Deployment")
    others = [_without_wait(each) for each in objects if each["kind"] != "Deployment"]
    spec, template = controller["spec"], controller["spec"]["template"]
    (container,) = template["spec"]["containers"]
    configuration = [each["data"] for each in others if each["kind"] == "ConfigMap"]
    digest = hashlib.sha256(json.dumps(configuration).encode()).hexdigest()[:16]
    annotations = {**template["metadata"]["annotations"], CONFIGURATION_ANNOTATION: digest}
    # As the pods of the other add-ons; the sandbox distinguishes pods by it.
    labels = {**template["metadata"]["labels"], "name": release.deployment}
    pod = {
        **template["spec"],
        "containers": [{**container, "image": by_content(image)}],
        "affinity": away_from(kept_off),
    }
    metadata = {**template["metadata"], "annotations": annotations, "labels": labels}
    return WorkloadPlan(
        controller={
            "apiVersion": controller["apiVersion"],
            "kind": "Deployment",
            "metadata": controller["metadata"],
            "spec": {**spec, "template": {"metadata": metadata, "spec": pod}},
        },
        objects_before=others,
        objects_after=objects_after,
    )


def _without_wait(manifest: Manifest) -> Manifest:
    """Return an object; a Service would wait for pods, which come later."""
    if manifest["kind"] != "Service":
        return manifest
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": {SKIP_AWAIT: "true"}}}
