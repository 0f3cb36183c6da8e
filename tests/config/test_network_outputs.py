"""The network of another stack: required outputs, and messages if they are missing."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.components.config.network import StackNetwork
from trainyard.components.config.network_outputs import network_of_outputs
from trainyard.components.config.problems import ConfigError, Problem

OUTPUTS: dict[str, Any] = {
    "vpc_id": "vpc-0123456789abcdef0",
    "public_subnet_ids": ["subnet-0123456789abcdef1"],
    "private_subnet_ids": ["subnet-0123456789abcdef2", "subnet-0123456789abcdef3"],
    "notes": [],
}
STACK_FILE = "Pulumi.batch-p5.yaml"


def reference(stack: str = "vpc-one-az") -> StackNetwork:
    return StackNetwork(kind="stack-reference", stack=stack)


def refused(outputs: dict[str, Any] | None, *, stack: str = "vpc-one-az") -> Problem:
    with pytest.raises(ConfigError) as caught:
        network_of_outputs(reference(stack), outputs, stack_file=STACK_FILE)
    (problem,) = caught.value.problems
    assert caught.value.stack_file == STACK_FILE
    assert problem.path == "trainyard:cluster.network.stack"
    return problem


def test_the_ids_of_a_network_stack_are_those_of_an_existing_vpc() -> None:
    """PR-50: the stack that corresponds to the VPC template is referenced by name."""
    network = network_of_outputs(reference(), OUTPUTS, stack_file=STACK_FILE)
    assert network.vpc_id == OUTPUTS["vpc_id"]
    assert network.public_subnet_ids == tuple(OUTPUTS["public_subnet_ids"])
    assert network.private_subnet_ids == tuple(OUTPUTS["private_subnet_ids"])
    assert not network.is_unread


def test_a_stack_that_does_not_exist_is_refused_with_how_to_make_it() -> None:
    problem = refused(None)
    assert "does not exist in this backend" in problem.problem
    assert "./trainyard up vpc-one-az" in problem.remedy


def test_a_stack_that_is_not_up_is_refused_with_how_to_bring_it_up() -> None:
    problem = refused({}, stack="acme/trainyard/vpc-one-az")
    assert "it is not deployed" in problem.problem
    assert "./trainyard up vpc-one-az" in problem.remedy


@pytest.mark.parametrize("missing", ["vpc_id", "public_subnet_ids", "private_subnet_ids"])
def test_a_stack_with_other_outputs_is_refused_with_what_it_lacks(missing: str) -> None:
    """A list without a private subnet counts as missing."""
    without = {name: value for name, value in OUTPUTS.items() if name != missing}
    empty = None if missing == "public_subnet_ids" else []
    for outputs in (without, {**OUTPUTS, missing: empty}):
        problem = refused(outputs)
        assert f"it does not export {missing}" in problem.problem
        assert "kind: network" in problem.remedy


def test_outputs_that_are_no_ids_are_refused_by_name() -> None:
    problem = refused({**OUTPUTS, "vpc_id": "training", "private_subnet_ids": "subnet-1"})
    assert "private_subnet_ids: subnet-1, vpc_id: training" in str(problem.found)


def test_a_network_may_have_no_public_subnet() -> None:
    """VPCM-04: the template omits the export, and its importers fail."""
    outputs = {**OUTPUTS, "public_subnet_ids": []}
    assert network_of_outputs(reference(), outputs, stack_file=STACK_FILE).public_subnet_ids == ()


@pytest.mark.parametrize("wrong", [5, True, "subnet-1", {"a": "subnet-1"}, [None], [["x"]], [5]])
def test_outputs_of_another_type_are_refused_by_name(wrong: object) -> None:
    for name in ("vpc_id", "public_subnet_ids", "private_subnet_ids"):
        assert f"{name}: " in str(refused({**OUTPUTS, name: wrong}).found)


def test_a_network_of_another_region_is_refused_with_both() -> None:
    there = {**OUTPUTS, "region": "us-east-1"}
    with pytest.raises(ConfigError) as caught:
        network_of_outputs(reference(), there, stack_file=STACK_FILE, region="us-west-2")
    (problem,) = caught.value.problems
    assert problem.path == "trainyard:cluster.network.stack"
    assert "in us-west-2" in problem.problem
    assert problem.found == "vpc-one-az, in us-east-1"
    here = {**OUTPUTS, "region": "us-west-2"}
    assert network_of_outputs(reference(), here, stack_file=STACK_FILE, region="us-west-2").vpc_id
