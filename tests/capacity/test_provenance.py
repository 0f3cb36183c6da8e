"""`provenance: auto`: the account knows the placement group in which a reservation was created."""

from dataclasses import replace

import pytest

from tests.support.eks import OTHER_RESERVATION
from tests.support.eks_account import ACCOUNT, BLOCK, NOW
from trainyard.components.architectures.prepare import complete, prepare
from trainyard.components.capacity.checks import reservation_problems
from trainyard.components.capacity.lookup import reads_provenance, with_provenance
from trainyard.policies.pack.stack_config import pack_config

AUTO = {"kind": "odcr", "reservation_id": BLOCK, "provenance": "auto"}
OTHER_ACCOUNT = "999988887777"


@pytest.fixture
def odcr(block):
    return replace(block, kind="odcr", starts_at=None, ends_at=None)


def holding(facts, *reservations):
    return replace(facts, reservations={each.reservation_id: each for each in reservations})


def placement(configure, account, entry=AUTO):
    """Return the planned placement of the nodes."""
    made = prepare(
        configure(reservations__block=entry),
        account,
        stack_file="Pulumi.p5-cb.yaml",
        region="us-west-2",
        now=NOW,
    )
    (group,) = [each for each in made.plan.node_groups if each.name == "p5"]
    return group.placement


def test_an_own_group_is_used(configure, facts, odcr):
    """B8."""
    own = replace(odcr, placement_group="mine", placement_group_owner_id=ACCOUNT)
    planned = placement(configure, holding(facts, own))
    assert (planned.group, planned.name) == ("existing", "mine")


def test_a_group_of_another_account_is_left_alone(configure, facts, odcr):
    """B10: a second group on top of AWS's own fails every launch."""
    delivered = replace(
        odcr,
        owner_id=OTHER_ACCOUNT,
        placement_group="aws-delivered",
        placement_group_owner_id=OTHER_ACCOUNT,
    )
    account = holding(facts, delivered)
    assert placement(configure, account).group == "none"
    completed = complete(configure(reservations__block=AUTO), account).reservations["block"]
    assert completed.provenance == "aws-assisted"


def test_a_reservation_without_a_group_gets_none(configure, facts, odcr):
    assert placement(configure, holding(facts, odcr)).group == "none"


def test_what_the_account_does_not_show_is_assumed_to_have_none(configure, facts):
    hidden = replace(
        holding(facts), unreadable=("ec2:DescribeCapacityReservations: UnauthorizedOperation",)
    )
    where = {**AUTO, "availability_zone": "us-west-2b"}
    assert placement(configure, hidden, where).group == "none"


def test_reservations_in_different_groups_are_refused(configure, facts, odcr):
    entry = {
        "kind": "odcr-group",
        "members": [BLOCK, OTHER_RESERVATION],
        "provenance": "auto",
    }
    own = replace(odcr, placement_group="mine", placement_group_owner_id=ACCOUNT)
    account = holding(facts, own, replace(odcr, reservation_id=OTHER_RESERVATION))
    config = complete(configure(reservations__block=entry), account)
    (problem,) = reservation_problems(config, account, NOW)
    assert problem.path == "trainyard:cluster.reservations.block.provenance"
    assert BLOCK in problem.remedy


def test_what_the_stack_file_says_itself_stays(configure, facts, odcr):
    assisted = {**AUTO, "provenance": "aws-assisted"}
    own = replace(odcr, placement_group="mine", placement_group_owner_id=ACCOUNT)
    found = complete(configure(reservations__block=assisted), holding(facts, own))
    assert found.reservations["block"].provenance == "aws-assisted"
    assert found.reservations["block"].placement_group is None


def test_a_group_of_aws_beside_a_reservation_without_one_is_left_alone(configure, facts, odcr):
    """Only a placement group of the account can be that of the launch template."""
    entry = {"kind": "odcr-group", "members": [BLOCK, OTHER_RESERVATION], "provenance": "auto"}
    delivered = replace(odcr, placement_group="aws", placement_group_owner_id=OTHER_ACCOUNT)
    account = holding(facts, delivered, replace(odcr, reservation_id=OTHER_RESERVATION))
    config = complete(configure(reservations__block=entry), account)
    assert config.reservations["block"].provenance == "auto"
    assert list(reservation_problems(config, account, NOW)) == []


OWN_GROUP = {"PlacementGroupArn": f"arn:aws:ec2:us-west-2:{ACCOUNT}:placement-group/mine"}
THEIRS = {"PlacementGroupArn": f"arn:aws:ec2:us-west-2:{OTHER_ACCOUNT}:placement-group/theirs"}
DESCRIBED = {
    "CapacityReservationId": BLOCK,
    "CapacityReservationArn": f"arn:aws:ec2:us-west-2:{ACCOUNT}:capacity-reservation/{BLOCK}",
    "InstanceType": "p5.48xlarge",
    "AvailabilityZone": "us-west-2b",
    "State": "active",
    "TotalInstanceCount": 2,
    "OwnerId": ACCOUNT,
    "InstancePlatform": "Linux/UNIX",
}


class Reader:
    """An account with one reservation."""

    region = "us-west-2"

    class ec2:  # noqa: N801 - as the attribute of a reader
        describe_capacity_reservations = None

    def __init__(self, described):
        self.described = described

    def account_id(self):
        return ACCOUNT

    def ask(self, call, _do, **_arguments):
        assert call == "ec2:DescribeCapacityReservations"
        return {"CapacityReservations": [self.described]} if self.described else None


@pytest.mark.parametrize(
    ("described", "own", "assisted"),
    [
        (DESCRIBED | OWN_GROUP, {BLOCK: "mine"}, []),
        (DESCRIBED, {BLOCK: ""}, []),
        (DESCRIBED | THEIRS, {}, [BLOCK]),
        (None, {}, []),
    ],
)
def test_the_policy_pack_is_told_what_auto_stands_for(configure, described, own, assisted):
    """Otherwise it refuses the group in which the nodes of an own reservation must launch."""
    config = configure(reservations__block=AUTO)
    assert reads_provenance(config)
    told = pack_config(with_provenance(config, Reader(described)))
    rule = told["odcr-aws-assisted-no-placement-group"]
    assert (rule["own_reservations"], rule["assisted_reservations"]) == (own, assisted)


def test_the_account_is_not_asked_without_auto(configure):
    assert not reads_provenance(configure())
