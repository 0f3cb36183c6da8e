"""Checks of a ParallelCluster stack against the account, before anything is created."""

from __future__ import annotations

from ipaddress import IPv4Network

import pytest

from tests.support.account import (
    account,
    image,
    odcr,
    prepared,
    subnet,
)
from tests.support.parallelcluster import RAW_P4DE, raw_g4dn
from tests.support.stack_files import AMI, PRIVATE_A, PRIVATE_B, PUBLIC_B, RESERVATION, raw_config
from trainyard.components.account.facts import KeyPairFacts
from trainyard.components.config.problems import ROOT, ConfigError
from trainyard.components.parallelcluster.rendering import render_cluster

HEAD_NODE = "architecture.head_node"
QUEUE = "architecture.queues.compute-gpu"
SHARE = "arn:aws:ram:us-west-2:999988887777:resource-share/01234567-89ab-cdef-0123-456789abcdef"


def p4de(**changes):
    return raw_config(RAW_P4DE, **changes)


def problems(raw, facts):
    """Return the problems, by path below the root."""
    try:
        prepared(raw, facts)
    except ConfigError as error:
        return {problem.path.removeprefix(f"{ROOT}."): problem for problem in error.problems}
    return {}


def with_subnet(subnet_id, **changes):
    facts = account()
    return account(subnets={**facts.subnets, subnet_id: subnet(subnet_id, **changes)})


def with_image(**changes):
    return account(images={AMI: image(**changes)})


def test_an_account_that_fits_has_no_problem():
    assert problems(p4de(), account()) == {}
    assert prepared(p4de(), account()).warnings == ()


def test_a_public_subnet_that_gives_no_addresses_is_refused_for_the_head_node():
    """The head node would reach nothing, and the creation would time out."""
    found = problems(p4de(), with_subnet(PUBLIC_B, maps_public_addresses=False))
    (path,) = found
    assert path == f"{HEAD_NODE}.subnet_id"
    assert f"modify-subnet-attribute --subnet-id {PUBLIC_B}" in found[path].remedy


def test_a_private_head_node_needs_no_public_addresses():
    raw = p4de(architecture__head_node__network="private")
    assert problems(raw, with_subnet(PUBLIC_B, maps_public_addresses=False)) == {}


def test_a_head_node_type_that_its_zone_does_not_offer_is_refused():
    """Rule E1."""
    facts = account(offered_zone_ids={"m5.8xlarge": frozenset({"usw2-az2"})})
    assert list(problems(p4de(), facts)) == [f"{HEAD_NODE}.instance_type"]


def test_a_key_pair_that_does_not_exist_is_refused_with_the_way_without_one():
    found = problems(p4de(), account(key_pairs={}))
    assert "public_key" in found[f"{HEAD_NODE}.ssh.key_name"].remedy


def test_ubuntu_takes_no_rsa_key():
    """KeyPairValidator."""
    facts = account(
        key_pairs={"sandbox": "rsa"},
        images={AMI: image(tags={**image().tags, "parallelcluster:os": "ubuntu2204"})},
    )
    found = problems(p4de(architecture__operating_system="ubuntu2204"), facts)
    assert found[f"{HEAD_NODE}.ssh.key_name"].allowed == "a key pair of type ed25519"
    assert problems(p4de(), account(key_pairs={"sandbox": "rsa"})) == {}


PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFxtkBQK8pio3VACjCmOl68BcFHYzZ6Xk60QDD9HYPvn"
OTHER_KEY = f"{PUBLIC_KEY[:-1]}m"


def with_deployed_key(public_key, cluster="pc-p4de"):
    tags = {"trainyard:cluster": cluster}
    return account(deployed_key=KeyPairFacts(name="key-1", public_key=public_key, tags=tags))


def importing_a_key():
    return p4de(architecture__head_node__ssh={"public_key": f"{PUBLIC_KEY} somebody@laptop"})


def test_the_same_public_key_is_imported_again():
    """EC2 may return another comment."""
    assert problems(importing_a_key(), with_deployed_key(f"{PUBLIC_KEY} key-1")) == {}
    assert problems(importing_a_key(), account()) == {}


def test_another_public_key_for_a_cluster_that_exists_is_refused():
    """The update would fail half-way: the name of the new key pair is unknown before it."""
    found = problems(importing_a_key(), with_deployed_key(OTHER_KEY))
    problem = found[f"{HEAD_NODE}.ssh.public_key"]
    assert problem.allowed == f"as deployed: {OTHER_KEY}"
    assert "authorized_keys" in problem.remedy


def test_an_imported_key_does_not_replace_a_key_pair_of_the_user():
    found = problems(importing_a_key(), with_deployed_key(PUBLIC_KEY, cluster="another"))
    assert "set key_name to key-1" in found[f"{HEAD_NODE}.ssh.public_key"].remedy


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"state": "pending"}, "state", id="state"),
        pytest.param({"architecture": "arm64"}, "different architecture", id="architecture"),
        pytest.param(
            {"tags": {"parallelcluster:version": "3.9.0"}},
            "its own ParallelCluster version",
            id="version",
        ),
        pytest.param(
            {"tags": {**image().tags, "parallelcluster:os": "rhel9"}}, "alinux2023", id="system"
        ),
        pytest.param(
            {"tags": {k: v for k, v in image().tags.items() if not k.endswith("status")}},
            "build completed",
            id="build-status",
        ),
    ],
)
def test_an_image_that_nodes_do_not_start_from_is_refused(change, words):
    """PC-03: CustomAmiTagValidator and related ones, before anything is created."""
    assert words in problems(p4de(), with_image(**change))["architecture.custom_ami_id"].problem


