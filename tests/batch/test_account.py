"""Checks of a Batch stack against the account, before anything is created."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Network

import pytest

from tests.batch.support.image_reader import ReaderOfOneImage
from tests.support.account import (
    NOW,
    account,
    image,
    odcr,
    subnet,
)
from tests.support.batch import P4D
from tests.support.stack_files import AMI, PRIVATE_A, PRIVATE_B, RESERVATION, raw_config
from trainyard.components.account.reader import read_side_by_side
from trainyard.components.architectures.lookup import account_readings
from trainyard.components.architectures.prepare import prepare
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.capacity.reservations import unseen_reservation_warnings
from trainyard.components.config.batch import BatchStackConfig
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ROOT, ConfigError
from trainyard.components.network.facts import ZoneFacts

ENVIRONMENT = "architecture.compute_environments.p4d"
PLAIN = image(tags={}, root_volume_gib=30)


def p4d(**changes):
    return raw_config(P4D, **changes)


def fitting(**changes):
    """Return an account with two p4d reserved in us-west-2b."""
    fields = {
        "reservations": {RESERVATION: odcr(instance_type="p4d.24xlarge", instance_count=2)},
        "offered_zone_ids": {"p4d.24xlarge": frozenset({"usw2-az1", "usw2-az2"})},
        "images": {},
    }
    return account(**(fields | changes))


def with_subnet(subnet_id, **changes):
    facts = fitting()
    return fitting(subnets={**facts.subnets, subnet_id: subnet(subnet_id, **changes)})


def prepared(raw, facts):
    """Return the plan in an account.

    Raises:
        ConfigError: the stack does not fit the account.
    """
    stack_file = "Pulumi.batch-p4d.yaml"
    config = load_stack_config(raw, stack_file=stack_file)
    made = prepare(config, facts, stack_file=stack_file, region="us-west-2", now=NOW)
    assert isinstance(made.plan, BatchPlan)
    return made


def problems(raw, facts):
    """Return the problems, by path below the root."""
    try:
        prepared(raw, facts)
    except ConfigError as error:
        return {problem.path.removeprefix(f"{ROOT}."): problem for problem in error.problems}
    return {}


def test_an_account_that_fits_has_no_problem():
    assert problems(p4d(), fitting()) == {}


def test_nodes_launch_in_the_subnet_of_the_reservation():
    """DF-04: one typed list of subnets, from which the zone selects."""
    plan = prepared(p4d(), fitting()).plan
    assert plan.compute_environments[0].subnets == (PRIVATE_B,)


def test_a_reservation_of_another_zone_than_every_subnet_is_refused():
    here = odcr(instance_type="p4d.24xlarge", instance_count=2, availability_zone="us-west-2c")
    raw = p4d(reservations__p4d={"kind": "odcr", "reservation_id": RESERVATION})
    found = problems(raw, fitting(reservations={RESERVATION: here}))
    assert "network.private_subnet_ids" in found


def test_a_reservation_with_too_few_instances_is_refused_in_the_words_of_batch():
    held = odcr(instance_type="p4d.24xlarge", instance_count=1)
    found = problems(p4d(), fitting(reservations={RESERVATION: held}))
    problem = found[f"{ENVIRONMENT}.maximum"]
    assert "2 of 1" in problem.problem
    assert "compute environments" in problem.allowed


def test_efa_without_a_zone_is_refused_once():
    """G2: refused once, not for both its zone and its subnet."""
    open_capacity = {"architecture__compute_environments__p4d__purchase_option": "on-demand"}
    found = problems(p4d(reservations=..., **open_capacity), fitting(reservations={}))
    assert list(found) == [f"{ENVIRONMENT}.availability_zone"]


def test_a_key_pair_that_does_not_exist_is_refused_with_the_way_without_one():
    """BAT-05, DF-10: the key pair is optional."""
    key = f"{ENVIRONMENT}.ssh_key_name"
    raw = p4d(architecture__compute_environments__p4d__ssh_key_name="sandbox")
    assert problems(raw, fitting()) == {}
    found = problems(raw, fitting(key_pairs={"other": "rsa"}))
    assert "Session Manager" in found[key].remedy
    denied = ("ec2:DescribeKeyPairs: UnauthorizedOperation",)
    assert problems(raw, fitting(key_pairs={}, unreadable=denied)) == {}


def with_image(**changes):
    name = "architecture__compute_environments__p4d"
    return p4d(**{f"{name}__image": "custom", f"{name}__custom_ami_id": AMI, **changes})


def test_an_image_that_fits_is_accepted():
    assert problems(with_image(), fitting(images={AMI: PLAIN})) == {}


@pytest.mark.parametrize(
    ("facts", "key", "said"),
    [
        (None, "custom_ami_id", "INVALID"),
        (image(state="pending", tags={}), "custom_ami_id", "EC2 launches no instance"),
        (image(architecture="arm64", tags={}), "custom_ami_id", "different architecture"),
        (image(root_volume_gib=2000, tags={}), "root_volume.size_gib", "needs 2000 GiB"),
    ],
)
def test_an_image_that_nodes_cannot_start_from_is_refused(facts, key, said):
    """BAT-18, DF-10, pain 10: images that would make the compute environment INVALID."""
    found = problems(with_image(), fitting(images={AMI: facts} if facts else {}))
    assert said in found[f"{ENVIRONMENT}.{key}"].problem


@pytest.mark.parametrize(
    ("name", "from_amazon", "accepted"),
    [
        ("al2023-ami-ecs-gpu-hvm-2023.0.20260101-kernel-6.1-x86_64", True, True),
        ("al2023-ami-2023.9.20260101.0-kernel-6.12-x86_64", True, False),
        ("amzn2-ami-ecs-gpu-hvm-2.0.20260101-x86_64-ebs", True, True),
        ("amzn2-ami-hvm-2.0.20260101-x86_64-gp2", True, False),
        ("amazon-eks-node-al2023-x86_64-nvidia-1.35-v20260101", True, False),
        ("aws-parallelcluster-3.16.1-amzn2023-hvm-x86_64", True, False),
        ("ubuntu/images/hvm-ssd/ubuntu-jammy-22.04-amd64-server", True, False),
        ("al2023-ami-2023-with-the-agent", False, True),
    ],
)
def test_an_image_that_is_published_without_the_agent_of_ecs_is_refused(
    name, from_amazon, accepted
):
    facts = fitting(images={AMI: replace(PLAIN, name=name, from_amazon=from_amazon)})
    found = problems(with_image(), facts)
    assert (f"{ENVIRONMENT}.custom_ami_id" not in found) == accepted


@pytest.mark.parametrize(("device", "told"), [("/dev/xvda", False), ("/dev/sda1", True)])
def test_a_root_volume_that_keeps_its_size_is_told(device, told):
    facts = fitting(images={AMI: replace(PLAIN, root_device=device)})
    warnings = prepared(with_image(), facts).warnings
    assert any(device in warning for warning in warnings) == told


def test_an_image_that_may_not_be_read_is_not_checked():
    hidden = fitting(unreadable=("ec2:DescribeImages: UnauthorizedOperation",))
    assert problems(with_image(), hidden) == {}


def test_a_subnet_without_a_way_out_is_refused_for_the_agent_of_ecs():
    found = problems(p4d(), with_subnet(PRIVATE_B, default_route="none"))
    closed = [problem for problem in found.values() if "register with ECS" in problem.problem]
    assert [problem.path for problem in closed] == [f"{ROOT}.network.private_subnet_ids[1]"]


ENDPOINTS = frozenset({"ecs", "ecs-agent", "ecs-telemetry", "ecr.api", "ecr.dkr", "logs", "s3"})


def closed_vpc():
    """Return an account whose nodes reach AWS only through endpoints."""
    facts = with_subnet(PRIVATE_B, default_route="none")
    assert facts.vpc is not None
    vpc = type(facts.vpc)(
        vpc_id=facts.vpc.vpc_id,
        dns_support=True,
        dns_hostnames=True,
        endpoint_services=ENDPOINTS,
    )
    return fitting(subnets=facts.subnets, vpc=vpc)


def test_an_image_of_another_region_is_refused_where_nodes_reach_ecr_through_endpoints_only():
    image = "123456789012.dkr.ecr.us-east-1.amazonaws.com/training:1.0"
    definition = {"compute_environment": "p4d", "image": image, "command": ["true"]}
    raw = p4d(architecture__job_definitions={"own": definition})
    refused = problems(raw, closed_vpc())["architecture.job_definitions.own.image"]
    assert "private ECR registries in us-west-2" in refused.problem


def test_a_public_image_is_refused_where_nodes_reach_ecr_through_endpoints_only():
    found = problems(p4d(), closed_vpc())
    refused = found["architecture.job_definitions.nccl-multi.image"]
    assert "cannot pull the image" in refused.problem
    assert "image: repository" in refused.remedy


@pytest.mark.parametrize(
    "own", ["repository", "123456789012.dkr.ecr.us-west-2.amazonaws.com/training:1.0"]
)
def test_a_private_image_is_pulled_through_the_endpoints(own):
    definition = {"compute_environment": "p4d", "image": own, "command": ["true"]}
    raw = p4d(architecture__job_definitions={"own": definition})
    assert problems(raw, closed_vpc()) == {}


def test_a_subnet_with_too_few_addresses_is_refused():
    """G3: each container of a multi-node job needs an address in addition to its node."""
    raw = p4d(
        reservations__p4d__instance_count=8,
        architecture__compute_environments__p4d__maximum=8,
    )
    facts = with_subnet(PRIVATE_B, cidr=IPv4Network("10.0.0.0/28"))
    held = odcr(instance_type="p4d.24xlarge", instance_count=8)
    found = problems(raw, fitting(subnets=facts.subnets, reservations={RESERVATION: held}))
    assert "need 16 addresses" in found["network.private_subnet_ids"].problem


def test_subnets_that_nothing_launches_in_are_not_measured():
    assert problems(p4d(), with_subnet(PRIVATE_A, cidr=IPv4Network("10.0.0.0/28"))) == {}


def in_zones(*zones, **changes):
    """Return On-Demand p4d in a new VPC."""
    network = {"kind": "new-vpc", "availability_zones": list(zones), "addresses": "vpc-one-az"}
    own = "architecture__compute_environments__p4d"
    open_capacity = {f"{own}__purchase_option": "on-demand", "reservations": ...}
    zone = {f"{own}__availability_zone": zones[0]}
    return p4d(network=network, **open_capacity, **zone, **changes)


def with_zones(**changes):
    zones = (
        ZoneFacts(name="us-west-2b", zone_id="usw2-az1", kind="availability-zone"),
        ZoneFacts(name="us-west-2-lax-1a", zone_id="usw2-lax1-az1", kind="local-zone"),
    )
    return fitting(vpc=None, subnets={}, zones=zones, **changes)


def test_a_new_vpc_in_a_zone_that_offers_the_type_is_accepted():
    assert problems(in_zones("us-west-2b"), with_zones()) == {}


def test_a_type_that_the_zone_of_a_new_vpc_does_not_offer_is_refused():
    offered = {"p4d.24xlarge": frozenset({"usw2-az2"})}
    found = problems(in_zones("us-west-2b"), with_zones(offered_zone_ids=offered))
    assert "compute environment" in found[f"{ENVIRONMENT}.instance_type"].remedy


def test_a_local_zone_is_refused_in_the_words_of_batch():
    found = problems(in_zones("us-west-2-lax-1a"), with_zones())
    assert "compute environments and NAT gateways" in (
        found["network.availability_zones[0]"].problem
    )


@pytest.mark.parametrize(("image_id", "seen"), [(AMI, {AMI}), ("ami-0123456789abcdef9", set())])
def test_the_images_that_the_stack_file_names_are_looked_up(image_id, seen):
    name = "architecture__compute_environments__p4d__custom_ami_id"
    alone = {"architecture__job_definitions__nccl-multi__nodes": 1, name: image_id}
    config = load_stack_config(with_image(**alone), stack_file="Pulumi.batch-p4d.yaml")
    assert isinstance(config, BatchStackConfig)
    found = read_side_by_side(account_readings(ReaderOfOneImage(), config))
    assert set(found["images"]) == seen


def test_a_share_that_is_not_accepted_yet_is_said():
    share = "arn:aws:ram:us-west-2:999988887777:resource-share/0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f"
    shared = {
        "kind": "odcr",
        "provenance": "aws-assisted",
        "reservation_id": RESERVATION,
        "resource_share_arn": share,
        "availability_zone": "us-west-2b",
        "instance_count": 2,
    }
    config = load_stack_config(p4d(reservations__p4d=shared), stack_file="Pulumi.batch-p4d.yaml")
    assert isinstance(config, BatchStackConfig)
    (said,) = unseen_reservation_warnings(config, fitting(reservations={}))
    assert "accepts its resource share first" in said
