"""Resources of a node that are available to a job, for every type of the catalog."""

from __future__ import annotations

import pytest

from tests.support.instance_types import each_family
from trainyard.components.catalog.batch import (
    efa_devices,
    image_parameter,
    image_type,
    memory_for_jobs_mib,
    neuron_devices,
    shared_memory_mib,
)
from trainyard.components.catalog.instance_types import InstanceType, instance_type


@each_family
def test_a_job_gets_most_of_the_memory_and_never_all(family: list[InstanceType]):
    """The kernel reserves 1.6 % of it, and ECS 32 MiB; EFA also needs huge pages."""
    for found in family:
        memory = memory_for_jobs_mib(found)
        assert memory < found.memory_mib * (1 - 64 / 4096) - 32
        assert memory > found.memory_mib * 0.65 or found.memory_mib < 1024
        assert 64 <= shared_memory_mib(memory) <= memory


def test_jobs_of_the_templates_fit():
    """BAT-21, BAT5-09 and the job of Neuron's samples."""
    assert memory_for_jobs_mib(instance_type("p4d.24xlarge")) > 16_384
    assert memory_for_jobs_mib(instance_type("p5.48xlarge")) > 1_049_000
    assert shared_memory_mib(memory_for_jobs_mib(instance_type("p5.48xlarge"))) == 49_152


def test_the_image_has_the_drivers_of_the_type():
    """BAT-18: an image type, never the path of a parameter."""
    assert image_type(instance_type("p5.48xlarge")) == "ECS_AL2023_NVIDIA"
    assert image_type(instance_type("m5.large")) == "ECS_AL2023"
    assert image_type(instance_type("trn1.32xlarge")) is None
    assert image_type(instance_type("c7g.xlarge")) == "ECS_AL2023"
    assert image_type(instance_type("g5g.xlarge")) is None


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        ("m5.large", "amazon-linux-2023/recommended/image_id"),
        ("c7g.xlarge", "amazon-linux-2023/arm64/recommended/image_id"),
        ("p5.48xlarge", "amazon-linux-2023/gpu/recommended/image_id"),
    ],
)
def test_the_parameter_is_that_of_the_architecture(name, parameter):
    found = instance_type(name)
    wanted = image_type(found)
    assert wanted is not None
    assert image_parameter(wanted, found.architecture).endswith(parameter)


def test_devices_are_counted_from_zero():
    """BAT-21, BAT5-09."""
    assert efa_devices(2) == ("/dev/infiniband/uverbs0", "/dev/infiniband/uverbs1")
    assert neuron_devices(16)[-1] == "/dev/neuron15"
    assert efa_devices(0) == ()