def test_an_image_that_does_not_exist_is_refused():
    found = problems(p4de(), account(images={}))["architecture.custom_ami_id"]
    assert "does not exist" in found.problem


def test_an_image_of_a_queue_is_checked_for_the_types_of_that_queue():
    raw = p4de(architecture__custom_ami_id=...)
    raw["architecture"]["queues"]["compute-gpu"]["custom_ami_id"] = AMI
    found = problems(raw, with_image(architecture="arm64"))
    assert "p4de.24xlarge cannot run it" in found[f"{QUEUE}.custom_ami_id"].problem


def test_a_root_volume_smaller_than_the_image_is_refused():
    """RootVolumeSizeValidator."""
    found = problems(p4de(), with_image(root_volume_gib=300))
    assert list(found) == [f"{QUEUE}.root_volume.size_gib"]
    assert found[f"{QUEUE}.root_volume.size_gib"].allowed == "300 or more"


def test_an_image_without_tags_may_be_a_shared_one_and_is_only_warned_of():
    facts = with_image(tags={}, name="training-gpu")
    (warning,) = prepared(p4de(), facts).warnings
    assert "parallelcluster:version and parallelcluster:os" in warning


def test_images_that_may_not_be_read_are_not_taken_for_missing():
    facts = account(images={}, unreadable=("ec2:DescribeImages: UnauthorizedOperation",))
    (warning,) = prepared(p4de(), facts).warnings
    assert "DescribeImages" in warning


def test_two_subnets_of_one_zone_are_refused_in_a_queue():
    """QueueSubnetsValidator."""
    second = "subnet-0a000000000000012"
    raw = raw_g4dn(network__private_subnet_ids=[PRIVATE_A, PRIVATE_B, second])
    raw["architecture"]["queues"]["compute"]["subnet_ids"] = [PRIVATE_A, second]
    facts = account()
    facts = account(subnets={**facts.subnets, second: subnet(second)})
    found = problems(raw, facts)["architecture.queues.compute.subnet_ids"]
    assert found.found == f"{PRIVATE_A} and {second}, both in us-west-2a"


def test_a_subnet_too_small_for_the_nodes_is_refused():
    """Pain 15: an EFA node needs one address, and Lustre one for each server."""
    found = problems(p4de(), with_subnet(PRIVATE_B, cidr=IPv4Network("10.0.16.0/29")))
    problem = found["network.private_subnet_ids"]
    assert "compute-gpu/distributed-ml, storage fsx need" in problem.problem
    assert f"{PRIVATE_B} (10.0.16.0/29), 3 addresses" == problem.found


@pytest.mark.parametrize(
    ("system", "platform", "fits"),
    [
        pytest.param("alinux2023", "Linux/UNIX", True, id="amazon-linux"),
        pytest.param("alinux2023", "Red Hat Enterprise Linux", False, id="red-hat-for-amazon"),
        pytest.param("rhel9", "Red Hat Enterprise Linux", True, id="red-hat"),
        pytest.param("rocky9", "Linux/UNIX", True, id="rocky"),
    ],
)
def test_a_reservation_is_of_the_platform_of_the_operating_system(system, platform, fits):
    facts = account(
        reservations={RESERVATION: odcr(platform=platform)},
        images={AMI: image(tags={**image().tags, "parallelcluster:os": system})},
    )
    found = problems(p4de(architecture__operating_system=system), facts)
    assert ("reservations.p4de.reservation_id" not in found) == fits


def test_more_nodes_than_the_reservation_holds_are_refused():
    """CapacityReservationSizeValidator counts the maximum of nodes, not the static ones."""
    raw = p4de(reservations__p4de__instance_count=...)
    found = problems(raw, account(reservations={RESERVATION: odcr(instance_count=3)}))
    assert f"{QUEUE}.compute_resources.distributed-ml.maximum" in found


def test_a_queue_in_another_zone_than_its_reservation_is_refused():
    raw = p4de(reservations__p4de__availability_zone=...)
    raw["architecture"]["queues"]["compute-gpu"]["subnet_ids"] = [PRIVATE_A]
    assert RESERVATION in problems(raw, account())[f"{QUEUE}.subnet_ids"].problem


def test_a_reservation_whose_share_the_stack_accepts_need_not_be_seen_yet():
    """PR-05, PR-06: a shared reservation is not visible before its share is accepted."""
    raw = p4de(
        reservations__p4de__provenance="aws-assisted",
        reservations__p4de__resource_share_arn=SHARE,
    )
    ready = prepared(raw, account(reservations={}))
    assert ready.plan.resource_shares == {"p4de": SHARE}
    (warning,) = ready.warnings
    assert warning.startswith("reservation p4de is not seen yet: the stack accepts its resource")


def test_a_reservation_without_a_share_must_be_there():
    found = problems(p4de(), account(reservations={}))["reservations.p4de.reservation_id"]
    assert "does not exist" in found.problem


def test_a_closed_network_is_refused_in_words_of_parallelcluster():
    """Nodes call CloudFormation and DynamoDB before they are configured."""
    closed = with_subnet(PRIVATE_B, default_route="none")
    found = problems(p4de(), closed)["network.private_subnet_ids[1]"]
    assert "cannot configure themselves" in found.problem
    assert "ParallelCluster" in found.remedy


def test_a_change_that_parallelcluster_would_refuse_is_refused_here():
    """PCx-04: the deployed configuration is compared before the first registration."""
    deployed = render_cluster(prepared(p4de(), account()).plan)
    facts = account(deployed_cluster=deployed)
    assert problems(p4de(), facts) == {}
    raw = p4de(architecture__head_node__instance_type="m5.4xlarge")
    assert f"{HEAD_NODE}.instance_type" in problems(raw, facts)
