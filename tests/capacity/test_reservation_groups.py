"""Groups of reservations in the account, and facts that the account adds to the stack file."""

from dataclasses import replace

import pytest

from tests.support.eks import PRIVATE, STACK_FILE, changed
from tests.support.eks_account import ACCOUNT, NOW
from trainyard.components.architectures.prepare import complete, examine
from trainyard.components.capacity.checks import reservation_problems, use_problems
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.reservations import OdcrGroup

FIRST, SECOND = "cr-00d00000000000001", "cr-00d00000000000002"
ARN = "arn:aws:resource-groups:us-west-2:123456789012:group/training"
POOL = "trainyard:cluster.reservations.block"


@pytest.fixture
def odcr(block):
    """Return a reservation of two p5.48xlarge by id."""

    def make(reservation_id, **changes):
        own = replace(block, reservation_id=reservation_id, kind="odcr", ends_at=None)
        arn = f"arn:aws:ec2:us-west-2:{ACCOUNT}:capacity-reservation/{reservation_id}"
        return replace(own, arn=arn, **changes)

    return make


def pool(**reservation):
    raw = changed(reservations__block={"kind": "odcr-group", **reservation})
    return load_stack_config(raw, stack_file=STACK_FILE)


def of_members(**reservation):
    return pool(members=[FIRST, SECOND], **reservation)


def account(facts, *reservations, groups=None):
    found = {r.reservation_id: r for r in reservations}
    return replace(facts, reservations=found, reservation_groups=groups or {})


def problems(config, facts):
    return list(reservation_problems(complete(config, facts), facts, NOW))


def test_members_that_fit_have_no_problem(facts, odcr):
    assert problems(of_members(), account(facts, odcr(FIRST), odcr(SECOND))) == []


def test_the_account_says_how_many_instances_and_which_zone_a_group_has(facts, odcr):
    """PR-40: the user provides neither."""
    known = account(facts, odcr(FIRST), odcr(SECOND))
    completed = complete(of_members(), known).reservations["block"]
    assert (completed.instance_count, completed.availability_zone) == (4, "us-west-2b")


def test_members_in_two_zones_leave_the_zone_open(facts, odcr):
    known = account(facts, odcr(FIRST), odcr(SECOND, availability_zone="us-west-2a"))
    assert complete(of_members(), known).reservations["block"].availability_zone is None


def test_a_shared_member_becomes_the_arn_of_its_owner(facts, odcr):
    """PR-08."""
    arn = f"arn:aws:ec2:us-west-2:999988887777:capacity-reservation/{SECOND}"
    shared = replace(odcr(SECOND, owner_id="999988887777"), arn=arn)
    completed = complete(of_members(), account(facts, odcr(FIRST), shared))
    group = completed.reservations["block"]
    assert isinstance(group, OdcrGroup)
    assert group.members == (f"arn:aws:ec2:us-west-2:{ACCOUNT}:capacity-reservation/{FIRST}", arn)


def test_nodes_go_to_the_subnet_in_the_zone_of_the_members(facts, odcr):
    known = account(facts, odcr(FIRST), odcr(SECOND))
    group = complete(of_members(), known).architecture.node_groups["p5"]
    assert known.subnets[group.subnet_id].availability_zone == "us-west-2b"


def test_a_member_that_does_not_exist_is_named(facts, odcr):
    (problem,) = problems(of_members(), account(facts, odcr(FIRST)))
    assert (problem.path, problem.found) == (f"{POOL}.members", SECOND)


def test_a_capacity_block_in_a_group_is_refused(facts, odcr, block):
    inside = replace(block, reservation_id=SECOND)
    (problem,) = problems(of_members(), account(facts, odcr(FIRST), inside))
    assert problem.path == f"{POOL}.members"
    assert "kind capacity-block" in problem.remedy


def test_a_member_that_is_over_is_refused(facts, odcr):
    known = account(facts, odcr(FIRST), odcr(SECOND, state="expired"))
    (problem,) = problems(of_members(), known)
    assert "expired" in str(problem.found)


def test_a_type_that_no_member_reserves_is_refused(facts, odcr):
    known = account(
        facts,
        odcr(FIRST, instance_type="p4d.24xlarge"),
        odcr(SECOND, instance_type="p4de.24xlarge"),
    )
    (problem,) = problems(of_members(), known)
    assert problem.path.endswith("node_groups.p5.instance_type")
    assert "p4d.24xlarge, p4de.24xlarge" in problem.problem


def test_a_type_that_one_member_reserves_is_enough(facts, odcr):
    known = account(facts, odcr(FIRST), odcr(SECOND, instance_type="p4de.24xlarge"))
    assert problems(of_members(), known) == []


def test_more_nodes_than_all_members_hold_are_refused(facts, odcr):
    known = account(facts, odcr(FIRST, instance_count=1))
    config = pool(members=[FIRST], instance_count=2)
    found = examine(config, known, stack_file=STACK_FILE, region="us-west-2", now=NOW)
    desired = "trainyard:cluster.architecture.node_groups.p5.desired"
    assert {problem.path for problem in found.problems} == {f"{POOL}.instance_count", desired}


def test_a_group_that_exists_is_judged_by_its_members(facts, odcr):
    known = account(facts, odcr(FIRST, instance_type="p4d.24xlarge"), groups={ARN: (FIRST,)})
    (problem,) = problems(pool(group_arn=ARN), known)
    assert problem.path.endswith("node_groups.p5.instance_type")


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        pytest.param({}, "does not exist", id="no-group"),
        pytest.param({ARN: ()}, "contains no capacity reservation", id="empty-group"),
    ],
)
def test_a_group_without_reservations_is_refused(facts, groups, said):
    (problem,) = problems(pool(group_arn=ARN), account(facts, groups=groups))
    assert problem.path == f"{POOL}.group_arn"
    assert said in problem.problem


def test_a_group_that_may_not_be_read_is_not_judged(facts):
    known = replace(
        account(facts), unreadable=("resource-groups:ListGroupResources: AccessDenied",)
    )
    assert problems(pool(group_arn=ARN), known) == []


def test_members_in_two_zones_accept_a_subnet_in_each(facts, odcr):
    known = account(facts, odcr(FIRST, availability_zone="us-west-2a"), odcr(SECOND))
    users = of_members().pools_with("block")
    for subnet in PRIVATE:
        here = [replace(pool, subnet_ids=(subnet,)) for pool in users]
        assert list(use_problems(here, [*known.reservations.values()], known)) == []
    there = [replace(pool, subnet_ids=(PRIVATE[0],)) for pool in users]
    assert list(use_problems(there, [odcr(SECOND)], known))
