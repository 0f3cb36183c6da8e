"""`run` for EKS: an indexed Job with one pod per node, and a headless Service for the addresses.

Source:
    https://kubernetes.io/docs/tasks/job/job-with-pod-to-pod-communication/
    https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-termination-and-cleanup:
        `activeDeadlineSeconds` ends all pods, and no pod is replaced
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from components.eks.plan import EksPlan
from tools.jobs.nodes import (
    JobError,
    JobNodes,
    JobRequest,
    choose_nodes,
    placement,
    resources,
    shared_memory,
)
from tools.jobs.pod_failures import PROGRAM, pod_failures
from tools.jobs.time_limit import GRACE_SECONDS
from tools.jobs.training import (
    MASTER_ADDRESS,
    NODE_RANK,
    PORT,
    TrainingRequest,
    launch_command,
    node_environment,
    rendezvous,
    require_shared,
    require_storage,
)

_SHARE = 0.85
"""Share of CPUs and memory of a node that the pod requests; the rest is for the kubelet and
DaemonSets. https://github.com/awslabs/amazon-eks-ami/blob/main/nodeadm/internal/kubelet/config.go
reserves 11 MiB per pod and 255 MiB."""
_FILES = "/opt/trainyard/job"
"""Working directory of a program with `files`."""


def render_training(plan: EksPlan, request: TrainingRequest, job: JobRequest) -> str:
    """Return the manifest of a program on a node group with accelerators.

    Args:
        plan: Plan of the stack.
        request: The program.
        job: Node group, number of nodes and namespace.

    Raises:
        JobError: no image, or the stack has no such nodes, or too few.
    """
    if request.image is None:
        raise JobError("a pod needs a container image; name one with --image")
    nodes = choose_nodes(plan, None, job, own_image=True)
    if (request.minimum_nodes or 0) > nodes.count:
        raise JobError(
            f"`minimum_nodes` is {request.minimum_nodes}, but the job has {nodes.count} nodes"
        )
    metadata = {
        "name": request.name,
        "namespace": job.namespace,
        "labels": {"app.kubernetes.io/name": request.name},
    }
    files = [_config_map(request, metadata)] if request.files else []
    return yaml.safe_dump_all(
        [_service(metadata), *files, _job(plan, request, nodes, metadata)], sort_keys=False
    )


def _config_map(request: TrainingRequest, metadata: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {**metadata, "labels": {**metadata["labels"]}},
        "data": dict(request.files),
    }


def _service(metadata: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {**metadata, "labels": {**metadata["labels"]}},
        "spec": {
            "clusterIP": "None",
            # Ranks look for each other before their pods are ready.
            "publishNotReadyAddresses": True,
            "selector": {"batch.kubernetes.io/job-name": metadata["name"]},
            "ports": [{"name": "rendezvous", "port": PORT}],
        },
    }


def _job(
    plan: EksPlan, request: TrainingRequest, nodes: JobNodes, metadata: dict[str, Any]
) -> dict[str, Any]:
    namespace = metadata["namespace"]
    mounts = _mounts(plan, request, namespace)
    require_shared(request, mounts.values())
    limit = request.time_limit_minutes
    files = {"name": "files", "configMap": {"name": request.name}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {
            "completionMode": "Indexed",
            "completions": nodes.count,
            "parallelism": nodes.count,
            **pod_failures(request, nodes.count),
            **({"activeDeadlineSeconds": limit * 60} if limit else {}),
            "template": {
                "metadata": {"labels": {**metadata["labels"]}},
                "spec": {
                    "restartPolicy": "Never",
                    "subdomain": metadata["name"],
                    "terminationGracePeriodSeconds": GRACE_SECONDS,
                    **placement(nodes),
                    "containers": [_container(request, nodes, mounts)],
                    "volumes": [
                        shared_memory(nodes, _SHARE),
                        *(
                            {"name": name, "persistentVolumeClaim": {"claimName": name}}
                            for name in mounts
                        ),
                        *([files] if request.files else []),
                    ],
                },
            },
        },
    }


def _mounts(plan: EksPlan, request: TrainingRequest, namespace: str) -> dict[str, str]:
    """Return the paths of all file systems in the namespace of the job, by claim."""
    here = {
        each.name: each.claim.name
        for each in plan.file_systems
        if each.claim.namespace == namespace
    }
    what = f"the file systems of {plan.name} in the namespace {namespace} are"
    require_storage(request, here, what)
    return {claim: request.mounts.get(name, f"/mnt/{claim}") for name, claim in here.items()}


def _container(
    request: TrainingRequest, nodes: JobNodes, mounts: Mapping[str, str]
) -> dict[str, Any]:
    paths = [{"name": name, "mountPath": path} for name, path in mounts.items()]
    files = [{"name": "files", "mountPath": _FILES}] if request.files else []
    return {
        "name": PROGRAM,
        "image": request.image,
        "command": launch_command(request),
        **({"workingDir": _FILES} if request.files else {}),
        "env": [*_environment(request, nodes)],
        "resources": resources(nodes, _SHARE),
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}, *paths, *files],  # noqa: S108 - in the container
    }


def _environment(request: TrainingRequest, nodes: JobNodes) -> Iterator[dict[str, Any]]:
    index = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
    for name in NODE_RANK:
        yield {"name": name, "valueFrom": {"fieldRef": {"fieldPath": index}}}
    for name in MASTER_ADDRESS:
        yield {"name": name, "value": f"{request.name}-0.{request.name}"}
    same = node_environment(
        request,
        nodes.accelerators,
        devices=nodes.accelerators.count,
        nodes=nodes.count,
        efa_interfaces=nodes.efa_interfaces,
    )
    found = {**rendezvous(request, f"{request.name}-0.{request.name}"), **same}
    yield from ({"name": name, "value": value} for name, value in found.items())
