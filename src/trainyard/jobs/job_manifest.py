"""The jobs of a Kubernetes manifest that the renderers of this package made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from trainyard.jobs.job_set import JOB, JOB_SET, job_name_in


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


def manifests_of(text: str) -> list[JobManifest]:
    """Return the Jobs and JobSets of a manifest, each with the objects that have its name."""
    documents: list[dict[str, Any]] = [each for each in yaml.safe_load_all(text) if each]
    jobs = [each for each in documents if each["kind"] in (JOB, JOB_SET)]
    others = [each for each in documents if each not in jobs]
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
