"""From a job definition of the stack file to the container of a job."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.batch import IMAGE, P4D, P5, RAW, TRN1, definition
from tests.support.stack_files import raw_config
from trainyard.components.catalog.neuron import NCCOM_TEST_IMAGE
from trainyard.components.catalog.versions import NCCL_TESTS_IMAGE


def job(base: dict[str, Any], name: str, **changes: Any) -> dict[str, Any]:
    at = f"architecture__job_definitions__{name}__"
    return raw_config(base, **{f"{at}{key}": value for key, value in changes.items()})


@pytest.mark.parametrize(
    ("raw", "name", "vcpus", "gpus", "efa", "neuron"),
    [
        (RAW, "nccl-single", 32, 1, 0, 0),
        (P4D, "nccl-single", 96, 8, 4, 0),
        (P4D, "nccl-multi", 96, 8, 4, 0),
        (P5, "nccl-multi", 192, 8, 32, 0),
        (TRN1, "nccom-multi", 128, 0, 8, 16),
    ],
)
def test_a_job_owns_its_nodes(
    raw: dict[str, Any], name: str, vcpus: int, gpus: int, efa: int, neuron: int
):
    """BAT-21, BAT-22, BAT5-09, and the job of Neuron's samples (section 7)."""
    container = definition(raw, name).container
    assert (container.vcpus, container.gpus) == (vcpus, gpus)
    assert container.devices == (
        *(f"/dev/infiniband/uverbs{index}" for index in range(efa)),
        *(f"/dev/neuron{index}" for index in range(neuron)),
    )


def test_what_the_stack_file_says_is_what_the_job_asks_for():
    raw = job(
        P4D,
        "nccl-single",
        vcpus=12,
        memory_mib=16_384,
        accelerators=1,
        efa_interfaces=1,
        shared_memory_mib=8192,
    )
    container = definition(raw, "nccl-single").container
    assert (container.vcpus, container.memory_mib, container.gpus) == (12, 16_384, 1)
    assert container.devices == ("/dev/infiniband/uverbs0",)
    assert container.shared_memory_mib == 8192


def test_shared_memory_follows_from_the_memory_that_is_asked_for():
    raw = job(P4D, "nccl-single", memory_mib=16_384)
    assert definition(raw, "nccl-single").container.shared_memory_mib == 2048


def test_a_job_may_do_without_accelerators_and_devices():
    raw = job(TRN1, "nccom-multi", accelerators=0, efa_interfaces=0, command=["true"])
    assert definition(raw, "nccom-multi").container.devices == ()


@pytest.mark.parametrize(
    ("base", "name", "image", "wanted"),
    [
        (P4D, "nccl-single", "nccl-tests", NCCL_TESTS_IMAGE),
        (TRN1, "nccom-multi", "nccom-tests", NCCOM_TEST_IMAGE),
        (P4D, "nccl-single", "repository", None),
        (P4D, "nccl-single", IMAGE, IMAGE),
        (P4D, "nccl-single", f"{IMAGE}@sha256:{'0' * 64}", f"{IMAGE}@sha256:{'0' * 64}"),
    ],
)
def test_images_are_pinned_or_ones_own(
    base: dict[str, Any], name: str, image: str, wanted: str | None
):
    """BAT5-09, DF-11: the template had `latest`, and a repository that no job used."""
    assert definition(job(base, name, image=image), name).container.image == wanted


@pytest.mark.parametrize(
    ("base", "name", "image", "text"),
    [
        (P4D, "nccl-multi", "nccl-tests", "mpirun"),
        (TRN1, "nccom-multi", "nccom-tests", "nccom-test"),
    ],
)
def test_without_a_command_the_test_spans_the_nodes(
    base: dict[str, Any], name: str, image: str, text: str
):
    """BAT5-10, DF-11: in the template each node ran a separate test."""
    container = definition(job(base, name, image=image), name).container
    assert text in " ".join(container.command)
    assert "NODES" in " ".join(container.command)


def test_ones_own_image_runs_its_own_command():
    container = definition(TRN1, "nccom-multi").container
    assert container.command == ()
    assert not container.environment


def test_ones_own_command_and_variables_win():
    raw = job(P4D, "nccl-multi", command=["nvidia-smi"], environment={"NCCL_DEBUG": "TRACE"})
    container = definition(raw, "nccl-multi").container
    assert container.command == ("nvidia-smi",)
    assert container.environment["NCCL_DEBUG"] == "TRACE"


def test_attempts_time_and_policies_are_kept():
    """BAT-21: the template had ten attempts."""
    raw = job(
        P4D,
        "nccl-single",
        attempts=10,
        timeout_minutes=90,
        iam_policies=["AmazonS3ReadOnlyAccess"],
    )
    plan = definition(raw, "nccl-single")
    assert (plan.attempts, plan.timeout_seconds) == (10, 5400)
    assert plan.iam_policies == ("arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess",)
    assert definition(P4D, "nccl-single").timeout_seconds is None


def test_a_job_knows_its_nodes():
    """BAT-22: two nodes of one type."""
    plan = definition(P4D, "nccl-multi")
    assert (plan.nodes, plan.instance_type.name) == (2, "p4d.24xlarge")
