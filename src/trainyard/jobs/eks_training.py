"""`run` for EKS: an indexed Job or a JobSet with one pod per node, which keeps its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from trainyard.components.catalog.open_mpi import OPEN_MPI_ENVIRONMENT, mpirun_script
from trainyard.components.eks.addons.jobset import JOBSET
from trainyard.components.eks.plan import EksPlan
from trainyard.jobs.job_manifest import Manifest, pod_host, services, submitted
from trainyard.jobs.mpi import (
    FILES,
    MpiJob,
    config_map_data,
    files_volume,
    render_mpi_job,
    secret_variables,
)
from trainyard.jobs.node_versions import LOCKED_MEMORY
from trainyard.jobs.nodes import (
    JobError,
    JobNodes,
    JobRequest,
    choose_nodes,
    placement,
    resources,
    rights,
    shared_memory,
)
from trainyard.jobs.secret_source import KubernetesKey, keys_in_kubernetes
from trainyard.jobs.start import limit_environment, limit_of_mpi, start_command
from trainyard.jobs.time_limit import GRACE_SECONDS, TIMED_OUT, TimeLimit
from trainyard.jobs.training import (
    INFRASTRUCTURE_RETRIES,
    MASTER_ADDRESS,
    NODE_RANK,
    PORT,
    TrainingRequest,
    launch_command,
    node_environment,
    processes_of,
    rendezvous,
    require_shared,
    require_storage,
    require_torchrun,
)

# Which failed pods of a training job are replaced: faults of nodes, but not errors of the program.
#
# | The pod | without restarts | with restarts |
# |---|---|---|
# | lost its node (`DisruptionTarget`) | 1 node: replaced; more: the job fails | replaced |
# | never started | replaced, limited | replaced, limited |
# | ended at its time limit | the job fails | the job fails |
# | ended with another exit code | the job fails | 1 node: the job fails; more: replaced, limited |
#
# A pod does not start if a device is lost: the kubelet rejects it (`UnexpectedAdmissionError`), or
# containerd cannot create its container (`StartError`). Without restarts, a job on several nodes
# fails with the first node that it loses, because its other processes cannot go on. With restarts,
# torchrun has used all of them when it ends with an exit code; on several nodes, the reason can be
# another node.
#
# The pods of a JobSet are never replaced one by one. The JobSet starts all of them again:
#
# | The Job of the JobSet has failed | without restarts | with restarts |
# |---|---|---|
# | because a pod lost its node | all pods start again | all pods start again |
# | because a pod never started, several times | the job fails | all pods start again, limited |
# | because a program ended with an exit code | the job fails | all pods start again, limited |
# | at its time limit | the job fails | the job fails |
#
# Source:
#     https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy
#     https://kubernetes.io/docs/concepts/workloads/controllers/job/#backoff-limit-per-index
#     https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-replacement-policy
#     https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions
#     https://github.com/containerd/containerd/blob/v2.1.4/internal/cri/server/container_start.go:
#         `errorStartExitCode`
#     https://github.com/kubernetes-sigs/jobset/blob/v0.12.0/api/jobset/v1alpha2/jobset_types.go:
#         `FailurePolicy`, whose rules match the reason and the message of the Job's failure
#     https://github.com/kubernetes/kubernetes/blob/v1.36.4/pkg/controller/job/pod_failure_policy.go:
#         the messages: `Pod %s/%s has condition %v matching %v rule at index %d`, and
#         `Container %s for pod %s/%s failed with exit code %v matching %v rule at index %d`


PROGRAM = "program"
"""Name of the container."""
_NOT_STARTED = 128
"""Exit code of a container that containerd could not start, for example without its devices."""
_LOST_NODE = [{"type": "DisruptionTarget"}]
_LATE = {
    "action": "FailJob",
    "onExitCodes": {"containerName": PROGRAM, "operator": "In", "values": [TIMED_OUT]},
}
_EXITED = {"containerName": PROGRAM, "operator": "NotIn", "values": [_NOT_STARTED]}
"""Any other exit code than 0, with which a container has not failed."""


def pod_failures(request: TrainingRequest, nodes: JobNodes) -> dict[str, Any]:
    """Return the fields of the spec of a Job that decide what the failure of a pod means.

    What no rule matches counts against the limit: a pod that was rejected has no exit code and no
    condition.

    Args:
        request: The program.
        nodes: Its nodes.
    """
    restarts, least = request.restarts, request.minimum_nodes
    replaces = nodes.count == 1 and nodes.failure_policy is None
    replaced = {"action": "Ignore", "onPodConditions": _LOST_NODE}
    if not restarts:
        lost = replaced if replaces else {**replaced, "action": "FailJob"}
        limits: dict[str, Any] = {"backoffLimit": INFRASTRUCTURE_RETRIES}
        rules = [lost, _LATE, {"action": "FailJob", "onExitCodes": _EXITED}]
    else:
        limits = {"backoffLimitPerIndex": restarts, "maxFailedIndexes": 0}
        rules = [replaced, _LATE]
        if replaces:
            rules.append({"action": "FailIndex", "onExitCodes": _EXITED})
    return {
        **limits,
        "podFailurePolicy": {"rules": rules},
        # A new pod needs the devices of the previous one, and its checkpoint.
        "podReplacementPolicy": "Failed",
        # Pods of nodes that do not come back stay pending when the program has ended.
        **({"successPolicy": {"rules": [{"succeededCount": least}]}} if least else {}),
    }


def job_set_failures(request: TrainingRequest) -> dict[str, Any]:
    """Return the failure policy of a JobSet, whose Job has the fields of `pod_failures`.

    Without a matching rule, it starts all pods again within the limit.
    """
    failed_by_pod = {"onJobFailureReasons": ["PodFailurePolicy"]}
    lost = {
        "name": "lostNode",
        "action": "RestartJobSetAndIgnoreMaxRestarts",
        **failed_by_pod,
        "onJobFailureMessagePatterns": ["has condition DisruptionTarget matching"],
    }
    late = {
        "name": "timeLimit",
        "action": "FailJobSet",
        **failed_by_pod,
        "onJobFailureMessagePatterns": [f"failed with exit code {TIMED_OUT} matching"],
    }
    exited = {"name": "program", "action": "FailJobSet", **failed_by_pod}
    return {
        "maxRestarts": request.restarts,
        "rules": [lost, late, *([] if request.restarts else [exited])],
    }


# `run` for EKS: an indexed Job or a JobSet with one pod per node, which know their addresses.
#
# Source:
#     https://kubernetes.io/docs/tasks/job/job-with-pod-to-pod-communication/
#     https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-termination-and-cleanup:
#         `activeDeadlineSeconds` counts from the start of the Job, which a queue resets, and every
#         start of a JobSet is another Job; therefore the pods themselves end in time


_SHARE = 0.85
"""Share of CPUs and memory of a node that the pod requests; the rest is for the kubelet and
DaemonSets. https://github.com/awslabs/amazon-eks-ami/blob/main/nodeadm/internal/kubelet/config.go
reserves 11 MiB per pod and 255 MiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesTraining:
    """A program on a node group whose nodes can run it."""

    request: TrainingRequest
    nodes: JobNodes
    namespace: str
    mounts: Mapping[str, str]
    """Paths of the file systems, by claim."""
    secrets: Mapping[str, KubernetesKey]
    """Keys of Secrets, by variable."""

    def manifest(self, limit: TimeLimit) -> Manifest:
        """Return the manifest of the program with a time limit."""
        request, nodes = self.request.limited(limit), self.nodes
        if request.launcher == "mpi":
            job = _mpi_job(request, nodes, self.mounts, self.secrets)
            return render_mpi_job(job, nodes, self.namespace)
        metadata = {
            "name": request.name,
            "namespace": self.namespace,
            "labels": {"app.kubernetes.io/name": request.name},
        }
        files = [_config_map(request, metadata)] if request.files else []
        container = _container(request, nodes, self.mounts, self.secrets)
        job = _job(request, nodes, container, self.mounts, metadata)
        return Manifest(
            documents=[
                *services(metadata, nodes, "rendezvous", PORT),
                *files,
                submitted(job, nodes),
            ]
        )


