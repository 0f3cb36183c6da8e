"""An EKS stack in a new VPC: subnets of node groups, and EKS's refusals."""

from typing import Any

import pytest

from tests.support.eks import changed, refusals, with_odcr
from tests.support.stack_files import plan_from

ZONES = ["us-west-2a", "us-west-2b"]


def in_new_vpc(raw: dict[str, Any] | None = None, **network: Any) -> dict[str, Any]:
    """Return a stack file with a new VPC instead of the existing one."""
    values = {"kind": "new-vpc", "availability_zones": ZONES, **network}
    return {**(raw or changed()), "network": values}


def on_demand(**group: Any) -> dict[str, Any]:
    raw = changed(reservations={})
    raw["architecture"]["node_groups"]["p5"] |= {"purchase_option": "on-demand", **group}
    return raw


def subnets(raw: dict[str, Any], name: str = "p5", **options: Any) -> tuple[str, ...]:
    return next(g for g in plan_from(raw, **options).node_groups if g.name == name).subnets


def test_the_capacity_chooses_the_private_subnet():
    """EKS-04, EKS-13: the Capacity Block is in us-west-2b."""
    assert subnets(in_new_vpc()) == ("private-us-west-2b",)
    assert subnets(in_new_vpc(), "system") == ("private-us-west-2a", "private-us-west-2b")


def test_without_a_reservation_the_zone_of_the_group_does():
    raw = in_new_vpc(on_demand(availability_zone="us-west-2a"))
    assert subnets(raw) == ("private-us-west-2a",)


def test_a_group_that_may_launch_anywhere_has_every_private_subnet():
    raw = in_new_vpc(on_demand(efa_enabled=False, placement={"group": "none"}))
    assert subnets(raw) == ("private-us-west-2a", "private-us-west-2b")


def test_subnets_are_tagged_for_load_balancers():
    """EKX-01."""
    network = plan_from(in_new_vpc()).network
    assert network.public_subnet_tags == {"kubernetes.io/role/elb": "1"}
    assert network.private_subnet_tags == {"kubernetes.io/role/internal-elb": "1"}


def test_offline_a_zone_by_name_is_not_found_among_ids_and_a_note_says_so():
    raw = in_new_vpc(availability_zones=["usw2-az1", "usw2-az2"])
    planned = plan_from(raw)
    assert len(planned.node_groups[1].subnets) == 2
    assert any("usw2-az1, usw2-az2" in note for note in planned.notes)
    assert "network.availability_zones[2]" in refusals(raw, subnets_known=True)


def test_a_reservation_without_its_zone_waits_for_the_account():
    raw = with_odcr()
    del raw["reservations"]["block"]["availability_zone"]
    planned = plan_from(in_new_vpc(raw))
    assert any("can only be read from the account" in note for note in planned.notes)
    key = "architecture.node_groups.p5.availability_zone"
    assert "us-west-2a, us-west-2b" in refusals(in_new_vpc(raw), subnets_known=True)[key].allowed


def test_a_zone_where_the_vpc_has_no_subnet_is_refused_with_the_command_that_adds_it():
    problems = refusals(in_new_vpc(availability_zones=["us-west-2a", "us-west-2c"]))
    problem = problems["network.availability_zones[2]"]
    assert "p5 must launch in us-west-2b" in problem.problem
    assert problem.remedy == (
        "pulumi config set --stack p5-cb --path "
        "'trainyard:cluster.network.availability_zones[2]' us-west-2b"
    )


def test_each_missing_zone_is_told_once_with_the_groups_that_need_it():
    raw = on_demand(availability_zone="us-west-2c")
    groups = raw["architecture"]["node_groups"]
    groups["other"] = {**groups["p5"]}
    groups["third"] = {**groups["p5"], "availability_zone": "us-west-2d"}
    problems = refusals(in_new_vpc(raw))
    assert "other, p5" in problems["network.availability_zones[2]"].problem
    assert "third" in problems["network.availability_zones[3]"].problem


