"""Objects that a stack does not own never end a command: they are left out, and that is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from botocore.stub import Stubber

from tests.support.eks import PRIVATE, STACK_FILE
from tests.support.eks_account import NOW
from tests.support.reservation_answers import described
from tests.support.sandbox_aws import PRIVATE_B, VPC, Account, without
from trainyard.components.account.answers import MissingValueError
from trainyard.components.account.reader import AccountReader
from trainyard.components.architectures.prepare import examine
from trainyard.components.capacity.lookup import every_reservation, look_up_reservation
from trainyard.components.network.lookup import NO_IPV4, look_up_layout, look_up_subnets
from trainyard.components.storage.lookup import efs_facts, every_file_system
from trainyard.importing.live.answers import read_templates
from trainyard.init.account_listing import list_account


@pytest.fixture
def ipv6_subnet(account: Account) -> str:
    """Return a subnet with IPv6 only."""
    ec2 = account.ec2
    ec2.associate_vpc_cidr_block(VpcId=VPC, AmazonProvidedIpv6CidrBlock=True)
    (vpc,) = ec2.describe_vpcs(VpcIds=[VPC])["Vpcs"]
    block = vpc["Ipv6CidrBlockAssociationSet"][-1]["Ipv6CidrBlock"].replace("/56", "/64")
    made = ec2.create_subnet(VpcId=VPC, Ipv6Native=True, Ipv6CidrBlock=block)["Subnet"]
    assert "CidrBlock" not in made
    return made["SubnetId"]


def test_a_subnet_with_ipv6_only_is_left_out_of_every_listing(
    reader: AccountReader, ipv6_subnet: str
) -> None:
    listing = list_account(reader, [])
    assert listing.left_out == {f"subnet {ipv6_subnet}": NO_IPV4}
    assert ipv6_subnet not in listing.subnets
    assert PRIVATE_B in listing.subnets
    layout = look_up_layout(reader, VPC)
    assert layout is not None
    assert ipv6_subnet not in layout.subnets
    assert look_up_subnets(reader, [ipv6_subnet, PRIVATE_B]).keys() == {PRIVATE_B}


def test_a_subnet_that_is_left_out_is_named_in_the_stack_file_with_the_reason(configure, facts):
    left_out = {f"subnet {PRIVATE[0]}": NO_IPV4, "subnet subnet-f": NO_IPV4}
    others = {name: each for name, each in facts.subnets.items() if name != PRIVATE[0]}
    account = replace(facts, subnets=others, left_out=left_out)
    found = examine(configure(), account, stack_file=STACK_FILE, region="us-west-2", now=NOW)
    assert f"this subnet cannot be used: {NO_IPV4}" in [each.problem for each in found.problems]
    assert f"left out: subnet subnet-f: {NO_IPV4}" in found.warnings


@pytest.mark.parametrize(
    ("code", "kept", "said"),
    [
        ("IncorrectMountTargetState", 0, "it is creating, and EFS shows no security groups of it"),
        ("MountTargetNotFound", 0, "it is creating"),
        ("AccessDeniedException", 1, ""),
    ],
)
def test_a_mount_target_that_is_created_or_deleted_is_left_out(
    reader: AccountReader, code: str, kept: int, said: str
) -> None:
    target = {
        "MountTargetId": "fsmt-0123456789abcdef0",
        "FileSystemId": "fs-0123456789abcdef0",
        "SubnetId": PRIVATE_B,
        "LifeCycleState": "creating",
    }
    efs: Any = reader.client("efs")
    with Stubber(efs) as answers:
        answers.add_response("describe_mount_targets", {"MountTargets": [target]})
        answers.add_client_error("describe_mount_target_security_groups", code)
        found = efs_facts(reader, "fs-0123456789abcdef0")
    assert len(found.targets) == kept
    assert said in "".join(reader.left_out.values())
    assert bool(reader.left_out) is bool(said)


def test_a_deleted_launch_template_or_version_is_left_out(
    account: Account, reader: AccountReader
) -> None:
    kept, deleted = (account.template(name, InstanceType="t3.small") for name in ("a", "b"))
    account.ec2.delete_launch_template(LaunchTemplateId=deleted)
    wanted = [("LaunchTemplateId", kept, "1"), ("LaunchTemplateId", deleted, "1")]
    found = [*read_templates(reader, wanted, str)]
    assert [each["LaunchTemplateId"] for each in found] == [kept]
    ((what, why),) = reader.left_out.items()
    assert what == f"launch template {deleted}, version 1"
    assert "no such version any more" in why
    with Stubber(reader.ec2) as answers:
        answers.add_client_error(
            "describe_launch_template_versions", "InvalidLaunchTemplateId.VersionNotFound"
        )
        assert [*read_templates(reader, [("LaunchTemplateId", kept, "9")], str)] == []
    assert f"launch template {kept}, version 9" in reader.left_out


@pytest.mark.parametrize(
    ("service", "method", "key", "complete", "lacking", "what"),
    [
        pytest.param(
            "ec2",
            "describe_capacity_reservations",
            "CapacityReservations",
            described(),
            without(described(CapacityReservationId="cr-1"), "AvailabilityZone"),
            "capacity reservation cr-1",
            id="reservation",
        ),
        pytest.param(
            "fsx",
            "describe_file_systems",
            "FileSystems",
            {"FileSystemId": "fs-00000000000000001", "FileSystemType": "LUSTRE"},
            {"FileSystemId": "fs-00000000000000002"},
            "file system fs-00000000000000002",
            id="file-system",
        ),
    ],
)
def test_a_listed_object_that_lacks_a_value_is_left_out(
    reader: AccountReader,
    service: str,
    method: str,
    key: str,
    complete: dict[str, Any],
    lacking: dict[str, Any],
    what: str,
) -> None:
    of_reader = {"ec2": every_reservation, "fsx": every_file_system}[service]
    with Stubber(reader.client(service)) as answers:
        answers.add_response(method, {key: [complete, lacking]})
        found = [*of_reader(reader)]
    assert len(found) == 1
    assert list(reader.left_out) == [what]


def test_an_object_that_the_stack_file_names_is_not_left_out(reader: AccountReader) -> None:
    with Stubber(reader.ec2) as answers:
        lacking = without(described(), "AvailabilityZone")
        answers.add_response("describe_capacity_reservations", {"CapacityReservations": [lacking]})
        with pytest.raises(MissingValueError, match="it has no AvailabilityZone"):
            look_up_reservation(reader, lacking["CapacityReservationId"])
    assert reader.left_out == {}
