"""The jobs of a Kubernetes manifest that the renderers of this package made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml


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
    def pods(self) -> int:
        """Number of its pods."""
        return self.job["spec"]["completions"]

    @property
    def has_leader(self) -> bool:
        """Whether the pods form one program, whose first pod has the log with the result.

        Such pods have names in DNS:
        https://kubernetes.io/docs/tasks/job/job-with-pod-to-pod-communication/
        """
        return "subdomain" in self.job["spec"]["template"]["spec"]

    @property
    def pod_selector(self) -> str:
        """Label selector of its pods.

        https://kubernetes.io/docs/reference/labels-annotations-taints/#batch-kubernetes-io-job-name
        """
        return f"batch.kubernetes.io/job-name={self.name}"

    @property
    def kubectl_name(self) -> str:
        """Namespace and name as arguments of `kubectl`."""
        return f"-n {self.namespace} job {self.name}"


def manifests_of(text: str) -> list[JobManifest]:
    """Return the jobs of a manifest, each with the objects that have its name."""
    documents: list[dict[str, Any]] = [each for each in yaml.safe_load_all(text) if each]
    jobs = [each for each in documents if each["kind"] == "Job"]
    others = [each for each in documents if each["kind"] != "Job"]
    return [
        JobManifest(job, tuple(each for each in others if _name(each) == _name(job)))
        for job in jobs
    ]


def _name(document: Mapping[str, Any]) -> str:
    return document["metadata"]["name"]
