from datetime import UTC, datetime, time, timedelta

import pytest

from tests.support.eks import NOW, PUBLIC, changed, config, p5, refusals, schema_problems
from tests.support.kubernetes import DEFAULT, OLDEST
from tests.support.stack_files import plan_from
from trainyard.components.catalog.versions import STANDARD_SUPPORT_ENDS
from trainyard.components.config.problems import Review
from trainyard.components.eks.cluster_review import review_cluster


@pytest.mark.parametrize(
    ("raw", "path", "problem", "remedy"),
    [
        pytest.param(
            changed(network__private_subnet_ids=[PUBLIC[1]]),
            "network.private_subnet_ids",
            "also listed as public",
            "one of the two lists",
            id="public-subnets-given-as-private",
        ),
        pytest.param(
            changed(network__public_subnet_ids=[PUBLIC[0], PUBLIC[0]]),
            "network.public_subnet_ids",
            "twice",
            "remove",
            id="subnet-twice",
        ),
        pytest.param(
            changed(architecture__kubernetes_version="1.33"),
            "architecture.kubernetes_version",
            "standard support since 2026-07-29",
            f"kubernetes_version' {OLDEST}",
            id="version-out-of-support",
        ),
        pytest.param(
            changed(architecture__kubernetes_version="1.27"),
            "architecture.kubernetes_version",
            "out of EKS's standard support, and is a version for which no AMI",
            f"kubernetes_version' {OLDEST}",
            id="version-older-than-the-calendar",
        ),
        pytest.param(
            changed(architecture__kubernetes_version="1.99"),
            "architecture.kubernetes_version",
            "no AMI and add-ons are pinned",
            DEFAULT,
            id="version-that-is-not-pinned",
        ),
        pytest.param(
            changed(architecture__authentication_mode="API"),
            "architecture.node_authorization",
            "does not read in the mode `API`",
            "access-entry",
            id="aws-auth-in-api-mode",
        ),
        pytest.param(
            changed(
                architecture__authentication_mode="CONFIG_MAP",
                architecture__node_authorization="access-entry",
            ),
            "architecture.node_authorization",
            "refuses in the mode `CONFIG_MAP`",
            "aws-auth",
            id="access-entry-in-config-map-mode",
        ),
        pytest.param(
            changed(architecture__endpoint={"public_access": False, "private_access": False}),
            "architecture.endpoint.private_access",
            "could not be reached",
            "true",
            id="no-endpoint",
        ),
        pytest.param(
            changed(tags={"aws:team": "x"}), "tags", "keeps for itself", "change", id="aws-tag"
        ),
        pytest.param(
            changed(tags={"trainyard:cluster": "x"}), "tags", "itself", "change", id="own-tag"
        ),
        pytest.param(
            changed(tags={f"t{i}": "x" for i in range(41)}), "tags", "50", "remove", id="tags"
        ),
    ],
)
def test_refuses_at_the_key_to_change_with_the_fix(raw, path, problem, remedy):
    found = refusals(raw)
    assert list(found) == [path]
    assert problem in found[path].problem
    assert remedy in found[path].remedy


def test_one_subnet_cannot_hold_a_control_plane():
    raw = changed(network__public_subnet_ids=[PUBLIC[0]], network__private_subnet_ids=[PUBLIC[0]])
    review = Review(stack_file="x")
    review_cluster(config(raw), NOW, review)
    assert any("two zones" in problem.problem for problem in review.problems)


def test_a_version_leaves_support_on_its_day():
    ends = datetime.combine(STANDARD_SUPPORT_ENDS[DEFAULT], time(), tzinfo=UTC)
    before = plan_from(p5(), now=ends - timedelta(minutes=1)).notes
    assert any("leaves EKS's standard support" in note for note in before)
    after = plan_from(p5(), now=ends).notes
    assert any("has been out of EKS's standard support since" in note for note in after)


@pytest.mark.parametrize(
    ("endpoint", "words"),
    [
        pytest.param({"public_access": False}, "inside the VPC", id="private"),
        pytest.param(
            {"private_access": False, "public_access_cidrs": ["203.0.113.0/24"]},
            "NAT gateways",
            id="restricted",
        ),
    ],
)
def test_an_endpoint_that_is_hard_to_reach_is_noted(endpoint, words):
    assert any(words in note for note in plan_from(changed(architecture__endpoint=endpoint)).notes)


def test_a_private_endpoint_in_a_vpc_that_does_not_exist_yet_is_noted():
    raw = changed(architecture__endpoint={"public_access": False})
    new = {"kind": "new-vpc", "availability_zones": ["us-west-2a", "us-west-2b"]}
    words = "nothing is in the new VPC before the first `up`"
    assert any(words in note for note in plan_from({**raw, "network": new}).notes)
    assert not any(words in note for note in plan_from(raw).notes)


CIDRS = "architecture.endpoint.public_access_cidrs"


@pytest.mark.parametrize(
    "cidr", ["0.0.0.0/0", "8.8.8.0/24", "9.255.255.255/32", "11.0.0.0/8", "172.32.0.0/16"]
)
def test_public_networks_may_use_the_public_endpoint(cidr):
    raw = changed(architecture__endpoint={"public_access_cidrs": [cidr]})
    assert refusals(raw) == {}


@pytest.mark.parametrize(
    "cidr", ["10.1.0.96/27", "172.31.0.0/16", "192.168.1.1/32", "127.0.0.1/32", "169.254.0.0/16"]
)
def test_no_private_network_uses_the_public_endpoint(cidr):
    raw = changed(architecture__endpoint={"public_access_cidrs": ["8.8.8.0/24", cidr]})
    assert refusals(raw)[f"{CIDRS}[1]"].found == cidr


@pytest.mark.parametrize(("count", "refused"), [(40, False), (41, True)])
def test_the_public_endpoint_has_room_for_forty_networks(count, refused):
    cidrs = [f"8.8.{index}.0/24" for index in range(count)]
    raw = changed(architecture__endpoint={"public_access_cidrs": cidrs})
    assert (CIDRS in schema_problems(raw)) is refused


def test_a_network_for_documentation_is_noted():
    raw = changed(architecture__endpoint={"public_access_cidrs": ["203.0.113.0/24"]})
    assert any("203.0.113.0/24" in note for note in plan_from(raw).notes)
