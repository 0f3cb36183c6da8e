"""The recorded calls: all kinds that the program creates, with and without await logic."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from tools.conformance.kubernetes.plugin import Values
from tools.conformance.kubernetes.world import World

# The inputs of the cases: objects as the program defines them, and changes of them.
#
# The arguments are those of `components/runtime`, `components/storage` and `components/eks`,
# reduced to what a provider treats differently.


CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
CONFIG_MAP_PATCH = "kubernetes:core/v1:ConfigMapPatch"
DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
SERVICE = "kubernetes:core/v1:Service"
VOLUME = "kubernetes:core/v1:PersistentVolume"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
ROLE = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole"
BINDING = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding"
STORAGE_CLASS = "kubernetes:storage.k8s.io/v1:StorageClass"

CONFIG_MAPS = "/api/v1/namespaces/kube-system/configmaps"
FORCE = {"pulumi.com/patchForce": "true"}
TIMEOUT_SECONDS = 3


def wanted(token: str, metadata: Values, **fields: Any) -> Values:
    """Return the inputs of an object: `apiVersion`, `kind` and other fields."""
    _, group, kind = token.split(":")
    version = group.removeprefix("core/")
    kind = kind.removesuffix("Patch")
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def in_system(name: str, **metadata: Any) -> Values:
    """Return the metadata of an object in `kube-system`."""
    return {"name": name, "namespace": "kube-system", **metadata}


def changed(inputs: Values, path: str, value: Any) -> Values:
    """Return a copy with a new value at a dotted path; None removes the key."""
    found = copy.deepcopy(inputs)
    inner: Any = found
    *way, last = path.split(".")
    for key in way:
        inner = inner[int(key)] if key.isdecimal() else inner.setdefault(key, {})
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return found


def labelled(inputs: Values) -> Values:
    """Return a copy with a different label."""
    return changed(inputs, "metadata.labels", {"app.kubernetes.io/version": "2"})


def pod(**spec: Any) -> Values:
    """Return the spec of a pod with one container."""
    container = {"name": "plugin", "image": "registry.k8s.io/pause:3.9"}
    resources = {"requests": {"cpu": "100m", "memory": "1024Mi"}}
    return {"containers": [{**container, "resources": resources}], **spec}


def workload(token: str, metadata: Values, pod: Values, **spec: Any) -> Values:
    """Return the inputs of a pod controller."""
    labels = {"name": metadata["name"]}
    template = {"metadata": {"labels": labels}, "spec": pod}
    selector = {"matchLabels": labels}
    return wanted(token, metadata, spec={"selector": selector, "template": template, **spec})


SETTINGS = wanted(CONFIG_MAP, in_system("settings"), data={"a": "1", "file.yaml": "x: y\n"})
AWS_AUTH = wanted(CONFIG_MAP, in_system("aws-auth", annotations=FORCE), immutable=False)
ACCOUNT = wanted("kubernetes:core/v1:ServiceAccount", in_system("plugin"))
CLUSTER_ROLE = wanted(
    ROLE, {"name": "plugin"}, rules=[{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}]
)
ROLE_REF = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "plugin"}
CLUSTER_BINDING = wanted(
    BINDING,
    {"name": "plugin"},
    roleRef=ROLE_REF,
    subjects=[{"kind": "ServiceAccount", "name": "plugin", "namespace": "kube-system"}],
)
PORTS = [{"name": "http", "port": 12345, "targetPort": 12345}]
SKIPPED_SERVICE = wanted(
    SERVICE,
    in_system("extension", annotations={"pulumi.com/skipAwait": "true"}),
    spec={"ports": PORTS, "selector": {"app": "extension"}},
)
CLASS = wanted(
    STORAGE_CLASS, {"name": "fast"}, provisioner="fsx.csi.aws.com", parameters={"type": "SSD"}
)
NAMESPACE = wanted("kubernetes:core/v1:Namespace", {"name": "training"})
SECRET = wanted("kubernetes:core/v1:Secret", in_system("key"), stringData={"token": "abc"})
PLUGIN = workload(DAEMON_SET, in_system("plugin"), pod(), updateStrategy={"type": "RollingUpdate"})
SCHEDULER = workload(DEPLOYMENT, in_system("scheduler"), pod(), replicas=1)
SHORT = {"pulumi.com/timeoutSeconds": str(TIMEOUT_SECONDS)}
CLAIM_REF = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": "shared"}
LUSTRE = wanted(
    VOLUME,
    {"name": "shared"},
    spec={
        "capacity": {"storage": "1200Gi"},
        "volumeMode": "Filesystem",
        "accessModes": ["ReadWriteMany"],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "",
        "mountOptions": ["flock"],
        "claimRef": {**CLAIM_REF, "namespace": "default"},
        "csi": {
            "driver": "fsx.csi.aws.com",
            "volumeHandle": "fs-1",
            "volumeAttributes": {"dnsname": "fs-1.fsx", "mountname": "m"},
        },
    },
)
LUSTRE_CLAIM = wanted(
    CLAIM,
    {"name": "shared", "namespace": "default"},
    spec={
        "accessModes": ["ReadWriteMany"],
        "storageClassName": "",
        "volumeName": "shared",
        "resources": {"requests": {"storage": "1200Gi"}},
    },
)
IMAGE = "spec.template.spec.containers.0.image"
TOLERATIONS = "spec.template.spec.tolerations"


def an_object_that_exists(world: World) -> None:
    """Create never adopts an object, with or without `patchForce`; the preview hides that."""
    theirs = {"metadata": {"name": "settings"}, "data": {"a": "theirs"}}
    world.make(CONFIG_MAPS, theirs)
    stack = world.stack()
    forced = changed(SETTINGS, "metadata.annotations", FORCE)
    for inputs in (SETTINGS, forced):
        for preview in (True, False):
            stack.up(CONFIG_MAP, inputs, preview=preview)
    world.exists(f"{CONFIG_MAPS}/settings")
    upserting = world.stack(upsertExistingObjects="true")
    upserting.up(CONFIG_MAP, SETTINGS)
    upserting.up(CONFIG_MAP, forced)
    upserting.destroy(CONFIG_MAP)
    world.exists(f"{CONFIG_MAPS}/settings")


def a_config_map_with_other_data(world: World) -> None:
    """Changed data replaces it, `immutable` or not, unless the provider is configured otherwise."""
    stack = world.stack()
    other = changed(SETTINGS, "data", {"a": "2"})
    for immutable in (None, False, True):
        before, after = (
            each if immutable is None else {**each, "immutable": immutable}
            for each in (SETTINGS, other)
        )
        stack.up(CONFIG_MAP, before)
        for preview in (True, False):
            stack.up(CONFIG_MAP, after, preview=preview)
        stack.destroy(CONFIG_MAP)
    mutable = world.stack(enableConfigMapMutable="true")
    mutable.up(CONFIG_MAP, SETTINGS)
    mutable.up(CONFIG_MAP, other)
    mutable.up(CONFIG_MAP, {**other, "immutable": True})
    mutable.up(CONFIG_MAP, {**SETTINGS, "immutable": True})
    mutable.destroy(CONFIG_MAP)


def a_name_of_its_own(world: World) -> None:
    """A name is generated once; a replacement gets a new one before the old object is deleted."""
    stack = world.stack()
    unnamed = wanted(CONFIG_MAP, {"namespace": "default"}, data={"a": "1"})
    stack.up(CONFIG_MAP, unnamed)
    stack.up(CONFIG_MAP, unnamed)
    stack.up(CONFIG_MAP, labelled(unnamed))
    stack.up(CONFIG_MAP, changed(unnamed, "data.a", "2"))
    stack.up(CONFIG_MAP, wanted(CONFIG_MAP, {}, data={"a": "2"}))
    stack.destroy(CONFIG_MAP)


def another_name_or_namespace(world: World) -> None:
    """Another name or namespace is another object."""
    stack = world.stack()
    stack.up(CONFIG_MAP, SETTINGS)
    stack.up(CONFIG_MAP, changed(SETTINGS, "metadata.name", "other"))
    stack.up(CONFIG_MAP, changed(SETTINGS, "metadata.namespace", "default"))
    stack.destroy(CONFIG_MAP)


def aws_auth_without_data(world: World) -> None:
    """EKN-09: the package owns the existence of `aws-auth`, but no key of its content."""
    path = f"{CONFIG_MAPS}/aws-auth"
    stack = world.stack()
    stack.up(CONFIG_MAP, AWS_AUTH)
    world.apply(
        path,
        {"apiVersion": "v1", "kind": "ConfigMap", "data": {"mapRoles": "- rolearn: theirs\n"}},
        "trainyard",
    )
    stack.up(CONFIG_MAP, AWS_AUTH)
    stack.refresh(CONFIG_MAP)
    stack.up(CONFIG_MAP, AWS_AUTH)
    stack.up(CONFIG_MAP, labelled(AWS_AUTH))
    world.exists(path)
    stack.up(CONFIG_MAP, {**AWS_AUTH, "data": {"mapRoles": "[]\n"}})
    world.exists(path)
    stack.destroy(CONFIG_MAP)


def a_patch_of_an_object_of_others(world: World) -> None:
    """A patch owns its fields, releases them on deletion, and requires a name."""
    path = f"{CONFIG_MAPS}/settings"
    world.make(CONFIG_MAPS, {"metadata": {"name": "settings"}, "data": {"b": "theirs"}})
    stack = world.stack()
    patch = wanted(CONFIG_MAP_PATCH, in_system("settings"), data={"a": "1"})
    stack.up(CONFIG_MAP_PATCH, changed(patch, "metadata.name", None))
    for preview in (True, False):
        stack.up(CONFIG_MAP_PATCH, patch, preview=preview)
    stack.up(CONFIG_MAP_PATCH, patch)
    stack.refresh(CONFIG_MAP_PATCH)
    for preview in (True, False):
        stack.up(CONFIG_MAP_PATCH, changed(patch, "data.a", "2"), preview=preview)
    taken = changed(patch, "data", {"b": "ours"})
    stack.up(CONFIG_MAP_PATCH, taken)
    stack.up(CONFIG_MAP_PATCH, changed(taken, "metadata.annotations", FORCE))
    world.exists(path)
    stack.destroy(CONFIG_MAP_PATCH)
    world.exists(path)


def a_patch_of_nothing(world: World) -> None:
    """A patch of an object that does not exist creates it."""
    stack = world.stack()
    stack.up(CONFIG_MAP_PATCH, wanted(CONFIG_MAP_PATCH, in_system("settings"), data={"a": "1"}))
    stack.destroy(CONFIG_MAP_PATCH)
    world.exists(f"{CONFIG_MAPS}/settings")
    world.remove(f"{CONFIG_MAPS}/settings")


def a_field_that_others_took_over(world: World) -> None:
    """Another manager applied an owned field: a change of it is a conflict unless forced."""
    path = f"{CONFIG_MAPS}/settings"
    stack = world.stack(enableConfigMapMutable="true")
    stack.up(CONFIG_MAP, SETTINGS)
    stack.up(CONFIG_MAP, labelled(SETTINGS))
    theirs = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "theirs"}}
    world.apply(path, theirs, "somebody")
    ours = changed(labelled(SETTINGS), "data.a", "2")
    for preview in (True, False):
        stack.up(CONFIG_MAP, ours, preview=preview)
    stack.up(CONFIG_MAP, changed(ours, "metadata.annotations", FORCE))
    stack.destroy(CONFIG_MAP)


def an_object_that_others_changed(world: World) -> None:
    """A refresh shows the change, and the next `up` reverts it; other fields are ignored."""
    path = f"{CONFIG_MAPS}/settings"
    stack = world.stack(enableConfigMapMutable="true")
    stack.up(CONFIG_MAP, SETTINGS)
    world.api.patch(path, {"data": {"a": "theirs", "b": "theirs"}})
    stack.up(CONFIG_MAP, SETTINGS)
    stack.refresh(CONFIG_MAP)
    stack.up(CONFIG_MAP, SETTINGS)
    world.api.patch(path, {"data": {"a": None}})
    stack.refresh(CONFIG_MAP)
    stack.destroy(CONFIG_MAP)


def an_object_that_others_deleted(world: World) -> None:
    """A refresh removes it from the state, an update fails, a deletion succeeds."""
    path = f"{CONFIG_MAPS}/settings"
    stack = world.stack()
    stack.up(CONFIG_MAP, SETTINGS)
    world.remove(path)
    stack.up(CONFIG_MAP, SETTINGS)
    for preview in (True, False):
        stack.up(CONFIG_MAP, labelled(SETTINGS), preview=preview)
    stack.destroy(CONFIG_MAP)
    stack.up(CONFIG_MAP, SETTINGS)
    world.remove(path)
    stack.refresh(CONFIG_MAP)


def an_import(world: World) -> None:
    """An import returns inputs as a program would write them."""
    theirs = {"metadata": {"name": "settings"}, "data": {"a": "1"}}
    world.make(CONFIG_MAPS, theirs)
    stack = world.stack()
    stack.import_(CONFIG_MAP, "kube-system/settings")
    stack.up(CONFIG_MAP, wanted(CONFIG_MAP, in_system("settings"), data={"a": "1"}))
    stack.import_(CONFIG_MAP, "kube-system/nothing", "nothing")


def an_object_that_was_made_unheard(world: World) -> None:
    """After a kill, the launcher has it read by its id; `up` then keeps or creates it."""
    stack = world.stack()
    for token, inputs in ((CONFIG_MAP, SETTINGS), (DAEMON_SET, PLUGIN)):
        killed = world.stack()
        killed.up(token, inputs)
        name = inputs["metadata"]["name"]
        stack.take_up(token, f"kube-system/{name}", inputs)
        stack.up(token, inputs)
        stack.up(token, labelled(inputs))
        stack.destroy(token)
        stack.take_up(token, f"kube-system/{name}", inputs)


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


Case = Callable[[World], None]


def life(token: str, inputs: Values, after: Values) -> Case:
    """Return a case: create, refresh, update and delete an object, each after a preview."""

    def case(world: World) -> None:
        stack = world.stack()
        for preview in (True, False):
            stack.up(token, inputs, preview=preview)
        stack.up(token, inputs)
        stack.refresh(token)
        stack.up(token, inputs)
        for preview in (True, False):
            stack.up(token, after, preview=preview)
        stack.up(token, after)
        stack.up(token, inputs)
        stack.destroy(token)

    return case


def a_field_that_does_not_exist(world: World) -> None:
    """The provider drops it silently."""
    stack = world.stack()
    for preview in (True, False):
        stack.up(CONFIG_MAP, {**SETTINGS, "dataa": {"a": "1"}}, preview=preview)
    world.remove(f"{CONFIG_MAPS}/settings")


def what_the_api_server_refuses(world: World) -> None:
    """Invalid values, and a kind and a namespace that do not exist."""
    stack = world.stack()
    unknown_kind = "kubernetes:example.com/v1:Widget"
    for preview in (True, False):
        stack.up(CONFIG_MAP, changed(SETTINGS, "metadata.name", "A B"), "name", preview=preview)
        invalid = changed(PLUGIN, "spec.template.metadata.labels", {"name": "other"})
        stack.up(DAEMON_SET, invalid, "labels", preview=preview)
    later = changed(SETTINGS, "metadata.namespace", "later")
    stack.up(CONFIG_MAP, later, preview=True)
    stack.up(unknown_kind, wanted(unknown_kind, {"name": "w"}), preview=True)
    stack.up("kubernetes:core/v1:ConfigMapList", {"items": []})


def a_binding_to_another_role(world: World) -> None:
    """A change of an immutable field, such as the role of a binding, replaces the object."""
    stack = world.stack()
    stack.up(BINDING, CLUSTER_BINDING)
    stack.up(BINDING, changed(CLUSTER_BINDING, "roleRef.name", "other"))
    stack.destroy(BINDING)
    stack.up(STORAGE_CLASS, CLASS)
    stack.up(STORAGE_CLASS, changed(CLASS, "parameters", {"type": "HDD"}))
    stack.destroy(STORAGE_CLASS)
    replicas = "kubernetes:apps/v1:ReplicaSet"
    inputs = workload(replicas, in_system("replicas"), pod(), replicas=0)
    stack.up(replicas, inputs)
    other = changed(inputs, "spec.selector.matchLabels", {"name": "other"})
    stack.up(replicas, other, preview=True)
    stack.destroy(replicas)


def a_cluster_that_is_gone(world: World) -> None:
    """Nothing can be read, changed or deleted, unless the user declares the cluster deleted."""
    made = world.stack()
    made.up(CONFIG_MAP, SETTINGS)
    for environment in ({}, {"PULUMI_K8S_DELETE_UNREACHABLE": "true"}):
        gone = world.stack(kubeconfig=world.kubeconfig_to_nowhere, environment=environment)
        gone.resources = dict(made.resources)
        for preview in (True, False):
            gone.up(CONFIG_MAP, SETTINGS, "new", preview=preview)
            gone.up(CONFIG_MAP, labelled(SETTINGS), preview=preview)
        gone.up(CONFIG_MAP, SETTINGS)
        gone.refresh(CONFIG_MAP)
        gone.resources = dict(made.resources)
        gone.destroy(CONFIG_MAP)
    made.destroy(CONFIG_MAP)


def a_provider_with_another_cluster(world: World) -> None:
    """Another API server replaces the provider; another token does not."""
    stack = world.stack()
    here = {"kubeconfig": world.kubeconfig}
    token = world.kubeconfig.replace(world.control_plane.admin_token, "renewed")
    nowhere = {"kubeconfig": world.kubeconfig_to_nowhere}
    urn = "urn:pulumi:recording::trainyard::pulumi:providers:kubernetes::p"
    for news in (here, {"kubeconfig": token}, nowhere, {**here, "enableServerSideApply": "true"}):
        request = {"urn": urn, "id": "1", "olds": here, "old_inputs": here, "news": news}
        stack.plugin.call("CheckConfig", {"urn": urn, "news": news})
        stack.plugin.call("DiffConfig", request)


CASES: Mapping[str, Case] = {
    "provider": a_provider_with_another_cluster,
    "config-map": life(CONFIG_MAP, SETTINGS, labelled(SETTINGS)),
    "config-map-data": a_config_map_with_other_data,
    "config-map-unnamed": a_name_of_its_own,
    "service-account": life("kubernetes:core/v1:ServiceAccount", ACCOUNT, labelled(ACCOUNT)),
    "cluster-role": life(ROLE, CLUSTER_ROLE, changed(CLUSTER_ROLE, "rules.0.verbs", ["list"])),
    "cluster-role-binding": life(BINDING, CLUSTER_BINDING, labelled(CLUSTER_BINDING)),
    "service": life(SERVICE, SKIPPED_SERVICE, changed(SKIPPED_SERVICE, "spec.ports.0.port", 12346)),
    "storage-class": life(STORAGE_CLASS, CLASS, labelled(CLASS)),
    "namespace": life("kubernetes:core/v1:Namespace", NAMESPACE, labelled(NAMESPACE)),
    "secret": life("kubernetes:core/v1:Secret", SECRET, labelled(SECRET)),
    "exists": an_object_that_exists,
    "renamed": another_name_or_namespace,
    "aws-auth": aws_auth_without_data,
    "patch": a_patch_of_an_object_of_others,
    "patch-of-nothing": a_patch_of_nothing,
    "conflict": a_field_that_others_took_over,
    "changed-by-others": an_object_that_others_changed,
    "deleted-by-others": an_object_that_others_deleted,
    "import": an_import,
    "made-unheard": an_object_that_was_made_unheard,
    "daemon-set": a_daemon_set_without_nodes,
    "daemon-set-on-a-node": a_daemon_set_on_a_node,
    "daemon-set-time-out": a_daemon_set_that_does_not_run,
    "deployment": a_deployment,
    "deployment-time-out": a_deployment_without_nodes,
    "volume-and-claim": a_volume_and_its_claim,
    "unknown-field": a_field_that_does_not_exist,
    "refused": what_the_api_server_refuses,
    "fixed-by-the-api": a_binding_to_another_role,
    "unreachable": a_cluster_that_is_gone,
}
"""Cases by name, which is also the name of the recording's file."""
