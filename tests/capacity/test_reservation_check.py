"""Problems of a reservation that does not fit."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.support.eks import OTHER_RESERVATION, PRIVATE, STACK_FILE
from tests.support.eks_account import BLOCK, NOW
from trainyard.components.architectures.prepare import examine
from trainyard.components.capacity.checks import reservation_problems

ODCR = {"kind": "odcr", "reservation_id": BLOCK, "instance_count": 2}


def problems(config, facts, reservation):
    account = replace(facts, reservations={BLOCK: reservation} if reservation else {})
    return list(
        examine(config, account, stack_file=STACK_FILE, region="us-west-2", now=NOW).problems
    )


def only(*args):
    (problem,) = problems(*args)
    return problem


def test_a_block_that_fits_has_no_problem(configure, facts, block):
    assert problems(configure(), facts, block) == []


@pytest.mark.parametrize("has_others", [False, True])
def test_a_reservation_that_does_not_exist_is_named(configure, facts, block, has_others):
    other = {OTHER_RESERVATION: replace(block, reservation_id=OTHER_RESERVATION)}
    account = replace(facts, reservations=other if has_others else {})
    (problem,) = reservation_problems(configure(), account, NOW)
    assert problem.path == "trainyard:cluster.reservations.block.reservation_id"
    assert "does not exist" in problem.problem


@pytest.mark.parametrize("state", ["expired", "cancelled", "failed"])
def test_a_reservation_that_is_over_is_refused(configure, facts, block, state):
    """Rules C11, D13, D19."""
    problem = only(configure(), facts, replace(block, state=state))
    assert state in str(problem.found)


def test_an_interruptible_reservation_is_refused_with_its_market_type(configure, facts, block):
    odcr = replace(block, kind="odcr", interruptible=True)
    problem = only(configure(reservations__block=ODCR), facts, odcr)
    assert problem.path == "trainyard:cluster.reservations.block.reservation_id"
    assert "interruptible-capacity-reservation" in problem.problem


@pytest.mark.parametrize("state", ["pending", "assessing", "scheduled", "delayed"])
def test_an_odcr_that_is_not_active_yet_has_no_nodes_until_then(configure, facts, block, state):
    odcr = replace(block, kind="odcr", state=state)
    problem = only(configure(reservations__block=ODCR), facts, odcr)
    assert "before it is active" in problem.problem
    node_group = "trainyard:cluster.architecture.node_groups.p5"
    assert f"set {node_group}.minimum and {node_group}.desired to 0 until" in problem.remedy
    empty = configure(reservations__block=ODCR, architecture__node_groups__p5__desired=0)
    account = replace(facts, reservations={BLOCK: odcr})
    found = examine(empty, account, stack_file=STACK_FILE, region="us-west-2", now=NOW)
    assert (found.problems, found.plan is None) == ((), False)
    (said,) = (each for each in found.warnings if BLOCK in each)
    assert f"it is {state}" in said
    assert ("it starts at 2026-11-20 11:30 UTC" in said) == (state in ("assessing", "scheduled"))


def test_a_block_that_is_not_paid_is_waited_for(configure, facts, block):
    problem = only(configure(), facts, replace(block, state="payment-pending"))
    assert "payment" in problem.problem
    assert "capacity list" in problem.remedy


@pytest.mark.parametrize("end", ["2026-11-27T11:30:00Z", "2026-11-25T11:30:00Z"])
def test_an_end_that_the_block_reaches_is_fine(configure, facts, block, end):
    assert problems(configure(reservations__block__ends_at=end), facts, block) == []


def test_an_end_after_the_block_s_own_is_refused(configure, facts, block):
    """The nodes would not be drained before EC2 terminates them."""
    problem = only(configure(reservations__block__ends_at="2026-12-04T11:30:00Z"), facts, block)
    assert problem.path == "trainyard:cluster.reservations.block.ends_at"
    assert "2026-11-27 11:30" in problem.allowed
    assert "`./trainyard capacity extend cr-" in problem.remedy


def test_a_block_that_has_not_begun_is_fine(configure, facts, block):
    assert problems(configure(), facts, replace(block, state="scheduled")) == []


def test_an_odcr_id_under_capacity_block_is_refused(configure, facts, block):
    """Rule D6, pain 5."""
    problem = only(configure(), facts, replace(block, kind="odcr"))
    assert problem.path == "trainyard:cluster.reservations.block.kind"
    assert "kind: odcr" in (problem.allowed or "")


def test_a_capacity_block_id_under_odcr_is_refused(configure, facts, block):
    """Rule D6, pain 5."""
    problem = only(configure(reservations__block=ODCR), facts, block)
    assert "capacity-block" in problem.remedy


def test_another_instance_type_is_refused(configure, facts, block):
    """Rule C1."""
    problem = only(configure(), facts, replace(block, instance_type="p4d.24xlarge"))
    assert problem.path.endswith("node_groups.p5.instance_type")
    assert "p4d.24xlarge" in problem.remedy


def test_a_zone_without_a_private_subnet_is_refused(configure, facts, block):
    """Rules C2, D16, pain 7."""
    elsewhere = replace(block, availability_zone="us-west-2c", zone_id="usw2-az3")
    found = {p.path for p in problems(configure(), facts, elsewhere)}
    assert "trainyard:cluster.network.private_subnet_ids" in found
    assert "trainyard:cluster.reservations.block.availability_zone" in found


def test_a_zone_given_by_its_id_is_the_same_zone(configure, facts, block):
    """PR-40."""
    config = configure(reservations__block__availability_zone="usw2-az2")
    assert problems(config, facts, block) == []


def test_a_part_of_a_reservation_can_be_used(configure, facts, block):
    assert problems(configure(), facts, replace(block, instance_count=4)) == []


def test_a_reservation_that_is_too_small_is_refused(configure, facts, block):
    """Rules C5, D12."""
    found = problems(configure(), facts, replace(block, instance_count=1))
    assert {p.path.rpartition(".")[2] for p in found} == {"instance_count", "desired"}


def test_another_platform_is_refused(configure, facts, block):
    """Rule C3."""
    problem = only(configure(), facts, replace(block, platform="Ubuntu Pro"))
    assert "Ubuntu Pro" in str(problem.found)


def test_an_own_odcr_made_in_a_group_must_say_so(configure, facts, block):
    """Rule B8."""
    odcr = replace(block, kind="odcr", placement_group="training")
    problem = only(configure(reservations__block=ODCR), facts, odcr)
    assert problem.remedy.endswith("placement_group to training")


def test_a_group_in_which_the_odcr_was_not_made_is_refused(configure, facts, block):
    """https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html."""
    config = configure(reservations__block={**ODCR, "placement_group": "mine"})
    problem = only(config, facts, replace(block, kind="odcr"))
    assert problem.path == "trainyard:cluster.reservations.block.placement_group"
    assert "not created in a placement group" in problem.problem


def test_a_block_that_is_over_may_be_forgotten_if_its_nodes_have_another(configure, facts, block):
    """EC2 does not list a block some time after its end."""
    old = {"kind": "capacity-block", "reservation_id": OTHER_RESERVATION}
    over = {**old, "starts_at": "2026-11-01T11:30:00Z", "ends_at": "2026-11-08T11:30:00Z"}
    config = configure(
        reservations__old={**over, "availability_zone": "us-west-2b", "instance_count": 2},
        architecture__node_groups__p5__purchase_option="old",
        architecture__node_groups__p5__further_blocks=["block"],
    )
    assert problems(config, facts, block) == []


def test_a_group_of_another_owner_means_aws_assisted(configure, facts, block):
    """PR-08: AWS delivers the capacity in its own placement group."""
    odcr = replace(block, kind="odcr", placement_group="aws-made", owner_id="999988887777")
    problem = only(configure(reservations__block=ODCR), facts, odcr)
    assert "aws-assisted" in problem.remedy


def test_an_aws_assisted_odcr_in_a_group_has_no_problem(configure, facts, block):
    odcr = replace(block, kind="odcr", placement_group="aws-made", owner_id="999988887777")
    config = configure(reservations__block={**ODCR, "provenance": "aws-assisted"})
    assert problems(config, facts, odcr) == []


def test_a_chosen_subnet_in_another_zone_is_refused(configure, facts, block):
    config = configure(architecture__node_groups__p5__subnet_id=PRIVATE[0])
    found = {problem.path: problem for problem in problems(config, facts, block)}
    problem = found["trainyard:cluster.architecture.node_groups.p5.subnet_id"]
    assert "zone of cr-" in problem.problem


def test_a_start_before_that_of_the_block_is_refused(configure, facts, block):
    """Nodes would launch before EC2 launches anything into the block."""
    early = {"kind": "capacity-block", "reservation_id": BLOCK}
    started = replace(block, starts_at=NOW + timedelta(hours=2))
    before = (NOW + timedelta(hours=1)).isoformat().replace("+00:00", "Z")
    config = configure(reservations__block={**early, "starts_at": before})
    found = [p for p in problems(config, facts, started) if p.path.endswith(".starts_at")]
    assert "starts later" in found[0].problem
    assert not [
        p
        for p in problems(configure(reservations__block=early), facts, started)
        if p.path.endswith(".starts_at")
    ]


def test_an_own_reservation_that_is_said_to_be_of_aws_is_refused(configure, facts, block):
    asked = {"kind": "odcr", "reservation_id": BLOCK, "provenance": "aws-assisted"}
    own = replace(
        block, kind="odcr", placement_group="mine", placement_group_owner_id=facts.account_id
    )
    problem = only(configure(reservations__block=asked), facts, own)
    assert problem.path == "trainyard:cluster.reservations.block.provenance"
    assert "placement_group to mine" in problem.remedy
    theirs = replace(own, placement_group_owner_id="999988887777")
    assert problems(configure(reservations__block=asked), facts, theirs) == []
