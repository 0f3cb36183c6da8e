"""The inputs of the cases: objects as the program defines them, and changes of them.

The arguments are those of `components/runtime`, `components/storage` and `components/eks`, reduced
to what a provider treats differently.
"""

from __future__ import annotations

import copy
from typing import Any

from tools.conformance.kubernetes.plugin import Values

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
