"""Every charge of a plan is an item, and nothing that is unknown counts as 0."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.batch import RAW
from tests.support.eks import (
    NOW,
    OTHER_RESERVATION,
    REGION,
    block,
    changed,
    p5,
)
from tests.support.monitoring import CLOUDWATCH, PROMETHEUS
from tests.support.parallelcluster import raw_p4de
from tests.support.stack_files import raw_config
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.catalog.prices import Price, snapshot_prices
from trainyard.components.config.load import load_stack_config
from trainyard.components.cost.estimate import Estimate, Volume, estimate, volume_items
from trainyard.components.cost.item import CostItem, fee_left

START = datetime(2026, 11, 20, 11, 30, tzinfo=UTC)
END = START + timedelta(days=10)
TIMES = {"starts_at": START.isoformat(), "ends_at": END.isoformat()}
DAY = date(2026, 11, 1)
ON_DEMAND = p5(purchase_option="on-demand", availability_zone="us-west-2b")


def price(usd: float, day: date = DAY) -> Price:
    return Price(usd=usd, source="test", url="https://aws.amazon.com", day=day)


def of(raw: dict[str, Any], prices: dict[str, Price] | None = None) -> Estimate:
    config = load_stack_config(raw, stack_file="Pulumi.test.yaml")
    plan = plan_stack(config, stack_file="Pulumi.test.yaml", region=REGION, now=NOW)
    return estimate(config, plan, snapshot_prices(REGION) if prices is None else prices, NOW)


def item(found: Estimate, resource: str, key: str = "") -> CostItem:
    (one,) = [e for e in found.items if e.resource == resource and e.key.startswith(key)]
    return one


def test_on_demand_nodes_cost_their_price_while_the_stack_is_there() -> None:
    nodes = item(of(ON_DEMAND), "architecture.node_groups.p5")
    assert (nodes.quantity, nodes.hourly_usd) == (2, 2 * 55.04)


def test_spot_prices_are_unknown_and_not_the_on_demand_price() -> None:
    found = of(p5(purchase_option="spot", efa_enabled=False))
    nodes = item(found, "architecture.node_groups.p5")
    assert nodes.is_unknown
    assert nodes in found.unknown


def test_nodes_of_jobs_count_only_in_the_most() -> None:
    raw = raw_config(RAW)
    found = of(raw)
    nodes = item(found, "architecture.compute_environments.g4dn")
    assert (nodes.quantity, nodes.hourly_usd) == (0, 0)
    assert nodes.most_hourly_usd == 4 * 2.176
    assert found.most_hourly_usd > found.hourly_usd


def test_an_odcr_is_paid_for_all_its_instances_whether_they_run_or_not() -> None:
    odcr = {"kind": "odcr", "reservation_id": OTHER_RESERVATION, "instance_count": 4}
    found = of(changed(reservations__block=odcr, architecture__node_groups__p5__desired=1))
    reserved = item(found, "reservations.block")
    assert (reserved.quantity, reserved.whether_used) == (4, True)
    # The nodes themselves are in it, and an acceptance does not add its cost.
    assert not [each for each in found.items if each.resource == "architecture.node_groups.p5"]
    assert found.stack_hourly_usd == pytest.approx(found.hourly_usd - 4 * 55.04)


def test_a_block_is_paid_in_advance_and_its_volumes_end_with_it() -> None:
    found = of(block(**TIMES, upfront_fee_usd=10_000))
    (fee,) = found.blocks
    assert fee.nodes == "2 x p5.48xlarge"
    assert fee.left_usd(START + timedelta(days=9)) == pytest.approx(1000)
    assert not [each for each in found.items if each.key == "ec2:p5.48xlarge"]
    volumes = item(found, "architecture.node_groups.p5.root_volume")
    assert volumes.in_block
    after = found.hourly_usd - volumes.hourly_usd
    assert found.hourly_usd_after_blocks == pytest.approx(after)


def test_a_block_without_its_fee_has_an_unknown_one() -> None:
    (fee,) = of(block(**TIMES)).blocks
    assert fee.fee_usd is None
    assert fee.left_usd(NOW) is None


@given(days=st.floats(min_value=-100, max_value=100))
def test_the_money_left_is_a_share_of_the_fee(days: float) -> None:
    left = fee_left(700.0, START, END, START + timedelta(days=days))
    assert left is not None
    assert 0 <= left <= 700
    if days <= 0:
        assert left == 700
    if days >= 10:
        assert left == 0


def test_extended_support_is_charged_in_addition_to_the_cluster() -> None:
    raw = changed(architecture__kubernetes_version="1.34")
    config = load_stack_config(raw, stack_file="Pulumi.test.yaml")
    plan = plan_stack(config, stack_file="Pulumi.test.yaml", region=REGION, now=NOW)
    found = estimate(config, plan, snapshot_prices(REGION), NOW + timedelta(days=60))
    charged = [e.hourly_usd for e in found.items if e.key.startswith("eks:")]
    assert charged == [0.10, 0.50]


def test_a_head_node_has_its_instance_its_volume_and_its_address() -> None:
    found = of(raw_p4de())
    keys = {e.key for e in found.items if e.resource.startswith("architecture.head_node")}
    assert keys == {"ec2:m5.8xlarge", "ebs:gp3", "vpc:public-ipv4"}


@pytest.mark.parametrize(
    ("volume", "charged"),
    [
        (Volume(volume_type="gp3", size_gib=100, iops=3000, throughput_mibps=125), {"gp3": 100}),
        (
            Volume(volume_type="gp3", size_gib=100, iops=6000, throughput_mibps=300),
            {"gp3": 100, "gp3-iops": 3000, "gp3-throughput": 175},
        ),
        (Volume(volume_type="io1", size_gib=50, iops=100), {"io1": 50, "io1-iops": 100}),
        (Volume(volume_type="gp2", size_gib=50, iops=0), {"gp2": 50}),
        (
            Volume(volume_type="io2", size_gib=500, iops=40_000),
            {"io2": 500, "io2-iops-tiers": 40_000},
        ),
    ],
)
def test_a_volume_is_charged_for_what_its_price_does_not_include(
    volume: Volume, charged: dict[str, int]
) -> None:
    items = volume_items("volume", "storage.a", volume)
    assert {e.key.removeprefix("ebs:"): e.quantity for e in items} == charged


@pytest.mark.parametrize(
    ("entry", "keys"),
    [
        (
            {"kind": "fsx-lustre", "deployment_type": "SCRATCH_2", "storage_capacity_gib": 1200},
            {"fsx-lustre:SCRATCH_2": 1200},
        ),
        ({"kind": "efs"}, {"efs:storage": 0}),
        (
            {
                "kind": "efs",
                "throughput_mode": "provisioned",
                "provisioned_throughput_mibps": 100,
            },
            {"efs:storage": 0, "efs:provisioned-throughput": 100},
        ),
        (
            {
                "kind": "fsx-openzfs",
                "deployment_type": "SINGLE_AZ_1",
                "throughput_capacity_mbps": 64,
            },
            {"fsx-openzfs:SINGLE_AZ_1": 64, "fsx-openzfs:SINGLE_AZ_1:throughput": 64},
        ),
        (
            {"kind": "ebs", "size_gib": 100, "raid": {"type": 0, "number_of_volumes": 3}},
            {"ebs:gp3": 300},
        ),
        ({"kind": "existing-efs", "file_system_id": "fs-0123456789abcdef0"}, {}),
    ],
    ids=lambda each: each.get("kind", "") if isinstance(each, dict) else "",
)
def test_file_systems_that_the_stack_creates_are_charged(
    entry: dict[str, Any], keys: dict[str, int]
) -> None:
    raw = raw_p4de(storage={"data": {"mount_directory": "/data", **entry}})
    items = [e for e in of(raw).items if e.resource.startswith("storage.data")]
    assert {e.key: e.quantity for e in items} == keys


def test_what_has_no_price_is_unknown_and_in_no_sum() -> None:
    found = of(ON_DEMAND, prices={"eks:cluster": price(0.1)})
    assert found.hourly_usd == 0.1
    assert {"architecture.node_groups.p5", "architecture.system_node_group"} <= {
        each.resource for each in found.unknown
    }


def test_prices_older_than_90_days_are_named() -> None:
    prices = {"eks:cluster": price(0.1, DAY), "ebs:gp3": price(0.08, DAY - timedelta(days=400))}
    found = of(ON_DEMAND, prices)
    assert [each.day for each in found.stale(DAY)] == [DAY - timedelta(days=400)]
    assert len(found.stale(DAY + timedelta(days=91))) == 1
    assert not price(1).is_stale(DAY + timedelta(days=90))
    assert price(1).is_stale(DAY + timedelta(days=91))


@pytest.mark.parametrize("raw", [raw_p4de(), raw_config(RAW)])
@pytest.mark.parametrize(
    ("monitoring", "key"),
    [(CLOUDWATCH, "cloudwatch:custom-metrics"), (PROMETHEUS, "prometheus:samples")],
)
def test_metrics_of_nodes_are_a_charge_by_use(
    raw: dict[str, Any], monitoring: dict[str, str], key: str
) -> None:
    charge = item(of({**raw, "monitoring": monitoring}), "monitoring.node_metrics")
    assert (charge.period, charge.key) == ("use", key)
    assert "monitoring.node_metrics" not in {each.resource for each in of(raw).items}


def test_samples_of_a_cluster_are_a_charge_by_use() -> None:
    charge = item(of(changed(monitoring=PROMETHEUS)), "monitoring.node_metrics")
    assert (charge.period, charge.key) == ("use", "prometheus:samples")
