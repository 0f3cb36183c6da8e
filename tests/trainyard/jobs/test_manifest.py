"""What is submitted of a manifest is what `kubectl` reads in its text."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml

from tests.support.eks import P5, SHARED_LUSTRE, eks_plan
from tests.trainyard.jobs.test_images import TRN1
from trainyard.components.eks.addons.jobset import JOBSET
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.jobs.dcgm_diag import render_dcgm_diag
from trainyard.jobs.efa_smoke import render_efa_smoke
from trainyard.jobs.eks_training import plan_training
from trainyard.jobs.job_manifest import Manifest
from trainyard.jobs.nccl import render_nccl_pairs, render_nccl_tests
from trainyard.jobs.nccom import render_nccom_pairs, render_nccom_tests
from trainyard.jobs.nodes import JobRequest
from trainyard.jobs.secret_source import KubernetesKey
from trainyard.jobs.time_limit import TimeLimit
from trainyard.jobs.training import TrainingRequest
from trainyard.schedulers.kubernetes.job_plan import Renderer

LIMIT = TimeLimit(minutes=90, stops_at=datetime(2026, 12, 1, tzinfo=UTC))


def assert_is_as_printed(manifest: Manifest) -> None:
    printed = [*yaml.safe_load_all(manifest.text)]
    assert printed == json.loads(json.dumps(manifest.documents))
    jobs = [each for each in printed if each["kind"] in ("Job", "JobSet")]
    assert json.loads(json.dumps([each.job for each in manifest.jobs])) == jobs
    submitted = sum(1 + len(each.others) for each in manifest.jobs)
    assert submitted == len(printed), "every object belongs to one job"


@pytest.mark.parametrize(
    ("nodes", "render"),
    [
        *((P5, each) for each in (render_nccl_tests, render_nccl_pairs)),
        *((P5, each) for each in (render_efa_smoke, render_dcgm_diag)),
        *((TRN1, each) for each in (render_nccom_tests, render_nccom_pairs)),
    ],
)
def test_a_test_is_submitted_as_it_is_printed(nodes: NodeGroupPlan, render: Renderer) -> None:
    assert_is_as_printed(render(eks_plan(nodes), JobRequest()))


@pytest.mark.parametrize("launcher", ["torchrun", "mpi", "none"])
@pytest.mark.parametrize("addons", [{}, {"self_managed_addons": ("efa", JOBSET.name)}])
def test_a_program_is_submitted_as_it_is_printed(launcher: Any, addons: dict[str, Any]) -> None:
    plan = eks_plan(P5, file_systems=(SHARED_LUSTRE,), **addons)
    request = TrainingRequest(
        command=("train.py",),
        image="pytorch/pytorch:2.11.0",
        launcher=launcher,
        files={"train.py": "print('1: 2')\n"},
        environment={"LR": "0.1", "YES": "yes"},
        secrets={"TOKEN": KubernetesKey("wandb", "token")},
    )
    planned = plan_training(plan, request, JobRequest(nodes=2))
    assert_is_as_printed(planned.manifest(LIMIT))
    assert planned.manifest(LIMIT).text != planned.manifest(TimeLimit(minutes=None)).text
