"""What a job can have of a node, for every type of the catalog."""

from __future__ import annotations

import pytest

from components.catalog.batch import (
    efa_devices,
    image_type,
    memory_for_jobs_mib,
    neuron_devices,
    shared_memory_mib,
)
from components.catalog.instance_type import InstanceType
from components.catalog.instance_types import INSTANCE_TYPES, instance_type


@pytest.mark.parametrize("found", INSTANCE_TYPES.values(), ids=INSTANCE_TYPES)
def test_a_job_gets_most_of_the_memory_and_never_all(found: InstanceType):
    """The kernel keeps 1.6 % of it for its records, and ECS 32 MiB; EFA has huge pages besides."""
    memory = memory_for_jobs_mib(found)
    assert memory < found.memory_mib * (1 - 64 / 4096) - 32
    assert memory > found.memory_mib * 0.65
    assert 64 <= shared_memory_mib(memory) <= memory


def test_jobs_of_the_templates_fit():
    """BAT-21, BAT5-09 and the job of Neuron's samples."""
    assert memory_for_jobs_mib(instance_type("p4d.24xlarge")) > 16_384
    assert memory_for_jobs_mib(instance_type("p5.48xlarge")) > 1_049_000
    assert shared_memory_mib(memory_for_jobs_mib(instance_type("p5.48xlarge"))) == 49_152


def test_the_image_has_the_drivers_of_the_type():
    """BAT-18: a type of image, never the path of a parameter."""
    assert image_type(instance_type("p5.48xlarge")) == "ECS_AL2023_NVIDIA"
    assert image_type(instance_type("m5.large")) == "ECS_AL2023"
    assert image_type(instance_type("trn1.32xlarge")) is None


def test_devices_are_counted_from_zero():
    """BAT-21, BAT5-09."""
    assert efa_devices(2) == ("/dev/infiniband/uverbs0", "/dev/infiniband/uverbs1")
    assert neuron_devices(16)[-1] == "/dev/neuron15"
    assert efa_devices(0) == ()