def test_efa_without_a_zone_is_refused_with_the_zones_that_offer_the_type():
    key = "architecture.node_groups.p5.availability_zone"
    offered = refusals(in_new_vpc(on_demand()), offered_zones={"p5.48xlarge": ZONES[1:]})
    assert offered[key].allowed == "one zone: us-west-2b"
    none = refusals(in_new_vpc(on_demand()), offered_zones={"p5.48xlarge": ()})
    assert "none of the VPC offers p5.48xlarge" in none[key].allowed
    offline = refusals(in_new_vpc(on_demand()))
    assert offline[key].allowed == "one zone: us-west-2a, us-west-2b"


def test_a_subnet_cannot_be_named_before_it_exists():
    raw = in_new_vpc(on_demand(subnet_id="subnet-0123456789abcdef0"))
    problem = refusals(raw)["architecture.node_groups.p5.subnet_id"]
    assert "us-west-2a, us-west-2b" in problem.allowed


def test_one_zone_is_refused_with_the_command_that_adds_another():
    problem = refusals(in_new_vpc(availability_zones=["us-west-2b"]))
    assert "EKS needs two" in problem["network.availability_zones"].problem
    assert "availability_zones[1]" in problem["network.availability_zones"].remedy


def test_a_zone_that_eks_does_not_serve_is_refused():
    raw = in_new_vpc(on_demand(availability_zone="use1-az1"), availability_zones=[])
    raw["network"]["availability_zones"] = ["use1-az1", "use1-az3"]
    problem = refusals(raw)["network.availability_zones[1]"]
    assert (problem.found, "EKS places no control plane" in problem.problem) == ("use1-az3", True)


def test_without_nat_nodes_need_endpoints_and_the_private_api():
    raw = in_new_vpc(
        changed(architecture__endpoint={"private_access": False}),
        nat_gateways="none",
        gateway_endpoints=["dynamodb"],
        interface_endpoints=["ecr.api"],
    )
    problems = refusals(raw)
    assert "ec2, ecr.dkr, sts" in problems["network.interface_endpoints"].allowed
    assert "s3" in problems["network.gateway_endpoints"].problem
    assert "architecture.endpoint.private_access" in problems


def test_without_nat_an_addon_needs_the_endpoints_that_it_calls():
    raw = in_new_vpc(
        changed(architecture__addons={"cloudwatch_observability": True}),
        nat_gateways="none",
        interface_endpoints=["ec2", "ecr.api", "ecr.dkr", "sts", "logs"],
    )
    problem = refusals(raw)["network.interface_endpoints"]
    assert problem.allowed == "also monitoring"
    assert "amazon-cloudwatch-observability" in problem.problem


def test_without_nat_no_device_plugin_comes_from_a_public_registry():
    everything = ["ec2", "ecr.api", "ecr.dkr", "sts"]
    raw = in_new_vpc(nat_gateways="none", interface_endpoints=everything)
    assert set(refusals(raw)) == {"network.nat_gateways"}
    assert "nvidia" in refusals(raw)["network.nat_gateways"].problem
    plain = on_demand(efa_enabled=False, instance_type="m5.large", management="managed")
    cluster = plan_from(in_new_vpc(plain, nat_gateways="none", interface_endpoints=everything))
    assert any("public registry" in note for note in cluster.notes)


def test_nodes_that_find_no_addresses_are_refused_before_the_subnet_is_made():
    problem = refusals(in_new_vpc(cidr="10.0.0.0/24"))["network.cidr"]
    assert "27 addresses" in problem.problem
    assert "p5 need 100" in problem.problem
    assert problem.found == "10.0.0.96/27 of 10.0.0.0/24"


def test_what_is_refused_already_is_not_measured():
    assert set(refusals(in_new_vpc(cidr="10.0.0.0/26"))) == {"network.cidr"}


@pytest.mark.parametrize("zone", ["us-west-2a", "us-west-2b"])
def test_several_groups_share_the_room_of_a_subnet(zone):
    raw = on_demand(availability_zone=zone, interface_layout="efa")
    groups = raw["architecture"]["node_groups"]
    groups["other"] = {**groups["p5"]}
    problem = refusals(in_new_vpc(raw, cidr="10.0.0.0/22"))["network.cidr"]
    assert f"subnet in {zone}" in problem.problem
    assert "other, p5 need" in problem.problem
