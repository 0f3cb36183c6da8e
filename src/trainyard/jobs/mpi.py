"""A job that runs an MPI command over several nodes, without components in the cluster.

An indexed Job with one pod per node and a headless Service for their names. Every pod runs an SSH
server. Pod 0 also runs the command, which connects to the others over SSH; when it ends, the job is
complete. Pod 0 generates the SSH key and publishes the public key in a ConfigMap, the only object
that its service account may change. The manifest contains no secret, and no one else can log in.

Source:
    https://kubernetes.io/docs/tasks/job/job-with-pod-to-pod-communication/
    https://kubernetes.io/docs/concepts/workloads/controllers/job/#success-policy
    https://www.open-mpi.org/doc/v4.1/man1/mpirun.1.php
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainyard.jobs.job_manifest import Manifest, pod_host, pod_selector, services, submitted
from trainyard.jobs.nodes import (
    TEST_SHARE,
    JobNodes,
    job_name,
    placement,
    resources,
    rights,
    shared_memory,
)
from trainyard.jobs.secret_source import KubernetesKey

KEYS = "/etc/trainyard"
"""Mount path of the ConfigMap with the public key."""
DEADLINE_SECONDS = 3600
"""Deadline of the job, for example if nodes are missing."""
FILES = "/opt/trainyard/job"
"""Working directory of a program with files."""
_LIMITS = {"backoffLimit": 0, "activeDeadlineSeconds": DEADLINE_SECONDS}

# The host keys in the image are public, so new ones are generated. SSH sessions do not inherit the
# container's environment; their variables must be listed.
_SERVE = f"""\
mkdir -p /run/sshd /root/.ssh
printf 'Host *\\nStrictHostKeyChecking no\\nUserKnownHostsFile /dev/null\\nLogLevel ERROR\\n' \\
  > /root/.ssh/config
ssh-keygen -q -t ed25519 -N '' -f /run/sshd/host_key
/usr/sbin/sshd -h /run/sshd/host_key -o AuthorizedKeysFile={KEYS}/authorized_keys \\
  -o StrictModes=no -o PermitRootLogin=prohibit-password -o PasswordAuthentication=no \\
  -o "SetEnv @environment@"
if [ "$JOB_COMPLETION_INDEX" != 0 ]; then
  # mpirun ends the programs first, which may write a checkpoint.
  trap 'while grep -qsxE "orted|prted" /proc/[0-9]*/comm; do sleep 1; done; exit 0' TERM
  sleep infinity & wait
fi
"""
_CONNECT = """\
trap 'exit 143' TERM
ssh-keygen -q -t ed25519 -N '' -C @name@ -f /root/.ssh/id_ed25519
account=/var/run/secrets/kubernetes.io/serviceaccount
curl --fail --silent --show-error --retry 5 --output /dev/null --cacert "$account/ca.crt" \\
  --header "Authorization: Bearer $(cat "$account/token")" --request PATCH \\
  --header 'Content-Type: application/merge-patch+json' \\
  --data "{\\"data\\": {\\"authorized_keys\\": \\"$(cat /root/.ssh/id_ed25519.pub)\\"}}" \\
  "https://kubernetes.default.svc/api/v1/namespaces/$(cat "$account/namespace")/configmaps/@name@"
hosts=()
for index in $(seq 0 $((@nodes@ - 1))); do
  host="@host@"
  until ssh -o BatchMode=yes -o ConnectTimeout=5 "$host" true 2> /dev/null; do
    echo "waiting for $host"
    sleep 5
  done
  hosts+=("$host")
done
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MpiJob:
    """The parameters of an MPI job."""

    job: str
    """Such as `nccl-tests`."""
    image: str
    """An image with bash, curl, SSH client and server, and Open MPI."""
    prepare: str = ""
    """Shell commands that every pod runs first."""
    command: str
    """Shell commands of pod 0, once all pods are reachable; `hosts` is an array of their names."""
    environment: Mapping[str, str]
    """Environment variables of the containers."""
    secrets: Mapping[str, KubernetesKey] = field(default_factory=dict[str, KubernetesKey])
    """More environment variables: keys of Secrets in the namespace, by name."""
    session_environment: Sequence[str]
    """Names of variables that commands over SSH also get."""
    pod_fields: Mapping[str, str] = field(default_factory=dict[str, str])
    """More environment variables: paths of fields of the pod, by name."""
    scheduler: str | None = None
    """Name of the scheduler; None for the default scheduler."""
    name: str | None = None
    """Name of the objects; None for that of the job and the node group."""
    share: float = TEST_SHARE
    """Share of CPUs and memory of a node that a pod requests."""
    limits: Mapping[str, Any] = field(default_factory=lambda: dict(_LIMITS))
    """Fields of the spec of the Job that end it: time limit and failures."""
    grace_seconds: int | None = None
    """Time of a pod between SIGTERM and SIGKILL; None for that of Kubernetes."""
    mounts: Mapping[str, str] = field(default_factory=dict[str, str])
    """Paths of volumes in the container, by claim."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Files in the working directory of the command: content by name."""


