"""What Slurm is told of the nodes of a queue, from the answers of EC2 about their types."""

from __future__ import annotations

import pytest

from trainyard.sandbox.instance_types import UnknownInstanceTypeError
from trainyard.sandbox.slurm.configuration import NodeRange, node_ranges


def node(instance_type: str, **settings: object) -> NodeRange:
    resource = {"Name": "r", "InstanceType": instance_type, "MinCount": 1, "MaxCount": 1}
    (found,) = node_ranges({"Name": "q", "ComputeResources": [{**resource, **settings}]})
    return found


@pytest.mark.parametrize(
    ("name", "cpus", "cores"),
    [("p5.48xlarge", 192, 96), ("hpc6a.48xlarge", 96, 96), ("c7g.16xlarge", 64, 64)],
)
def test_without_multithreading_a_node_has_a_cpu_for_each_core(
    name: str, cpus: int, cores: int
) -> None:
    """`DefaultThreadsPerCore` of EC2, which is 1 of some types with x86_64."""
    assert node(name).cpus == cpus
    assert node(name, DisableSimultaneousMultithreading=True).cpus == cores


def test_a_fraction_of_a_gpu_is_no_gpu_for_slurm() -> None:
    """`gpu_count` of ParallelCluster's `aws/aws_resources.py` adds `Count`, which is then 0."""
    assert (node("g6.xlarge").gpu_type, node("g6.xlarge").gpus) == ("l4", 1)
    assert (node("g6f.xlarge").gpu_type, node("g6f.xlarge").gpus) == (None, 0)


def test_an_unknown_type_is_named_with_similar_ones() -> None:
    with pytest.raises(UnknownInstanceTypeError, match=r"'p5\.49xlarge'.*p5\.48xlarge"):
        node("p5.49xlarge")
