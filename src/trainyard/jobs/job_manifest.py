"""A manifest of Kubernetes and its jobs: Jobs and JobSets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from trainyard.components.catalog.kueue import JOBSET_API, JOBSET_GROUP, QUEUE_LABEL
from trainyard.jobs.nodes import JobNodes


class _Dumper(yaml.SafeDumper):
    """Writes scripts as block scalars, without anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


# A job as Kubernetes runs it: an indexed Job of its own, or the only Job of a JobSet.
#
# Both have one pod for each node, with a name in DNS. An indexed Job needs a headless Service for
# that; JobSet makes it, and starts all pods again together.
#
# Source:
#     https://kubernetes.io/docs/tasks/job/job-with-pod-to-pod-communication/
#     https://github.com/kubernetes-sigs/jobset/blob/v0.12.0/api/jobset/v1alpha2/jobset_types.go:
#         names of Jobs (`ReplicatedJob.Replicas`), names of pods (`Network.EnableDNSHostnames`)


JOB, JOB_SET = "Job", "JobSet"
_GROUP = "nodes"
"""Name of the group of Jobs in a JobSet, which has one Job."""


def job_name_in(kind: str, name: str) -> str:
    """Return the name of the Job that has the pods.

    Args:
        kind: `Job` or `JobSet`.
        name: The name of that object.
    """
    return f"{name}-{_GROUP}-0" if kind == JOB_SET else name


def pod_host(name: str, nodes: JobNodes, index: int | str) -> str:
    """Return the name of a pod in DNS.

    Args:
        name: Name of the job.
        nodes: Its nodes.
        index: Completion index of the pod, or a variable of a script with it.
    """
    return f"{_job_name(name, nodes)}-{index}.{name}"


def pod_selector(name: str, nodes: JobNodes) -> dict[str, str]:
    """Return the labels of the pods of a job.

    https://kubernetes.io/docs/reference/labels-annotations-taints/#batch-kubernetes-io-job-name
    """
    return {"batch.kubernetes.io/job-name": _job_name(name, nodes)}


def _job_name(name: str, nodes: JobNodes) -> str:
    return job_name_in(JOB if nodes.failure_policy is None else JOB_SET, name)


def services(
    metadata: Mapping[str, Any], nodes: JobNodes, port_name: str, port: int
) -> list[dict[str, Any]]:
    """Return the headless Service for the names of the pods; empty if JobSet makes it."""
    if nodes.failure_policy is not None:
        return []
    return [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {**metadata, "labels": {**metadata["labels"]}},
            "spec": {
                "clusterIP": "None",
                # Pods look for each other before they are ready.
                "publishNotReadyAddresses": True,
                "selector": pod_selector(metadata["name"], nodes),
                "ports": [{"name": port_name, "port": port}],
            },
        }
    ]


def submitted(job: Mapping[str, Any], nodes: JobNodes) -> dict[str, Any]:
    """Return what is submitted for a Job: itself or its JobSet, suspended if a queue starts it.

    https://kueue.sigs.k8s.io/docs/tasks/run/jobs/ and
    https://kueue.sigs.k8s.io/docs/tasks/run/jobsets/
    """
    made = {**job}
    if nodes.failure_policy is not None:
        made = {
            "apiVersion": f"{JOBSET_GROUP}/{JOBSET_API}",
            "kind": JOB_SET,
            "metadata": job["metadata"],
            "spec": {
                "failurePolicy": nodes.failure_policy,
                "replicatedJobs": [
                    {"name": _GROUP, "replicas": 1, "template": {"spec": job["spec"]}}
                ],
            },
        }
    if nodes.queue is None:
        return made
    labels = {**made["metadata"].get("labels", {}), QUEUE_LABEL: nodes.queue}
    return {
        **made,
        "metadata": {**made["metadata"], "labels": labels},
        "spec": {"suspend": True, **made["spec"]},
    }


@dataclass(frozen=True, slots=True)
class JobManifest:
    """The objects of one job."""

    job: dict[str, Any]
    others: tuple[dict[str, Any], ...]

    @property
    def name(self) -> str:
        """Name of the job."""
        return _name(self.job)

    @property
    def namespace(self) -> str:
        """Namespace of the job."""
        return self.job["metadata"]["namespace"]

    @property
    def kind(self) -> str:
        """`Job` or `JobSet`."""
        return self.job["kind"]

    @property
    def pods(self) -> int:
        """Number of its pods."""
        return spec_of_job(self.job)["completions"]

    @property
    def secret_keys(self) -> set[tuple[str, str]]:
        """Names of Secrets and of their keys, which the variables of its containers have."""
        containers = spec_of_job(self.job)["template"]["spec"]["containers"]
        listed = [each for container in containers for each in container.get("env") or ()]
        found = [(each.get("valueFrom") or {}).get("secretKeyRef") for each in listed]
        return {(each["name"], each["key"]) for each in found if each}

    @property
    def has_leader(self) -> bool:
        """Whether the pods form one program, whose first pod has the log with the result.

        Such pods have names in DNS:
        https://kubernetes.io/docs/tasks/job/job-with-pod-to-pod-communication/
        """
        return "subdomain" in spec_of_job(self.job)["template"]["spec"]

    @property
    def pod_selector(self) -> str:
        """Label selector of its pods.

        https://kubernetes.io/docs/reference/labels-annotations-taints/#batch-kubernetes-io-job-name
        """
        return f"batch.kubernetes.io/job-name={job_name_in(self.kind, self.name)}"


def kubectl_name(kind: str, namespace: str, name: str) -> str:
    """Return the name of a Job or a JobSet as arguments of `kubectl`."""
    return f"-n {namespace} {kind.lower()} {name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The objects of one or several jobs, as they are printed and submitted."""

    documents: Sequence[dict[str, Any]]
    usage: str = ""
    """Comments that precede the objects."""
    is_plain: bool = False
    """Whether scripts are written as flow scalars, without a limit of 100 columns."""

    @property
    def text(self) -> str:
        """The manifest as YAML, for `kubectl apply -f -`."""
        if self.is_plain:
            return yaml.safe_dump_all(self.documents, sort_keys=False)
        return self.usage + yaml.dump_all(
            self.documents, Dumper=_Dumper, sort_keys=False, width=100, explicit_start=True
        )

    @property
    def jobs(self) -> list[JobManifest]:
        """The Jobs and JobSets, each with the objects that have its name."""
        jobs = [each for each in self.documents if each["kind"] in (JOB, JOB_SET)]
        others = [each for each in self.documents if each not in jobs]
        return [
            JobManifest(job, tuple(each for each in others if _name(each) == _name(job)))
            for job in jobs
        ]


def spec_of_job(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec of a Job, or of the Job in a JobSet."""
    if job["kind"] == JOB_SET:
        return job["spec"]["replicatedJobs"][0]["template"]["spec"]
    return job["spec"]


def _name(document: Mapping[str, Any]) -> str:
    return document["metadata"]["name"]
