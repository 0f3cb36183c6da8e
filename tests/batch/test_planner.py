"""From a stack file to the whole plan of an AWS Batch stack."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.batch import IMAGE, P4D, P5, RAW, TRN1
from tests.support.stack_files import AMI, RESERVATION, notes, plan_from, raw_config, refusals
from trainyard.components.batch.plan import BatchPlan, JobDefinitionPlan
from trainyard.components.catalog.instance_types import INSTANCE_TYPES

RESERVATIONS = {
    "odcr": {"kind": "odcr", "reservation_id": RESERVATION},
    "group": {"kind": "odcr-group", "members": ["cr-0123456789abcdef1"]},
    "block": {"kind": "capacity-block", "reservation_id": "cr-0123456789abcdef2"},
    "assisted": {
        "kind": "odcr",
        "reservation_id": "cr-0123456789abcdef3",
        "provenance": "aws-assisted",
    },
}
NETWORKS = (
    RAW["network"],
    {"kind": "new-vpc", "availability_zones": ["us-west-2a", "us-west-2b"]},
    {"kind": "new-vpc", "availability_zones": ["us-west-2b"], "addresses": "vpc-one-az"},
    {"kind": "stack-reference", "stack": "vpc-one-az"},
)


def test_the_p4d_stack_has_a_whole_plan():
    """BAT-01 to BAT-23."""
    plan = plan_from(P4D)
    assert plan.name == plan.tags["trainyard:cluster"] == "batch-p4d"
    assert [each.name for each in plan.compute_environments] == ["p4d"]
    assert [(each.name, each.nodes) for each in plan.job_definitions] == [
        ("nccl-multi", 2),
        ("nccl-single", 1),
    ]
    assert plan.repository is not None
    assert [pool.capacity.kind for pool in plan.node_pools] == ["odcr"]


def test_the_p5_stack_lives_in_its_capacity_block():
    """BAT5-01 to BAT5-12."""
    plan = plan_from(P5)
    assert [pool.capacity.kind for pool in plan.node_pools] == ["capacity-block"]
    assert plan.compute_environments[0].placement.group == "none"


@pytest.mark.parametrize(
    ("raw", "told"), [(P4D, True), (TRN1, True), (RAW, False)], ids=["p4d", "trn1", "g4dn"]
)
def test_jobs_of_several_nodes_with_efa_meet_in_the_default_security_group(
    raw: dict[str, Any], told: bool
):
    """Rule G3: Batch accepts no groups next to interfaces, so only the VPC's default is left."""
    assert ("default security group" in notes(raw)) is told


def test_what_is_wrong_with_every_part_comes_at_once():
    raw = raw_config(
        P4D,
        tags={"aws:team": "x"},
        network__private_subnet_ids=["subnet-0a000000000000002"] * 2,
        reservations__p4d__instance_count=1,
        architecture__job_definitions__nccl_multi={"compute_environment": "p4d"},
    )
    raw["architecture"]["job_definitions"].pop("nccl_multi")
    raw["architecture"]["job_definitions"]["nccl-multi"]["vcpus"] = 97
    assert set(refusals(raw)) == {
        "tags",
        "network.private_subnet_ids",
        "architecture.compute_environments.p4d.maximum",
        "architecture.job_definitions.nccl-multi.vcpus",
    }


TYPES = sorted(
    {*("c5.4xlarge", "c7g.16xlarge", "m5.large", "t3.micro")}
    | {name for name, found in INSTANCE_TYPES.items() if found.accelerators}
)
"""Types with accelerators, the usual ones of stacks, and some without."""


@st.composite
def stacks(draw: st.DrawFn) -> dict[str, Any]:
    """Return a valid or invalid stack of one environment and one job definition."""
    type_name = draw(st.sampled_from(TYPES))
    maximum = draw(st.integers(1, 20))
    accelerators = INSTANCE_TYPES[type_name].accelerators
    neuron = accelerators is not None and accelerators.manufacturer == "neuron"
    environment = {
        "instance_type": type_name,
        "purchase_option": draw(st.sampled_from(["on-demand", "spot", *RESERVATIONS])),
        "efa_enabled": draw(st.booleans()),
        "interface_layout": draw(st.sampled_from(["efa-only", "efa"])),
        "maximum": maximum,
        "minimum": draw(st.integers(0, maximum)),
        **({"image": "custom", "custom_ami_id": AMI} if neuron else {}),
        **draw(st.sampled_from([{}, {"availability_zone": "us-west-2b"}])),
    }
    job = {
        "compute_environment": "nodes",
        "nodes": draw(st.integers(1, maximum)),
        "image": draw(st.sampled_from(["nccl-tests", "nccom-tests", IMAGE])),
        **draw(st.sampled_from([{}, {"accelerators": 1}, {"efa_interfaces": 0}, {"vcpus": 1}])),
    }
    return raw_config(
        RAW,
        network=draw(st.sampled_from(NETWORKS)),
        reservations=RESERVATIONS,
        architecture__compute_environments={"nodes": environment},
        architecture__job_definitions={"job": job},
    )


@given(stacks())
@settings(deadline=None, max_examples=150)
def test_every_stack_is_refused_with_a_way_out_or_keeps_the_rules(raw: dict[str, Any]):
    refused = refusals(raw)
    if refused:
        assert all(problem.remedy and problem.problem for problem in refused.values())
        return
    plan = plan_from(raw)
    _keeps_the_rules_of_nodes(plan)
    for job in plan.job_definitions:
        _fits_its_nodes(job, plan)


def _keeps_the_rules_of_nodes(plan: BatchPlan) -> None:
    nodes = plan.compute_environments[0]
    assert nodes.minimum_vcpus <= nodes.maximum_vcpus
    assert (nodes.image_type is None) == (nodes.config.custom_ami_id is not None)
    if nodes.capacity.kind == "capacity-block" or nodes.capacity.purchase_option == "assisted":
        assert nodes.placement.group == "none"
    if nodes.interfaces is not None:
        card = nodes.instance_type.network_cards[0]
        taken = [i for i in nodes.interfaces.interfaces if i.network_card_index == 0]
        assert len(taken) < card.maximum_interfaces
        assert nodes.interfaces.efa_interfaces == nodes.instance_type.efa_interfaces
        assert len(nodes.subnets) == 1 or "can only be read from the account" in "\n".join(
            plan.notes
        )


def _fits_its_nodes(job: JobDefinitionPlan, plan: BatchPlan) -> None:
    nodes, asked = plan.compute_environments[0], job.container
    accelerators = job.instance_type.accelerators
    assert asked.vcpus <= job.instance_type.vcpus
    assert asked.memory_mib < job.instance_type.memory_mib
    assert asked.shared_memory_mib <= asked.memory_mib
    assert asked.gpus <= (accelerators.count if accelerators else 0)
    efa = [device for device in asked.devices if "uverbs" in device]
    assert len(efa) <= (nodes.interfaces.efa_interfaces if nodes.interfaces else 0)
    assert job.nodes * job.instance_type.vcpus <= nodes.maximum_vcpus
    assert job.nodes == 1 or nodes.capacity.kind != "spot"
    if not asked.command:
        assert asked.image == IMAGE


@given(stacks())
@settings(deadline=None, max_examples=50)
def test_the_same_stack_has_the_same_plan(raw: dict[str, Any]):
    assume(not refusals(raw))
    assert plan_from(raw) == plan_from(raw)
