"""Hosts of private ECR registries, and images of wrong ones.

Hosts are those of https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html,
ecr-requests.html (dual-stack) and https://docs.aws.amazon.com/general/latest/gr/ecr.html (FIPS).
"""

from __future__ import annotations

import pytest

from tests.support.batch import P4D
from tests.support.stack_files import notes, raw_config, refusals
from trainyard.components.catalog.image_references import ImageReferenceError, ecr_registry, parsed
from trainyard.components.compute.image_registry import is_public

ACCOUNT = "210987654321"


@pytest.mark.parametrize(
    ("host", "region"),
    [
        (f"{ACCOUNT}.dkr.ecr.us-west-2.amazonaws.com", "us-west-2"),
        (f"{ACCOUNT}.dkr.ecr.cn-north-1.amazonaws.com.cn", "cn-north-1"),
        (f"{ACCOUNT}.dkr.ecr.us-gov-west-1.amazonaws.com", "us-gov-west-1"),
        (f"{ACCOUNT}.dkr.ecr-fips.us-east-1.amazonaws.com", "us-east-1"),
        (f"{ACCOUNT}.dkr-ecr.eu-west-1.on.aws", "eu-west-1"),
    ],
)
def test_a_registry_has_its_account_and_region(host, region):
    found = ecr_registry(host)
    assert found is not None
    assert (found.account, found.region) == (ACCOUNT, region)
    assert found.host() == host
    assert not is_public(f"{host}/team/train:1")
    assert parsed(f"{host}/team/train:1").registry == host


@pytest.mark.parametrize("host", ["public.ecr.aws", "docker.io", "ecr.example.org", "nvcr.io"])
def test_other_hosts_are_no_registries_of_ecr(host):
    assert ecr_registry(host) is None


@pytest.mark.parametrize(
    ("host", "why", "meant"),
    [
        (
            f"{ACCOUNT}.dkr.ecr.us-west-2.amazonaws.com.cn",
            "the domain amazonaws.com.cn",
            f"{ACCOUNT}.dkr.ecr.us-west-2.amazonaws.com",
        ),
        (
            f"{ACCOUNT}.dkr.ecr.cn-north-1.amazonaws.com",
            "the domain amazonaws.com",
            f"{ACCOUNT}.dkr.ecr.cn-north-1.amazonaws.com.cn",
        ),
        (
            f"{ACCOUNT}.dkr.ecr.us-wset-2.amazonaws.com",
            "'us-wset-2'",
            f"{ACCOUNT}.dkr.ecr.us-west-2.amazonaws.com",
        ),
        (f"{ACCOUNT}.dkr.ecr.amazonaws.com", "'amazonaws'", ""),
        ("12345678901.dkr.ecr.us-west-2.amazonaws.com", "'12345678901'", ""),
        ("000000000000.dkr.ecr.us-west-2.amazonaws.com", "'000000000000'", ""),
        ("dkr.ecr.us-west-2.amazonaws.com", "'nothing'", ""),
    ],
)
def test_a_host_that_no_registry_has_is_refused(host, why, meant):
    with pytest.raises(ImageReferenceError) as refused:
        parsed(f"{host}/team/train:1")
    assert why in refused.value.why
    assert refused.value.meant == (f"{meant}/team/train:1" if meant else "")
    if meant:
        assert parsed(refused.value.meant)


def with_image(image: str) -> dict[str, object]:
    own = {"compute_environment": "p4d", "image": image, "command": ["true"]}
    return raw_config(P4D, architecture__job_definitions={"own": own})


def told(image: str) -> list[str]:
    return [each for each in notes(with_image(image)).splitlines() if ".image: " in each]


def test_an_image_of_another_region_is_told_with_that_of_the_own_region():
    """Pulls between regions work, and cost: the repository policy and the role allow them."""
    image = f"{ACCOUNT}.dkr.ecr.us-east-1.amazonaws.com/team/train:1"
    assert not refusals(with_image(image))
    (said,) = told(image)
    assert f"write {ACCOUNT}.dkr.ecr.us-west-2.amazonaws.com/team/train:1" in said
    assert not told(f"{ACCOUNT}.dkr.ecr.us-west-2.amazonaws.com/team/train:1")


def test_an_image_of_another_partition_is_refused():
    image = f"{ACCOUNT}.dkr.ecr.cn-north-1.amazonaws.com.cn/team/train:1"
    (problem,) = refusals(with_image(image)).values()
    assert "aws-cn" in problem.problem
    assert f"{ACCOUNT}.dkr.ecr.us-west-2.amazonaws.com/team/train:1" in problem.remedy