def render_mpi_job(job: MpiJob, nodes: JobNodes, namespace: str) -> Manifest:
    """Return the manifest: the job, the service, and the permission to publish the key."""
    name = job.name or job_name(job.job, nodes)
    labels = {
        "app.kubernetes.io/name": job.name or job.job,
        "app.kubernetes.io/instance": nodes.group.name,
    }
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    documents = [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata},
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": metadata,
            **({"data": config_map_data(job.files)} if job.files else {}),
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "metadata": metadata,
            "rules": [
                {
                    "apiGroups": [""],
                    "resources": ["configmaps"],
                    "resourceNames": [name],
                    "verbs": ["patch"],
                }
            ],
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
        },
        *services(metadata, nodes, "ssh", 22),
        submitted(_job(job, nodes, metadata), nodes),
    ]
    return Manifest(documents=documents, usage=_usage(name, nodes, namespace))


def secret_variables(secrets: Mapping[str, KubernetesKey]) -> Iterator[dict[str, Any]]:
    """Yield the variables of a container whose values are in Secrets.

    https://kubernetes.io/docs/tasks/inject-data-application/distribute-credentials-secure/
    """
    for name, each in secrets.items():
        key = {"name": each.name, "key": each.key}
        yield {"name": name, "valueFrom": {"secretKeyRef": key}}


def config_map_data(files: Mapping[str, str]) -> dict[str, str]:
    """Return the data of the ConfigMap of a job: content by key.

    https://kubernetes.io/docs/concepts/configuration/configmap/#configmap-object: a key has
    letters, digits, `-`, `_` and `.`, so that a path with `/` cannot be one
    """
    return {_key(path): content for path, content in files.items()}


def files_volume(files: Mapping[str, str], name: str, *, only: bool = False) -> dict[str, Any]:
    """Return the volume with the files of a job, each at its path.

    Args:
        files: Content by path.
        name: Name of the ConfigMap.
        only: Whether the ConfigMap has other keys, which are no files.
    """
    if not only and not any("/" in path for path in files):
        return {"name": "files", "configMap": {"name": name}}
    items = [{"key": _key(path), "path": path} for path in files]
    return {"name": "files", "configMap": {"name": name, "items": items}}


def _key(path: str) -> str:
    return path.replace("/", "..")  # no path of a job contains two dots


def _usage(name: str, nodes: JobNodes, namespace: str) -> str:
    labels = {**pod_selector(name, nodes), "batch.kubernetes.io/job-completion-index": "0"}
    first_pod = ",".join(f"{label}={value}" for label, value in labels.items())
    return (
        "# Start it:         kubectl apply -f FILE\n"
        f"# Read the figures: kubectl logs -n {namespace} -f --tail=-1 -l {first_pod}\n"
        "# Remove all of it: kubectl delete -f FILE\n"
    )


def _job(job: MpiJob, nodes: JobNodes, metadata: Mapping[str, Any]) -> dict[str, Any]:
    name = metadata["name"]
    scheduler = {"schedulerName": job.scheduler} if job.scheduler else {}
    grace = {"terminationGracePeriodSeconds": job.grace_seconds} if job.grace_seconds else {}
    claims = [
        {"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in job.mounts
    ]
    pod = {
        "restartPolicy": "Never",
        "serviceAccountName": name,
        "subdomain": name,
        **grace,
        **scheduler,
        **placement(nodes),
        "containers": [_container(job, nodes, name)],
        "volumes": [
            shared_memory(nodes, job.share),
            {"name": "keys", "configMap": {"name": name}},
            *claims,
            *([files_volume(job.files, name, only=True)] if job.files else []),
        ],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": dict(metadata),
        "spec": {
            "completionMode": "Indexed",
            "completions": nodes.count,
            "parallelism": nodes.count,
            **job.limits,
            "successPolicy": {"rules": [{"succeededIndexes": "0"}]},
            "template": {"metadata": {"labels": metadata["labels"]}, "spec": pod},
        },
    }


def _container(job: MpiJob, nodes: JobNodes, name: str) -> dict[str, Any]:
    return {
        "name": job.job,
        "image": job.image,
        "command": ["/bin/bash", "-c", _script(job, nodes, name)],
        **({"workingDir": FILES} if job.files else {}),
        "env": [
            *({"name": key, "value": value} for key, value in job.environment.items()),
            *(
                {"name": key, "valueFrom": {"fieldRef": {"fieldPath": path}}}
                for key, path in job.pod_fields.items()
            ),
            *secret_variables(job.secrets),
        ],
        "securityContext": rights(),
        "resources": resources(nodes, job.share),
        "volumeMounts": [
            {"name": "shm", "mountPath": "/dev/shm"},  # noqa: S108 - in the container
            {"name": "keys", "mountPath": KEYS},
            *({"name": claim, "mountPath": path} for claim, path in job.mounts.items()),
            *([{"name": "files", "mountPath": FILES}] if job.files else []),
        ],
    }


def _script(job: MpiJob, nodes: JobNodes, name: str) -> str:
    script = "".join(["set -euo pipefail\n", job.prepare, _SERVE, _CONNECT, job.command])
    environment = " ".join(f"{key}=${{{key}:-}}" for key in job.session_environment)
    host = pod_host(name, nodes, "$index")
    values = {"name": name, "host": host, "nodes": str(nodes.count), "environment": environment}
    for key, value in values.items():
        script = script.replace(f"@{key}@", value)
    return script
