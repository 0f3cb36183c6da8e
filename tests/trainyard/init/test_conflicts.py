"""Options that contradict each other or the account are all refused at once."""

from __future__ import annotations

import pytest

from tests.support.account import (
    BLOCK,
    BLOCK_IN_D,
    EFS,
    EXPIRED,
    LUSTRE,
    OTHER_VPC,
    VPC,
    listing,
)
from tests.trainyard.init.support.new_stacks import conflicts

PRIVATE_A, PRIVATE_B = "subnet-0a000000000000002", "subnet-0b000000000000002"


@pytest.mark.parametrize(
    ("given", "option", "said"),
    [
        ({"kind": "k8s"}, "--kind", "is not a kind of stack"),
        ({"example": "p6"}, "--from", "is not a shipped stack"),
        ({"example": "p5-cb", "kind": "slurm"}, "--kind", "which is of kind eks"),
        ({"name": "p5-cb"}, "NAME", "is the name of a shipped stack"),
        ({"name": "my.stack"}, "NAME", "is not a name for a cluster"),
        ({"region": "us-west-9x"}, "--region", "is not an AWS region"),
        ({"region": "us-east-1", "sandbox": True}, "--region", "contradicts `--sandbox`"),
        ({"profile": "team", "sandbox": True}, "--profile", "contradicts `--sandbox`"),
        ({"vpc": "my-vpc"}, "--vpc", "is not the id of a VPC"),
        ({"reservations": ("cr-1",)}, "--reservation", "is not the id of a capacity reservation"),
        ({"reservations": (BLOCK, BLOCK)}, "--reservation", "is given twice"),
        ({"instance_types": ("p5.48xlarg",)}, "--instance-type", "is not an instance type"),
        ({"nodes": (0,)}, "--nodes", "is less than one"),
        ({"lustre_gib": 1300}, "--lustre-gib", "is not a capacity of FSx for Lustre"),
        (
            {"lustre_gib": 1200, "file_system": LUSTRE},
            "--file-system and --lustre-gib",
            "contradict each other",
        ),
        ({"kind": "batch", "lustre_gib": 1200}, "--lustre-gib", "AWS Batch stacks mount no file"),
        ({"vpc": "new", "file_system": LUSTRE}, "--file-system", "contradicts `--vpc new`"),
        ({"vpc": "new", "subnets": (PRIVATE_A,)}, "--subnet", "contradicts `--vpc new`"),
        ({"kind": "network", "nodes": (2,)}, "--nodes", "a network stack is a new VPC"),
        ({"reservations": (EXPIRED,)}, "--reservation", "it is expired"),
        ({"reservations": ("cr-" + "9" * 17,)}, "--reservation", "does not exist in this account"),
        ({"reservations": (BLOCK,), "nodes": (3,)}, "--nodes", f"is more than {BLOCK} has"),
        (
            {"example": "eks-p5-odcr", "reservations": (BLOCK,)},
            "--from",
            "is an example for odcr, but",
        ),
        ({"instance_types": ("u-6tb1.metal",)}, "--instance-type", "is not"),
        ({"vpc": "vpc-" + "9" * 17}, "--vpc", "does not exist in this account"),
        ({"vpc": OTHER_VPC, "reservations": (BLOCK,)}, "--vpc", "no private subnet is in"),
        ({"subnets": ("subnet-" + "9" * 17,)}, "--subnet", "does not exist in this account"),
        ({"vpc": OTHER_VPC, "subnets": (PRIVATE_A,)}, "--subnet", f"is in {VPC}, not in"),
        (
            {"reservations": (BLOCK_IN_D,), "subnets": (PRIVATE_A, PRIVATE_B)},
            "--subnet",
            f"no private subnet is in us-west-2d, the zone of {BLOCK_IN_D}",
        ),
        ({"file_system": EFS}, "--file-system", "which only Slurm clusters mount"),
        ({"file_system": LUSTRE, "vpc": OTHER_VPC}, "--file-system", f"it is in {VPC}"),
        ({"key_pair": "mine"}, "--key-pair", "does not exist in us-west-2"),
        ({"api_networks": ("203.0.113.7",)}, "--api-networks", "has no prefix length"),
        ({"api_networks": ("203.0.113.7/24",)}, "--api-networks", "has host bits set"),
        ({"api_networks": ("0.0.0.0",)}, "--api-networks", "has no prefix length"),
        ({"api_networks": ("2001:db8::/32",)}, "--api-networks", "is not an IPv4 network"),
        ({"api_networks": ("",)}, "--api-networks", "is not an IPv4 network"),
        ({"api_networks": ("172.16.4.0/24",)}, "--api-networks", "is no network of the internet"),
        ({"api_networks": ("169.254.1.1/32",)}, "--api-networks", "is no network of the internet"),
        (
            {"api_networks": ("private", "203.0.113.0/24")},
            "--api-networks",
            "`private` and networks contradict each other",
        ),
        ({"api_networks": ("9.9.9.9/32", "9.9.9.9/32")}, "--api-networks", "is given twice"),
        (
            {"api_networks": tuple(f"9.9.9.{each}/32" for each in range(41))},
            "--api-networks",
            "41 networks, and EKS accepts at most 40",
        ),
        (
            {"kind": "slurm", "api_networks": ("203.0.113.0/24",)},
            "--api-networks",
            "only an EKS cluster has a Kubernetes API",
        ),
        (
            {"example": "pc-trn1-ultracluster", "kind": "slurm", "key_pair": "old"},
            "--key-pair",
            "is an RSA key",
        ),
    ],
)
def test_a_contradiction_is_refused_and_names_its_option(given, option: str, said: str) -> None:
    found = conflicts(**given)
    assert any(path == option and said in problem for path, problem in found), found


def test_options_that_fit_are_not_refused() -> None:
    given = {
        "kind": "eks",
        "reservations": (BLOCK,),
        "vpc": VPC,
        "subnets": (PRIVATE_A, PRIVATE_B),
        "nodes": (2,),
        "lustre_gib": 2400,
        "key_pair": "sandbox",
        "api_networks": tuple(f"9.9.9.{each}/32" for each in range(40)),
    }
    assert conflicts(**given) == []


def test_a_key_pair_that_cannot_be_read_is_not_refused() -> None:
    account = listing(key_pairs={}, unreadable=("ec2:DescribeKeyPairs: UnauthorizedOperation",))
    assert conflicts(account, kind="eks", key_pair="mine") == []


def test_a_file_system_that_cannot_be_read_is_refused_with_the_call() -> None:
    denied = "fsx:DescribeFileSystems: AccessDeniedException"
    account = listing(fsx=(), unreadable=(denied,))
    ((option, said),) = conflicts(account, kind="eks", file_system=LUSTRE)
    assert (option, denied in said) == ("--file-system", True)


def test_all_contradictions_are_reported_at_once() -> None:
    found = conflicts(
        reservations=(BLOCK_IN_D, EXPIRED),
        subnets=(PRIVATE_A,),
        nodes=(5,),
        key_pair="mine",
        lustre_gib=1300,
    )
    options = [path for path, _ in found]
    assert set(options) == {"--reservation", "--subnet", "--nodes", "--key-pair", "--lustre-gib"}
    assert options.count("--nodes") == 2
