"""Cases of objects with await logic: DaemonSets, Deployments, volumes and claims."""

from __future__ import annotations

from tools.conformance.kubernetes.inputs import (
    CLAIM,
    DAEMON_SET,
    DEPLOYMENT,
    IMAGE,
    LUSTRE,
    LUSTRE_CLAIM,
    PLUGIN,
    SCHEDULER,
    SHORT,
    TIMEOUT_SECONDS,
    TOLERATIONS,
    VOLUME,
    changed,
    labelled,
)
from tools.conformance.kubernetes.world import World


def a_daemon_set_without_nodes(world: World) -> None:
    """Without nodes it is ready at once; image, tolerations and labels are updated in place."""
    stack = world.stack()
    for preview in (True, False):
        stack.up(DAEMON_SET, PLUGIN, preview=preview)
    stack.up(DAEMON_SET, PLUGIN)
    stack.refresh(DAEMON_SET)
    stack.up(DAEMON_SET, PLUGIN)
    newer = changed(PLUGIN, IMAGE, "registry.k8s.io/pause:3.10")
    one = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    two = [*one, {"key": "team", "operator": "Equal", "value": "a", "effect": "NoExecute"}]
    for inputs in (
        newer,
        changed(newer, TOLERATIONS, one),
        changed(newer, TOLERATIONS, two),
        changed(newer, TOLERATIONS, two[1:]),
        newer,
        labelled(newer),
    ):
        stack.up(DAEMON_SET, inputs, preview=True)
        stack.up(DAEMON_SET, inputs)
    selected = changed(newer, "spec.selector.matchLabels", {"name": "other"})
    selected = changed(selected, "spec.template.metadata.labels", {"name": "other"})
    stack.up(DAEMON_SET, selected)
    stack.destroy(DAEMON_SET)


def a_daemon_set_on_a_node(world: World) -> None:
    """The provider waits until its pods run, also after a change of the image."""
    world.node("runs", runs=True)
    stack = world.stack()
    stack.up(DAEMON_SET, PLUGIN)
    stack.refresh(DAEMON_SET)
    stack.up(DAEMON_SET, changed(PLUGIN, IMAGE, "registry.k8s.io/pause:3.10"))
    stack.destroy(DAEMON_SET)


def a_daemon_set_that_does_not_run(world: World) -> None:
    """It stays in the state as incomplete; the next `up` waits again, `skipAwait` does not."""
    world.node("stays", runs=False)
    stack = world.stack()
    inputs = changed(PLUGIN, "metadata.annotations", SHORT)
    stack.up(DAEMON_SET, inputs)
    stack.up(DAEMON_SET, inputs)
    stack.refresh(DAEMON_SET)
    skipping = changed(PLUGIN, "metadata.annotations", {"pulumi.com/skipAwait": "true"})
    stack.up(DAEMON_SET, skipping)
    stack.refresh(DAEMON_SET)
    stack.destroy(DAEMON_SET)
    path = "/apis/apps/v1/namespaces/kube-system/daemonsets/plugin"
    world.end_pods(path)
    stack.up(DAEMON_SET, PLUGIN, timeout_seconds=TIMEOUT_SECONDS)
    skipping = changed(PLUGIN, "metadata.annotations", {"pulumi.com/skipAwait": "true"})
    stack.up(DAEMON_SET, skipping)
    stack.destroy(DAEMON_SET)
    world.end_pods(path)


def a_deployment(world: World) -> None:
    """The provider waits until its pods are available; image and replicas are updated in place."""
    world.node("runs", runs=True)
    stack = world.stack()
    for preview in (True, False):
        stack.up(DEPLOYMENT, SCHEDULER, preview=preview)
    stack.up(DEPLOYMENT, SCHEDULER)
    stack.refresh(DEPLOYMENT)
    stack.up(DEPLOYMENT, changed(SCHEDULER, IMAGE, "registry.k8s.io/pause:3.10"))
    recreated = changed(SCHEDULER, "spec.strategy", {"type": "Recreate"})
    stack.up(DEPLOYMENT, recreated)
    selected = changed(recreated, "spec.selector.matchLabels", {"name": "other"})
    selected = changed(selected, "spec.template.metadata.labels", {"name": "other"})
    stack.up(DEPLOYMENT, selected)
    stack.destroy(DEPLOYMENT)


def a_deployment_without_nodes(world: World) -> None:
    """Its pods stay pending until the timeout."""
    stack = world.stack()
    stack.up(DEPLOYMENT, SCHEDULER, timeout_seconds=TIMEOUT_SECONDS)
    stack.refresh(DEPLOYMENT)
    stack.destroy(DEPLOYMENT)


def a_volume_and_its_claim(world: World) -> None:
    """The provider waits until both are bound; a larger file system changes only the volume."""
    stack = world.stack()
    for token, inputs in ((VOLUME, LUSTRE), (CLAIM, LUSTRE_CLAIM)):
        stack.up(token, inputs, preview=True)
        stack.up(token, inputs)
        stack.up(token, inputs)
    for token, inputs in ((VOLUME, LUSTRE), (CLAIM, LUSTRE_CLAIM)):
        stack.refresh(token)
        stack.up(token, inputs)
    stack.up(VOLUME, changed(LUSTRE, "spec.capacity.storage", "2400Gi"))
    grown = changed(LUSTRE_CLAIM, "spec.resources.requests.storage", "2400Gi")
    stack.up(CLAIM, grown, ignore_changes=["spec.resources"])
    stack.up(CLAIM, grown)
    stack.up(CLAIM, changed(LUSTRE_CLAIM, "spec.volumeName", "other"), preview=True)
    stack.up(VOLUME, changed(LUSTRE, "spec.csi.volumeHandle", "fs-2"), preview=True)
    stack.destroy(CLAIM)
    stack.destroy(VOLUME)
