"""The messages of refused job definitions, and notes."""

from __future__ import annotations

from typing import Any

from tests.support.batch import IMAGE, P4D, RAW, TRN1, definition
from tests.support.stack_files import notes, raw_config, refusals

KEY = "architecture.job_definitions"


def job(base: dict[str, Any], name: str, **changes: Any) -> dict[str, Any]:
    at = f"architecture__job_definitions__{name}__"
    return raw_config(base, **{f"{at}{key}": value for key, value in changes.items()})


def test_a_request_says_what_the_type_has():
    found = refusals(job(P4D, "nccl-single", accelerators=9))[f"{KEY}.nccl-single.accelerators"]
    assert "p4d.24xlarge has, 8 GPUs" in found.problem
    assert found.found == 9
    neuron = refusals(job(TRN1, "nccom-multi", accelerators=17))
    assert "16 Neuron devices" in neuron[f"{KEY}.nccom-multi.accelerators"].problem


def test_all_that_the_type_has_is_not_too_much():
    raw = job(P4D, "nccl-single", vcpus=96, accelerators=8, efa_interfaces=4)
    assert not refusals(raw)


def test_memory_that_ecs_may_not_offer_is_a_note():
    """The job of Neuron's samples requests 500,000 of 524,288 MiB."""
    raw = job(TRN1, "nccom-multi", memory_mib=500_000)
    assert "ECS offers at least 479486" in notes(raw)
    assert definition(raw, "nccom-multi").container.memory_mib == 500_000
    assert "surely" not in notes(TRN1)


def test_a_secret_has_a_name_of_its_own():
    """ECS: `The secret name must be unique and not shared with any … environment variables`."""
    secrets = {"HF_TOKEN": "arn:aws:ssm:us-west-2:123456789012:parameter/hf"}
    assert not refusals(job(P4D, "nccl-single", secrets=secrets))
    raw = job(P4D, "nccl-single", secrets=secrets, environment={"HF_TOKEN": "x"})
    found = refusals(raw)[f"{KEY}.nccl-single.environment.HF_TOKEN"]
    assert "is one of `secrets` too" in found.problem


def test_spot_runs_jobs_of_one_node():
    """Rule G1."""
    nodes = "architecture__compute_environments__g4dn__"
    raw = raw_config(
        RAW, **{f"{nodes}purchase_option": "spot", f"{nodes}availability_zone": "us-west-2b"}
    )
    assert not refusals(raw)
    found = refusals(job(raw, "nccl-single", nodes=2))
    assert "Spot Instances" in found[f"{KEY}.nccl-single.nodes"].problem


def test_the_nearest_environment_is_offered():
    raw = job(P4D, "nccl-multi", compute_environment="p4")
    found = refusals(raw)[f"{KEY}.nccl-multi.compute_environment"]
    assert found.remedy.endswith(" p4d")


def test_the_other_test_is_offered():
    raw = job(TRN1, "nccom-multi", image="nccl-tests")
    assert refusals(raw)[f"{KEY}.nccom-multi.image"].remedy.endswith(" nccom-tests")


def test_a_tag_that_floats_is_a_note():
    """DF-11."""
    floating = IMAGE.replace(":1.0", ":latest")
    assert "the tag `latest`" in notes(job(RAW, "nccl-single", image=floating))


def test_several_nodes_without_efa_launch_in_one_zone():
    """Rule G2."""
    raw = job(RAW, "nccl-single", nodes=2)
    assert set(refusals(raw)) == {f"{KEY}.nccl-single.nodes"}
    zone = {"architecture__compute_environments__g4dn__availability_zone": "us-west-2b"}
    assert not refusals(raw_config(raw, **zone))


def test_jobs_that_would_share_neuron_devices_are_told_so():
    """ECS allocates GPUs, but gives device files to every container that names them."""
    small = {"nodes": 1, "accelerators": 8, "memory_mib": 8192}
    assert "first 8 Neuron devices" in notes(job(TRN1, "nccom-multi", vcpus=64, **small))
    assert "Neuron devices" not in notes(job(TRN1, "nccom-multi", vcpus=65, **small))
    assert "Neuron devices" not in notes(TRN1)
