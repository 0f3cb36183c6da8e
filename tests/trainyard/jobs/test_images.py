"""The images of all test jobs are looked up before a stack comes up."""

from __future__ import annotations

import re

import pytest

from tests.support.eks import eks_plan, nodes_of
from trainyard.components.eks.addons.registry import verification_images
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.jobs.dcgm_diag import render_dcgm_diag
from trainyard.jobs.efa_smoke import render_efa_smoke
from trainyard.jobs.nccl import render_nccl_pairs, render_nccl_tests
from trainyard.jobs.nccom import render_nccom_pairs, render_nccom_tests
from trainyard.jobs.nodes import JobRequest
from trainyard.schedulers.kubernetes.job_plan import Renderer

P5, TRN1 = (nodes_of(name, desired=4) for name in ("p5.48xlarge", "trn1.32xlarge"))


@pytest.mark.parametrize(
    ("nodes", "render"),
    [
        *((P5, each) for each in (render_nccl_tests, render_nccl_pairs)),
        *((P5, each) for each in (render_efa_smoke, render_dcgm_diag)),
        *((TRN1, each) for each in (render_nccom_tests, render_nccom_pairs)),
    ],
)
def test_the_image_of_a_test_job_is_one_that_is_looked_up(
    nodes: NodeGroupPlan, render: Renderer
) -> None:
    plan = eks_plan(nodes)
    images = re.findall(r"image: (\S+)", render(plan, JobRequest()).text)
    assert images
    assert set(images) <= {each.image for each in verification_images(plan)}
