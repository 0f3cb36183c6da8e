"""Broken stacks of AWS Batch: each is refused offline, at its key, with a fix."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.batch import P4D, P5, RAW, TRN1
from tests.support.stack_files import AMI, raw_config, refusals

ENVIRONMENTS = "architecture.compute_environments"
JOBS = "architecture.job_definitions"
G4DN, P4D_NODES = "architecture__compute_environments__g4dn__", f"{ENVIRONMENTS}.p4d"
GROUP = "arn:aws:resource-groups:us-west-2:123456789012:group/training"
TWO_ZONES = {"kind": "new-vpc", "availability_zones": ["us-west-2a", "us-west-2b"]}
CLOSED = {**TWO_ZONES, "nat_gateways": "none"}


def g4dn(**changes: Any) -> dict[str, Any]:
    return raw_config(RAW, **{f"{G4DN}{key}": value for key, value in changes.items()})


def job(base: dict[str, Any], name: str, **changes: Any) -> dict[str, Any]:
    at = f"architecture__job_definitions__{name}__"
    return raw_config(base, **{f"{at}{key}": value for key, value in changes.items()})


def multi(raw: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a g4dn stack whose job runs on two nodes."""
    return job(raw, "nccl-single", nodes=2, **changes)


CASES = {
    "id and group together": (
        raw_config(P4D, reservations__p4d__group_arn=GROUP),
        "reservations.p4d.group_arn",
    ),
    "a group by its ARN and by its members": (
        raw_config(
            P4D,
            reservations__p4d={
                "kind": "odcr-group",
                "group_arn": GROUP,
                "members": ["cr-0123456789abcdef0"],
            },
        ),
        "reservations.p4d.group_arn",
    ),
    "minimum vCPUs above the Capacity Block": (
        raw_config(
            P5,
            architecture__compute_environments__p5__minimum=3,
            architecture__compute_environments__p5__maximum=3,
        ),
        f"{ENVIRONMENTS}.p5.maximum",
    ),
    "more nodes than an ODCR holds": (
        raw_config(P4D, architecture__compute_environments__p4d__maximum=3),
        f"{P4D_NODES}.maximum",
    ),
    "spot with multi-node": (
        multi(g4dn(purchase_option="spot", availability_zone="us-west-2b")),
        f"{JOBS}.nccl-single.nodes",
    ),
    "two zones with EFA": (
        g4dn(efa_enabled=True),
        f"{ENVIRONMENTS}.g4dn.availability_zone",
    ),
    "two zones with multi-node": (multi(RAW), f"{JOBS}.nccl-single.nodes"),
    "more nodes than the environment": (
        job(P4D, "nccl-multi", nodes=3),
        f"{JOBS}.nccl-multi.nodes",
    ),
    "more nodes than Batch takes": (
        job(P4D, "nccl-multi", nodes=1001),
        f"{JOBS}.nccl-multi.nodes",
    ),
    "more GPUs than the type has": (
        job(P4D, "nccl-single", accelerators=9),
        f"{JOBS}.nccl-single.accelerators",
    ),
    "more Neuron devices than the type has": (
        job(TRN1, "nccom-multi", accelerators=17),
        f"{JOBS}.nccom-multi.accelerators",
    ),
    "more EFA devices than the type has": (
        job(P4D, "nccl-single", efa_interfaces=32),
        f"{JOBS}.nccl-single.efa_interfaces",
    ),
    "EFA devices where EFA is off": (
        job(RAW, "nccl-single", efa_interfaces=1),
        f"{JOBS}.nccl-single.efa_interfaces",
    ),
    "more vCPUs than the type has": (
        job(P4D, "nccl-single", vcpus=192),
        f"{JOBS}.nccl-single.vcpus",
    ),
    "more memory than the type has": (
        job(P4D, "nccl-single", memory_mib=2_097_152),
        f"{JOBS}.nccl-single.memory_mib",
    ),
    "more shared memory than memory": (
        job(RAW, "nccl-single", memory_mib=1024, shared_memory_mib=2048),
        f"{JOBS}.nccl-single.shared_memory_mib",
    ),
    "a test without GPUs": (
        job(RAW, "nccl-single", accelerators=0),
        f"{JOBS}.nccl-single.accelerators",
    ),
    "a test of GPUs on a type without": (
        g4dn(instance_type="m5.large"),
        f"{JOBS}.nccl-single.image",
    ),
    "a test of GPUs on Trainium": (
        job(TRN1, "nccom-multi", image="nccl-tests"),
        f"{JOBS}.nccom-multi.image",
    ),
    "a test of Trainium on GPUs": (
        job(RAW, "nccl-single", image="nccom-tests"),
        f"{JOBS}.nccl-single.image",
    ),
    "a repository that is not there": (
        job(RAW, "nccl-single", image="repository"),
        f"{JOBS}.nccl-single.image",
    ),
    "an image with capital letters in its path": (
        job(RAW, "nccl-single", image="public.ecr.aws/hpc-cloud/NCCL-tests:1"),
        f"{JOBS}.nccl-single.image",
    ),
    "a variable of Batch's own": (
        job(RAW, "nccl-single", environment={"AWS_BATCH_JOB_ID": "1"}),
        f"{JOBS}.nccl-single.environment.AWS_BATCH_JOB_ID",
    ),
    "an environment that is not there": (
        job(RAW, "nccl-single", compute_environment="g4"),
        f"{JOBS}.nccl-single.compute_environment",
    ),
    "minimum above maximum": (g4dn(minimum=5), f"{ENVIRONMENTS}.g4dn.minimum"),
    "more nodes than can be counted": (
        g4dn(maximum=2**27),
        f"{ENVIRONMENTS}.g4dn.maximum",
    ),
    "an unknown type": (g4dn(instance_type="g4dn.9xlarge"), f"{ENVIRONMENTS}.g4dn.instance_type"),
    "an unknown reservation": (g4dn(purchase_option="p4d"), f"{ENVIRONMENTS}.g4dn.purchase_option"),
    "a type that is not sold as a block": (
        raw_config(
            P5,
            architecture__compute_environments__p5__instance_type="g4dn.8xlarge",
            architecture__job_definitions={},
        ),
        f"{ENVIRONMENTS}.p5.purchase_option",
    ),
    "EFA on a type without": (
        raw_config(
            RAW,
            architecture__compute_environments__g4dn={
                "instance_type": "m5.large",
                "maximum": 1,
                "efa_enabled": True,
                "availability_zone": "us-west-2b",
            },
            architecture__job_definitions={},
        ),
        f"{ENVIRONMENTS}.g4dn.efa_enabled",
    ),
    "a placement group with a Capacity Block": (
        raw_config(P5, architecture__compute_environments__p5__placement={"group": "create"}),
        f"{ENVIRONMENTS}.p5.placement.group",
    ),
    "no driver for Trainium": (
        raw_config(
            TRN1,
            architecture__compute_environments__trn1__image="auto",
            architecture__compute_environments__trn1__custom_ami_id=...,
        ),
        f"{ENVIRONMENTS}.trn1.image",
    ),
    "an image of one's own without its id": (
        g4dn(image="custom"),
        f"{ENVIRONMENTS}.g4dn.custom_ami_id",
    ),
    "an id that would not be used": (g4dn(custom_ami_id=AMI), f"{ENVIRONMENTS}.g4dn.image"),
    "a parameter path as an image": (
        g4dn(
            image="custom",
            custom_ami_id="/aws/service/ecs/optimized-ami/amazon-linux-2/gpu/recommended/image_id",
        ),
        f"{ENVIRONMENTS}.g4dn.custom_ami_id",
    ),
    "a root volume smaller than the image": (
        g4dn(root_volume={"size_gib": 20}),
        f"{ENVIRONMENTS}.g4dn.root_volume.size_gib",
    ),
    "a zone beside a subnet": (
        g4dn(availability_zone="us-west-2b", subnet_id="subnet-0b000000000000002"),
        f"{ENVIRONMENTS}.g4dn.subnet_id",
    ),
    "a public subnet": (
        g4dn(subnet_id="subnet-0b000000000000001"),
        f"{ENVIRONMENTS}.g4dn.subnet_id",
    ),
    "a zone of another region": (
        g4dn(availability_zone="us-east-1a"),
        f"{ENVIRONMENTS}.g4dn.availability_zone",
    ),
    "a zone that is not that of the reservation": (
        raw_config(P4D, architecture__compute_environments__p4d__availability_zone="us-west-2a"),
        f"{P4D_NODES}.availability_zone",
    ),
    "a reservation in a zone without a subnet": (
        raw_config(P4D, network={**TWO_ZONES, "availability_zones": ["us-west-2a"]}),
        "network.availability_zones[1]",
    ),
    "no way to the services of Batch's nodes": (
        raw_config(RAW, network=CLOSED),
        "network.interface_endpoints",
    ),
    "no way to the layers of images": (
        raw_config(RAW, network={**CLOSED, "gateway_endpoints": []}),
        "network.gateway_endpoints",
    ),
    "no way to the image": (raw_config(RAW, network=CLOSED), f"{JOBS}.nccl-single.image"),
    "a subnet listed twice": (
        raw_config(RAW, network__private_subnet_ids=["subnet-0a000000000000002"] * 2),
        "network.private_subnet_ids",
    ),
    "a network with overlapping subnets": (
        raw_config(
            RAW,
            network={**TWO_ZONES, "private_subnet_cidrs": ["192.168.64.0/19"] * 2},
        ),
        "network.private_subnet_cidrs[1]",
    ),
    "a file system": (
        raw_config(
            RAW,
            storage={
                "fsx": {"kind": "existing-fsx-lustre", "file_system_id": "fs-0123456789abcdef0"}
            },
        ),
        "storage.fsx",
    ),
    "a tag of AWS's own": (raw_config(RAW, tags={"aws:team": "x"}), "tags"),
    "a name from which too long ones follow": (raw_config(RAW, name="b" * 60), "name"),
    "a name that ECR does not take": (
        raw_config(P4D, name="Batch_p4d_"),
        "architecture.repository.name",
    ),
    "a repository's name with a hyphen at its end": (
        raw_config(P4D, architecture__repository__name="training-"),
        "architecture.repository.name",
    ),
}


@pytest.mark.parametrize(("raw", "key"), CASES.values(), ids=CASES)
def test_a_broken_stack_is_refused_at_its_key(raw: dict[str, Any], key: str):
    """PR-52, PR-53, BAT-18; rules G1 to G4."""
    found = refusals(raw)
    assert key in found
    assert found[key].remedy
    assert found[key].problem


@pytest.mark.parametrize("raw", [RAW, P4D, P5, TRN1], ids=["g4dn", "p4d", "p5", "trn1"])
def test_what_the_cases_break_is_sound(raw: dict[str, Any]):
    assert not refusals(raw)


def test_every_problem_comes_at_once():
    raw = g4dn(minimum=5, custom_ami_id=AMI)
    raw = job(raw, "nccl-single", accelerators=2, vcpus=64)
    assert set(refusals(raw)) == {
        f"{ENVIRONMENTS}.g4dn.minimum",
        f"{ENVIRONMENTS}.g4dn.image",
        f"{JOBS}.nccl-single.accelerators",
        f"{JOBS}.nccl-single.vcpus",
    }
