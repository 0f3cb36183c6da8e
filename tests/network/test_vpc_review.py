"""Problems of the zones and addresses of a new VPC, with their fixes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.components.config.network import NewVpc
from trainyard.components.config.problems import Review
from trainyard.components.network.vpc_review import review_new_vpc

REGION = "us-west-2"
ZONES = ("us-west-2a", "us-west-2b")


def found(**values):
    """Return the problems of a new VPC, grouped by path."""
    review = Review(stack_file="Pulumi.dev.yaml")
    network = NewVpc(**{"kind": "new-vpc", "availability_zones": ZONES, **values})
    review_new_vpc(network, REGION, review)
    problems = {}
    for problem in review.problems:
        assert problem.remedy
        problems.setdefault(problem.path.removeprefix("trainyard:cluster."), []).append(problem)
    return problems


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({}, id="nothing said"),
        pytest.param({"cidr": "10.0.0.0/25"}, id="smallest"),
        pytest.param({"addresses": "vpc-multi-az"}, id="multi-az"),
        pytest.param({"addresses": "vpc-multi-az", "cidr": "10.0.0.0/16"}, id="same cidr"),
        pytest.param({"addresses": "vpc-one-az", "availability_zones": ZONES[:1]}, id="one-az"),
        pytest.param({"availability_zones": ("usw2-az3", "usw2-az1")}, id="ids"),
        pytest.param(
            {
                "addresses": "vpc-multi-az",
                "cidr": "10.9.0.0/16",
                "public_subnet_cidrs": ("10.9.0.0/24", "10.9.1.0/24"),
                "private_subnet_cidrs": ("10.9.16.0/20", "10.9.32.0/20"),
            },
            id="own",
        ),
        pytest.param({"public_subnets": False, "nat_gateways": "none"}, id="no public ones"),
        pytest.param(
            {
                "public_subnets": False,
                "nat_gateways": "none",
                "addresses": "vpc-multi-az",
                "cidr": "10.9.0.0/16",
                "private_subnet_cidrs": ("10.9.16.0/20", "10.9.32.0/20"),
            },
            id="own private ones",
        ),
    ],
)
def test_what_ec2_can_make_is_not_refused(values):
    assert found(**values) == {}


@pytest.mark.parametrize(
    ("values", "path", "words"),
    [
        pytest.param(
            {"availability_zones": ("us-west-2a", "us-west-2a")},
            "network.availability_zones",
            "a zone twice",
            id="twice",
        ),
        pytest.param(
            {"public_subnets": False},
            "network.nat_gateways",
            "needs a public subnet",
            id="a NAT gateway without a public subnet",
        ),
        pytest.param(
            {
                "public_subnets": False,
                "nat_gateways": "none",
                "public_subnet_cidrs": ("192.168.0.0/24", "192.168.1.0/24"),
            },
            "network.public_subnet_cidrs",
            "`public_subnets` is false",
            id="addresses of public subnets that are not made",
        ),
        pytest.param(
            {"availability_zones": ("us-west-2a", "us-east-1a")},
            "network.availability_zones",
            "not in the stack's region, us-west-2",
            id="region",
        ),
        pytest.param(
            {"availability_zones": tuple(f"us-west-2{c}" for c in "abcde")},
            "network.availability_zones",
            "more zones than the addresses of `eksctl` support",
            id="zones",
        ),
        pytest.param(
            {"addresses": "vpc-one-az"},
            "network.availability_zones",
            "more zones than the addresses of `vpc-one-az`",
            id="one-az",
        ),
        pytest.param({"cidr": "10.0.0.0/8"}, "network.cidr", "a size that EC2 allows", id="large"),
        pytest.param({"cidr": "10.0.0.0/29"}, "network.cidr", "a size that EC2 allows", id="tiny"),
        pytest.param({"cidr": "10.0.0.0/26"}, "network.cidr", "is too small", id="eighths"),
        pytest.param(
            {"addresses": "vpc-multi-az", "cidr": "10.7.0.0/16"},
            "network.cidr",
            "is not the CIDR block of the template",
            id="template",
        ),
        pytest.param(
            {"secondary_cidrs": ("192.168.128.0/17",)},
            "network.secondary_cidrs[0]",
            "overlaps another CIDR block of the VPC",
            id="networks",
        ),
        pytest.param(
            {"secondary_cidrs": tuple(f"10.{i}.0.0/16" for i in range(5))},
            "network.secondary_cidrs",
            "more CIDR blocks than a VPC can have",
            id="quota",
        ),
        pytest.param(
            {"private_subnet_cidrs": ("192.168.64.0/19",)},
            "network.private_subnet_cidrs",
            "one CIDR block for each of `availability_zones`",
            id="short",
        ),
        pytest.param(
            {"private_subnet_cidrs": ("192.168.64.0/19", "10.0.0.0/19")},
            "network.private_subnet_cidrs[1]",
            "outside of the CIDR blocks of the VPC",
            id="outside",
        ),
        pytest.param(
            {"private_subnet_cidrs": ("192.168.64.0/19", "192.168.0.0/24")},
            "network.private_subnet_cidrs[1]",
            "overlaps another subnet, 192.168.0.0/19",
            id="subnets",
        ),
        pytest.param(
            {"public_subnet_cidrs": ("192.168.0.0/29", "192.168.1.0/24")},
            "network.public_subnet_cidrs[0]",
            "smaller than the smallest subnet",
            id="small",
        ),
    ],
)
def test_refuses_at_the_key_to_change(values, path, words):
    problems = found(**values)
    assert path in problems, problems
    assert words in problems[path][0].problem


def test_everything_is_told_at_once():
    problems = found(
        availability_zones=("us-west-2a", "us-west-2a"),
        secondary_cidrs=("192.168.0.0/17",),
        public_subnet_cidrs=("192.168.0.0/24",),
        private_subnet_cidrs=("10.0.0.0/24", "192.168.0.0/29"),
    )
    assert set(problems) == {
        "network.availability_zones",
        "network.secondary_cidrs[0]",
        "network.public_subnet_cidrs",
        "network.private_subnet_cidrs[0]",
        "network.private_subnet_cidrs[1]",
    }


@given(
    st.sampled_from(["eksctl", "vpc-multi-az", "vpc-one-az"]),
    st.integers(1, 6),
    st.integers(8, 32),
)
def test_any_vpc_is_made_or_refused_with_a_fix(addresses, zones, prefix):
    found(
        addresses=addresses,
        availability_zones=tuple(f"us-west-2{c}" for c in "abcdef"[:zones]),
        cidr=f"10.0.0.0/{prefix}",
    )
