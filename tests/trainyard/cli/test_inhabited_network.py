"""Messages of `destroy` about a network that others use."""

from dataclasses import replace
from pathlib import Path

import pytest

from trainyard.cli.failures import WrongUseError
from trainyard.components.network.lookup import Inhabitant
from trainyard.deployment.inhabited_network import refusal, refuse_inhabited
from trainyard.deployment.protected import Kept
from trainyard.stack_files.stack_files import StackFile
from trainyard.workspace.accounts import account_of, target_of

GROUP = Inhabitant(
    identifier="sg-1", kind="security group", name="batch-p5-nodes", cluster="batch-p5"
)
INTERFACE = Inhabitant(identifier="eni-1", kind="network interface", name="", cluster=None)
NETWORK_STACK = StackFile(
    "vpc-one-az",
    Path("Pulumi.vpc-one-az.yaml"),
    {"config": {"aws:region": "us-west-2", "aws:profile": "training"}},
)
VPC = Kept(urn="u", type="aws:ec2/vpc:Vpc", identifier="vpc-1", protected=True, entry=None)


def said(*inhabitants, sandbox=True):
    found = refusal(inhabitants, account_of(sandbox=sandbox), stack="vpc-one-az", vpc_id="vpc-1")
    return found.splitlines()


def test_each_inhabitant_is_named_with_its_stack():
    lines = said(GROUP, INTERFACE)
    assert "  sg-1  security group  batch-p5-nodes  (of batch-p5)" in lines
    assert "  eni-1  network interface" in lines


def test_the_commands_that_end_the_others_are_complete():
    assert said(GROUP, INTERFACE)[-1] == "  ./trainyard destroy batch-p5 --sandbox"
    assert said(GROUP, sandbox=False)[-1] == "  ./trainyard destroy batch-p5"


def test_what_belongs_to_no_stack_gets_no_command():
    assert not [line for line in said(INTERFACE) if "./trainyard" in line]


@pytest.mark.usefixtures("trainyard")
def test_a_network_that_is_protected_stays_and_nobody_is_asked():
    # There are no credentials to ask with.
    refuse_inhabited([VPC], target_of(NETWORK_STACK, sandbox=False))
    adopted = replace(VPC, protected=False, retained=True)
    refuse_inhabited([adopted], target_of(NETWORK_STACK, sandbox=False))


@pytest.mark.usefixtures("trainyard")
def test_the_account_is_the_one_of_the_profile_that_the_stack_file_names():
    leaving = replace(VPC, protected=False)
    with pytest.raises(WrongUseError, match=r"The config profile \(training\) could not be found"):
        refuse_inhabited([leaving], target_of(NETWORK_STACK, sandbox=False))
