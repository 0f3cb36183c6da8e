import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.eks import PRIVATE, PUBLIC, REGION, block, changed, p5, refusals
from tests.support.kubernetes import DEFAULT, TOO_OLD
from tests.support.stack_files import plan_from
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.config.problems import ConfigError
from trainyard.components.eks.addons.registry import device_plugins


def test_the_plan_of_a_p5_capacity_block():
    """EKS-01 to EKS-04, EKS-06, EKX-02."""
    planned = plan_from(p5())
    assert (planned.name, planned.region, planned.kubernetes_version) == ("p5-cb", REGION, DEFAULT)
    assert [subnet.name for subnet in planned.network.subnets] == [*PUBLIC, *PRIVATE]
    assert planned.authentication_mode == "API_AND_CONFIG_MAP"
    assert planned.node_authorization == "aws-auth"
    assert [group.name for group in planned.node_groups] == ["system", "p5"]
    assert device_plugins(planned) == ["nvidia", "efa"]


def test_every_version_is_pinned():
    versions = dataclasses.asdict(plan_from(p5()).addon_versions)
    assert all("eksbuild" in version for version in versions.values())


def test_every_resource_is_tagged_with_its_cluster():
    tags = plan_from(changed(tags={"team": "vision"})).tags
    assert tags == {"team": "vision", "trainyard:cluster": "p5-cb"}


def test_the_plan_is_the_same_every_time():
    assert plan_from(p5()) == plan_from(p5())


def test_a_block_that_has_not_started_tells_when_nodes_come():
    notes = plan_from(block(starts_at="2026-12-01T11:30:00Z", ends_at="2026-12-08T11:30:00Z")).notes
    assert notes[0].startswith("p5: the Capacity Block starts at 2026-12-01 11:30 UTC")


def test_without_the_account_a_group_keeps_its_candidate_subnets_and_says_so():
    planned = plan_from(p5())
    assert planned.node_groups[1].subnets == tuple(PRIVATE)
    assert any("can only be read from the account" in note for note in planned.notes)


def test_with_the_account_a_group_without_its_subnet_is_refused():
    found = refusals(p5(), subnets_known=True)
    assert "us-west-2b" in found["architecture.node_groups.p5.subnet_id"].problem
    assert refusals(p5(subnet_id=PRIVATE[1]), subnets_known=True) == {}


def test_problems_of_every_part_are_told_at_once():
    raw = p5(placement={"group": "create"}, desired=2, instance_type="p5.48xlarge")
    raw["architecture"]["kubernetes_version"] = TOO_OLD
    raw["architecture"]["system_node_group"] = {"instance_type": "c5.3xlarge"}
    raw["network"]["private_subnet_ids"] = [PUBLIC[0], PRIVATE[0]]
    raw["reservations"]["block"]["instance_count"] = 1
    raw["storage"] = {"scratch": {"kind": "efs"}}
    assert set(refusals(raw)) == {
        "network.private_subnet_ids",
        "storage.scratch.kind",
        "architecture.kubernetes_version",
        "architecture.node_groups.p5.desired",
        "architecture.node_groups.p5.placement.group",
        "architecture.system_node_group.instance_type",
    }


def test_the_error_names_the_stack_file():
    with pytest.raises(ConfigError, match=r"^Pulumi\.p5-cb\.yaml: 1 problem; nothing was changed"):
        plan_from(p5(placement={"group": "create"}))


@given(
    st.sampled_from(sorted(INSTANCE_TYPES)),
    st.sampled_from(["on-demand", "spot", "block"]),
    st.booleans(),
    st.sampled_from(["managed", "self-managed"]),
    st.sampled_from(["auto", "none", "create"]),
    st.sampled_from(["efa-only", "efa"]),
)
def test_every_combination_is_planned_or_refused_with_a_remedy(
    name, purchase_option, efa, management, placement, layout
):
    raw = p5(
        instance_type=name,
        purchase_option=purchase_option,
        efa_enabled=efa,
        management=management,
        placement={"group": placement},
        interface_layout=layout,
        subnet_id=PRIVATE[1],
    )
    problems = refusals(raw)
    assert all(problem.remedy and problem.problem for problem in problems.values())
    if not problems:
        planned = plan_from(raw).node_groups[1]
        assert (planned.interfaces is not None) == efa
        assert planned.capacity.kind != "capacity-block" or planned.placement.group == "none"


def test_a_system_node_group_with_gpus_is_noted():
    """No job uses them, and they cost more than a general purpose type."""
    system = {"instance_type": "g5.xlarge", "desired": 2, "maximum": 2}
    (note,) = [
        each
        for each in plan_from(changed(architecture__system_node_group=system)).notes
        if "system_node_group" in each
    ]
    assert "g5.xlarge has A10G accelerators" in note
