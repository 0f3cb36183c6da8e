import pytest

from tests.support.eks import PRIVATE, PUBLIC, block, p5, refusals, with_odcr
from tests.support.stack_files import plan_from

P5 = "architecture.node_groups.p5"


def on_demand(**group):
    return p5(purchase_option="on-demand", **group)


@pytest.mark.parametrize(
    ("raw", "path", "problem", "remedy"),
    [
        pytest.param(
            p5(instance_type="p5.24xlarge"),
            f"{P5}.instance_type",
            "is not an instance type in the catalog",
            "for example to `p5.4xlarge`",
            id="E1-type-that-does-not-exist",
        ),
        pytest.param(
            p5(purchase_option="blok"),
            f"{P5}.purchase_option",
            "nor the name of an entry of `reservations`",
            "purchase_option' block",
            id="purchase-option-that-does-not-exist",
        ),
        pytest.param(
            p5(instance_type="g5.8xlarge"),
            f"{P5}.purchase_option",
            "does not offer as capacity-block",
            "`instance_type`",
            id="C15-type-without-capacity-blocks",
        ),
        pytest.param(
            on_demand(instance_type="g4dn.xlarge", availability_zone="us-west-2b"),
            f"{P5}.efa_enabled",
            "g4dn.xlarge has no EFA interface",
            "efa_enabled' false",
            id="A1-efa-on-a-type-without",
        ),
        pytest.param(
            on_demand(),
            f"{P5}.availability_zone",
            "cannot leave a zone",
            "to your own value for `ZONE`",
            id="A6-E12-efa-without-a-zone",
        ),
        pytest.param(
            p5(placement={"group": "create"}),
            f"{P5}.placement.group",
            "forces a placement group, but a Capacity Block",
            "remove `placement`",
            id="B7-group-on-a-block",
        ),
        pytest.param(
            with_odcr({"provenance": "aws-assisted"}, placement={"group": "existing", "name": "g"}),
            f"{P5}.placement.group",
            "InsufficientInstanceCapacity",
            "remove `placement`",
            id="B10-group-on-an-aws-assisted-reservation",
        ),
        pytest.param(
            with_odcr({"placement_group": "g"}, placement={"group": "create"}),
            f"{P5}.placement.group",
            "in which the reservation was created",
            "remove `placement`",
            id="B9-other-group-than-the-reservations",
        ),
        pytest.param(
            p5(availability_zone="us-west-2c"),
            f"{P5}.availability_zone",
            "is not the zone of the reservation `block`, us-west-2b",
            "remove `availability_zone`",
            id="C2-other-zone-than-the-reservations",
        ),
        pytest.param(
            on_demand(availability_zone="us-east-1a"),
            f"{P5}.availability_zone",
            "not in the stack's region",
            "`aws:region`",
            id="zone-of-another-region",
        ),
        pytest.param(
            p5(subnet_id=PUBLIC[0]),
            f"{P5}.subnet_id",
            "is a public subnet",
            PRIVATE[0],
            id="A10-public-subnet",
        ),
        pytest.param(
            p5(subnet_id="subnet-0123456789abcdef0"),
            f"{P5}.subnet_id",
            "is not one of `network.private_subnet_ids`",
            PRIVATE[0],
            id="unknown-subnet",
        ),
        pytest.param(
            p5(subnet_id=PRIVATE[1], availability_zone="us-west-2b"),
            f"{P5}.subnet_id",
            "given together with `availability_zone`",
            "remove one",
            id="E13-subnet-and-zone",
        ),
    ],
)
def test_refuses_at_the_key_to_change_with_the_fix(raw, path, problem, remedy):
    found = refusals(raw)
    assert list(found) == [path]
    assert problem in found[path].problem
    assert remedy in found[path].remedy


def test_refuses_the_name_of_the_system_group():
    raw = p5()
    raw["architecture"]["node_groups"]["system"] = raw["architecture"]["node_groups"].pop("p5")
    assert "architecture.node_groups.system" in refusals(raw)


def test_everything_wrong_with_two_groups_is_told_at_once():
    raw = p5(placement={"group": "create"}, labels={"k8s.io/x": "y"})
    raw["architecture"]["node_groups"]["other"] = {
        "instance_type": "p9.48xlarge",
        "purchase_option": "blok",
        "desired": 1,
        "maximum": 1,
    }
    assert set(refusals(raw)) == {
        f"{P5}.placement.group",
        f"{P5}.labels",
        "architecture.node_groups.other.instance_type",
        "architecture.node_groups.other.purchase_option",
    }


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(on_demand(availability_zone="us-west-2b"), id="zone"),
        pytest.param(on_demand(subnet_id=PRIVATE[0]), id="subnet"),
        pytest.param(block(availability_zone=...), id="reservation-by-id"),
    ],
)
def test_efa_is_content_with_one_zone_however_it_is_said(raw):
    assert plan_from(raw).node_groups[1].interfaces.efa_interfaces == 32


def test_a_zone_name_and_a_zone_id_are_not_compared():
    """The mapping of zone names to ids differs between accounts; the account check resolves it."""
    assert refusals(p5(availability_zone="usw2-az3")) == {}


def test_an_unlisted_zone_is_only_a_note():
    raw = block(availability_zone="usw2-az9")
    assert any("usw2-az9" in note for note in plan_from(raw).notes)


def repaired(*, agent, **group):
    raw = p5(auto_repair=True, **group)
    raw["architecture"]["addons"] = {"node_monitoring_agent": agent}
    return raw


def test_refuses_repair_without_the_agent_that_finds_the_faults():
    (path,) = refusals(repaired(agent=False, management="managed"))
    assert path == "architecture.addons.node_monitoring_agent"


def test_refuses_repair_of_a_group_that_eks_does_not_manage():
    problem = refusals(repaired(agent=True, management="self-managed"))[f"{P5}.auto_repair"]
    assert "managed groups only" in problem.problem
    assert "./trainyard repair STACK" in problem.problem


def test_repair_with_the_agent_is_planned():
    found = plan_from(repaired(agent=True, management="managed"))
    assert [group.config.auto_repair for group in found.node_groups] == [False, True]


def test_who_asks_for_ssh_learns_of_session_manager():
    """EKN-01, DF-15: the old template required a key."""
    (note,) = [note for note in plan_from(p5(ssh_key_name="training")).notes if "training" in note]
    assert "aws ssm start-session" in note


def test_refuses_a_placement_group_for_a_managed_group_in_a_block():
    """B7."""
    raw = p5(management="managed", placement={"group": "create"})
    problem = refusals(raw)["architecture.node_groups.p5.placement.group"]
    assert "Capacity Block" in problem.problem
