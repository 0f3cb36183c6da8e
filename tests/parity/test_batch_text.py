"""Rows that are only in the text on AWS Batch: PR-50 to PR-53."""

from __future__ import annotations

import pytest

from tests.config.test_network_outputs import OUTPUTS, reference
from tests.support.parity import better, same
from tests.support.stacks import stack_plan
from trainyard.components.config.network_outputs import network_of_outputs
from trainyard.components.config.problems import ConfigError

GROUP = "arn:aws:resource-groups:us-west-2:123456789012:group/p5"


@better(
    "PR-50",
    "The VPC's stack first, and its name as a parameter of the other",
    why="`kind: stack-reference`; a stack that is not up is named, with the command that makes it",
)
def test_the_stack_of_the_network_is_brought_up_first():
    with pytest.raises(ConfigError, match=r"\./trainyard up vpc-one-az"):
        network_of_outputs(reference(), None, stack_file="Pulumi.batch-p5.yaml")
    found = network_of_outputs(reference(), OUTPUTS, stack_file="Pulumi.batch-p5.yaml")
    assert found.private_subnet_ids == tuple(OUTPUTS["private_subnet_ids"])


@better(
    "PR-51",
    "`create-stack` with CAPABILITY_NAMED_IAM, and a parameter that the file does not have",
    why="no fixed names, so no capability; an unknown key is refused before anything is made",
)
def test_a_key_that_nobody_reads_is_refused_before_anything_is_made(batch):
    with pytest.raises(ConfigError, match="capacity_reservation_id"):
        stack_plan("batch-p5", capacity_reservation_id="cr-0123456789abcdef0")
    roles = batch("batch-p5").cloud.of_type("aws:iam/role:Role")
    assert roles
    assert not [role.name for role in roles if "name" in role.inputs]


@better(
    "PR-52",
    "The reservation's id or a resource group, never both, which nothing checks",
    why="each kind of reservation has one of the two, and the other is refused",
)
def test_id_and_group_together_are_refused():
    with pytest.raises(ConfigError, match="group_arn"):
        stack_plan("batch-p4d", reservations__training__group_arn=GROUP)
    group = {"kind": "odcr-group", "group_arn": GROUP, "reservation_id": "cr-00d00000000000005"}
    with pytest.raises(ConfigError, match="reservation_id"):
        stack_plan("batch-p4d", reservations__training=group)


@same("PR-53", "A container that is called stress-ng and tests NCCL", why="called `nccl-tests`")
def test_the_job_is_called_what_it_is(batch):
    for stack in ("batch-p4d", "batch-p5"):
        assert "all_reduce_perf" in batch(stack).container("nccl-tests")["command"][-1]
