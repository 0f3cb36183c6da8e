"""Programs of `run` as each scheduler gets them, with the time limit that they ask for."""

from __future__ import annotations

from typing import Any

import yaml

from trainyard.components.batch.plan import BatchPlan
from trainyard.components.eks.plan import EksPlan
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.jobs import batch_training, eks_training
from trainyard.jobs.batch_request import BatchRequest, BatchSubmission
from trainyard.jobs.job_manifest import JobManifest, Manifest
from trainyard.jobs.nodes import JobRequest
from trainyard.jobs.slurm import training as slurm_training
from trainyard.jobs.slurm.directory import JobDirectory
from trainyard.jobs.slurm.nodes import SlurmNodes, SlurmRequest
from trainyard.jobs.time_limit import TimeLimit
from trainyard.jobs.training import TrainingRequest


def limit_of(request: TrainingRequest) -> TimeLimit:
    """Return the limit that a program asks for."""
    return TimeLimit(minutes=request.time_limit_minutes, stops_at=request.stops_at)


def render_training(plan: EksPlan, request: TrainingRequest, job: JobRequest) -> str:
    """Return the manifest of a program."""
    return eks_training.plan_training(plan, request, job).manifest(limit_of(request)).text


def render_training_directory(
    plan: ParallelClusterPlan, request: TrainingRequest, slurm: SlurmRequest
) -> tuple[JobDirectory, SlurmNodes]:
    """Return the scripts of a program, and its nodes."""
    planned = slurm_training.plan_training(plan, request, slurm)
    return planned.directory(limit_of(request)), planned.nodes


def training_submission(
    plan: BatchPlan, request: TrainingRequest, asked: BatchRequest
) -> BatchSubmission:
    """Return the submission of a program."""
    return batch_training.plan_training(plan, request, asked).submission(limit_of(request))


def manifests_of(text: str) -> list[JobManifest]:
    """Return the jobs of a manifest as `kubectl` reads it."""
    documents: list[dict[str, Any]] = [each for each in yaml.safe_load_all(text) if each]
    return Manifest(documents=documents).jobs
