"""EC2's facts about the instance types of the plan, and its quotas."""

from dataclasses import replace

import pytest

from tests.support.account import configured
from tests.support.eks import block, p5, with_created_odcr
from tests.support.parallelcluster import RAW, compute_resource
from trainyard.components.catalog.instance_types import instance_type
from trainyard.components.compute.checks import MARKET, TYPE, type_rows
from trainyard.components.quotas.checks import QUOTA, quota_rows

P5 = "architecture.node_groups.p5"
SYSTEM = "architecture.system_node_group"


@pytest.fixture
def p5_facts(more):
    def _with(**changes):
        changed = replace(more.instance_types["p5.48xlarge"], **changes)
        return replace(more, instance_types={"p5.48xlarge": changed})

    return _with


def only(rows, asked):
    (row,) = [row for row in rows if row.asked == asked]
    return row


def on_demand(launched, **group):
    return list(launched(p5(purchase_option="on-demand", **group)).values())


def test_a_type_that_is_as_the_catalog_says_passes(launched, more):
    (row,) = type_rows(list(launched(block()).values()), more)
    assert (row.verdict, row.found) == ("ok", "p5.48xlarge: 32 EFA interfaces on 32 cards")


def test_fewer_efa_interfaces_than_the_nodes_ask_for_are_refused(launched, p5_facts):
    """A1, A4."""
    row = only(type_rows(list(launched(block()).values()), p5_facts(efa_interfaces=4)), TYPE)
    assert row.verdict == "refused"
    assert row.problem.allowed == "at most 4"


def test_other_facts_than_the_catalogs_are_a_warning(launched, p5_facts):
    row = only(type_rows(list(launched(block()).values()), p5_facts(network_cards=33)), TYPE)
    assert row.verdict == "warning"
    assert "tools.catalog.compare" in row.found


def test_a_type_that_takes_no_cluster_placement_group_is_refused(launched, p5_facts):
    """B4."""
    nodes = on_demand(launched, placement={"group": "create"}, availability_zone="us-west-2b")
    row = only(type_rows(nodes, p5_facts(placement_strategies=frozenset({"spread"}))), TYPE)
    assert row.problem.path.endswith("node_groups.p5.placement")


def test_a_market_that_the_type_is_not_sold_on_is_refused(launched, p5_facts):
    """C15."""
    facts = p5_facts(usage_classes=frozenset({"on-demand"}))
    row = only(type_rows(list(launched(block()).values()), facts), MARKET)
    assert row.problem.allowed == "on-demand"


def test_types_that_may_not_be_read_are_skipped(launched, more):
    denied = replace(more, unreadable=("ec2:DescribeInstanceTypes: UnauthorizedOperation",))
    (row,) = type_rows(list(launched(block()).values()), denied)
    assert row.verdict == "skipped"


def test_nodes_in_a_reservation_count_against_no_quota_again(launched, more):
    """E18."""
    rows = list(quota_rows(list(launched(block()).values()), (), more))
    assert [row.subject for row in rows] == [SYSTEM]


def test_a_reservation_that_the_stack_creates_counts_once_and_as_a_whole(launched, more):
    launches = list(launched(with_created_odcr(instance_count=3)).values())
    (row,) = (each for each in quota_rows(launches, (), more) if each.verdict == "refused")
    assert row.problem.path == "trainyard:cluster.reservations.block.instance_count"
    assert "--desired-value 576" in row.problem.remedy


def test_a_quota_that_holds_the_nodes_passes(launched, more):
    """E18."""
    rows = list(quota_rows(on_demand(launched, availability_zone="us-west-2b"), (), more))
    assert {row.subject: row.verdict for row in rows} == {SYSTEM: "ok", P5: "ok"}


def test_a_quota_too_small_for_the_stack_alone_is_refused(launched, more):
    """E18."""
    small = replace(more, quotas_vcpus={**more.quotas_vcpus, "L-417A185B": 192})
    rows = quota_rows(on_demand(launched, availability_zone="us-west-2b"), (), small)
    (row,) = [row for row in rows if row.verdict == "refused"]
    assert row.asked == QUOTA
    assert "--quota-code L-417A185B --desired-value 384" in row.problem.remedy


def test_a_quota_too_small_for_all_that_jobs_may_bring_is_a_warning(more):
    """E18."""
    p5 = compute_resource("p5", instance_type=instance_type("p5.48xlarge"), minimum=1, maximum=2)
    small = replace(more, quotas_vcpus={"L-417A185B": 192})
    (row,) = quota_rows([p5], (), small)
    assert (row.verdict, row.subject) == ("warning", p5.key)
    assert "192 vCPUs, 384 needed by this stack at its maximum size" in row.found


def test_the_head_node_counts_towards_the_quota_of_its_family(more):
    """E18."""
    own = configured(RAW).architecture.own_nodes()
    small = replace(more, quotas_vcpus={"L-1216C47A": 16})
    (row,) = quota_rows([], own, small)
    assert (row.verdict, row.subject) == ("refused", "architecture.head_node")
    assert "32 needed" in row.found


def test_a_quota_that_may_not_be_read_is_skipped_with_the_reason(launched, more):
    denied = replace(
        more,
        quotas_vcpus={},
        unreadable=("servicequotas:GetServiceQuota: AccessDeniedException",),
    )
    (row,) = quota_rows(list(launched(block()).values()), (), denied)
    assert row.found == "servicequotas:GetServiceQuota: AccessDeniedException"
