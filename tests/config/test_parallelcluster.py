"""What the schema of ParallelCluster stacks refuses by itself."""

from __future__ import annotations

from tests.support.parallelcluster_configs import raw_p4de
from tests.support.stack_files import schema_problems


def test_a_stack_about_an_image_asks_for_it():
    """PCx-01: without `image: custom` it would start from ParallelCluster's own image."""
    raw = raw_p4de(architecture__custom_ami_id=..., architecture__image="custom")
    (problem,) = schema_problems(raw).values()
    assert problem.path == "trainyard:cluster.architecture.custom_ami_id"
    assert problem.problem.startswith("is missing: AMI of all nodes")
    assert problem.remedy.endswith("'trainyard:cluster.architecture.custom_ami_id' ami-…")


def test_an_image_beside_the_official_one_is_a_contradiction():
    raw = raw_p4de(architecture__image="official")
    assert "`image: official`" in schema_problems(raw)["architecture.custom_ami_id"].problem