def plan_training(plan: EksPlan, request: TrainingRequest, job: JobRequest) -> KubernetesTraining:
    """Return a program on a node group with accelerators.

    Args:
        plan: Plan of the stack.
        request: The program.
        job: Node group, number of nodes and namespace.

    Raises:
        JobError: no image, or the stack has no such nodes, or too few.
    """
    image = request.image_in_registry("EKS")
    if image is None:
        raise JobError("a pod needs a container image; name one with --image")
    request = replace(request, image=image.name)
    nodes = choose_nodes(plan, None, job, own_image=True)
    if JOBSET.name in plan.self_managed_addons and request.minimum_nodes is None:
        # torchrun does not start its processes again: JobSet starts those of all nodes again.
        nodes = replace(nodes, failure_policy=job_set_failures(request))
        request = replace(request, restarts=0)
    require_torchrun(request, "install `addons.jobset`, which restarts all pods together")
    if (request.minimum_nodes or 0) > nodes.count:
        raise JobError(
            f"`minimum_nodes` is {request.minimum_nodes}, but the job has {nodes.count} nodes"
        )
    mounts = _mounts(plan, request, job.namespace)
    require_shared(request, mounts.values())
    if request.launcher == "mpi" and "authorized_keys" in request.files:
        raise JobError("the job has its own authorized_keys; rename yours in `files`")
    return KubernetesTraining(
        request=request,
        nodes=nodes,
        namespace=job.namespace,
        mounts=mounts,
        secrets=keys_in_kubernetes(request.secrets),
    )


def _config_map(request: TrainingRequest, metadata: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {**metadata, "labels": {**metadata["labels"]}},
        "data": config_map_data(request.files),
    }


def _mpi_job(
    request: TrainingRequest,
    nodes: JobNodes,
    mounts: Mapping[str, str],
    secrets: Mapping[str, KubernetesKey],
) -> MpiJob:
    """Return a job whose first pod starts one process per accelerator of all pods."""
    processes = processes_of(nodes.accelerators, nodes.accelerators.count)
    environment = {
        # Pod names cannot be resolved without their domain.
        "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
        **OPEN_MPI_ENVIRONMENT,
        MASTER_ADDRESS[0]: pod_host(request.name, nodes, 0),
        **_same_environment(request, nodes),
    }
    limit, prefix = limit_of_mpi(request)
    command = limit + mpirun_script(
        launch_command(request),
        ranks=str(nodes.count * processes),
        processes=processes,
        hosts='"${hosts[@]}"',
        variables=[
            *(name for name in environment if not name.startswith("OMPI_")),
            *request.secrets,
        ],
        grace_seconds=GRACE_SECONDS,
        prefix=prefix,
    )
    return MpiJob(
        job=PROGRAM,
        name=request.name,
        image=request.image or "",
        command=command,
        environment={**environment, **limit_environment(request)},
        secrets=secrets,
        session_environment=["PATH", "LD_LIBRARY_PATH", "OPAL_PREFIX"],
        share=_SHARE,
        limits=pod_failures(request, nodes),
        grace_seconds=GRACE_SECONDS,
        mounts=mounts,
        files=request.files,
    )


def _job(
    request: TrainingRequest,
    nodes: JobNodes,
    container: Mapping[str, Any],
    mounts: Mapping[str, str],
    metadata: dict[str, Any],
) -> dict[str, Any]:
    files = files_volume(request.files, request.name)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {
            "completionMode": "Indexed",
            "completions": nodes.count,
            "parallelism": nodes.count,
            **pod_failures(request, nodes),
            "template": {
                "metadata": {"labels": {**metadata["labels"]}},
                "spec": {
                    "restartPolicy": "Never",
                    "subdomain": metadata["name"],
                    "terminationGracePeriodSeconds": GRACE_SECONDS,
                    **placement(nodes),
                    "containers": [container],
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
    request: TrainingRequest,
    nodes: JobNodes,
    mounts: Mapping[str, str],
    secrets: Mapping[str, KubernetesKey],
) -> dict[str, Any]:
    paths = [{"name": name, "mountPath": path} for name, path in mounts.items()]
    files = [{"name": "files", "mountPath": FILES}] if request.files else []
    return {
        "name": PROGRAM,
        "image": request.image,
        "command": start_command(request, LOCKED_MEMORY),
        **({"workingDir": FILES} if request.files else {}),
        "env": [*_environment(request, nodes), *secret_variables(secrets)],
        "securityContext": rights(),
        "resources": resources(nodes, _SHARE),
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}, *paths, *files],  # noqa: S108 - in the container
    }


def _environment(request: TrainingRequest, nodes: JobNodes) -> Iterator[dict[str, Any]]:
    index = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
    for name in NODE_RANK:
        yield {"name": name, "valueFrom": {"fieldRef": {"fieldPath": index}}}
    first = pod_host(request.name, nodes, 0)
    for name in MASTER_ADDRESS:
        yield {"name": name, "value": first}
    found = {
        **rendezvous(request, first),
        **_same_environment(request, nodes),
        **limit_environment(request),
    }
    yield from ({"name": name, "value": value} for name, value in found.items())


def _same_environment(request: TrainingRequest, nodes: JobNodes) -> dict[str, str]:
    return node_environment(
        request,
        nodes.accelerators,
        devices=nodes.accelerators.count,
        nodes=nodes.count,
        efa_interfaces=nodes.efa_interfaces,
    )
