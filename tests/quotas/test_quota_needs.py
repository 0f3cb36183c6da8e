"""Quotas that each stack file of the repository requires."""

from __future__ import annotations

import pytest

from tests.support import vpcs
from tests.support.eks import PRIVATE, config, p5
from tests.support.stack_files import plan_from
from tests.support.stacks import STACKS, prepared, stack_config
from trainyard.components import clock
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.architectures.registry import account_of
from trainyard.components.config.load import load_stack_config
from trainyard.components.quotas.checks import quotas_of, shared_needs


def needs(stack: str) -> dict[str, float]:
    config = load_stack_config(
        stack_config(stack)["trainyard:cluster"], stack_file=f"Pulumi.{stack}.yaml"
    )
    account, plan = account_of(config), prepared(stack).plan
    found = [*shared_needs(config, plan), *account.quota_needs(plan)]
    read = quotas_of(config, account.needs.quotas)
    assert {need.quota for need in found} <= set(read), "every need has its quota read"
    assert all(need.amount > 0 for need in found if need.quota != "gp3-storage")
    return {f"{need.quota} {need.scope}".strip(): need.amount for need in found}


@pytest.mark.parametrize("stack", STACKS)
def test_the_quotas_of_every_need_are_read(stack):
    assert needs(stack)


def test_a_new_vpc_with_one_gateway_for_its_zones():
    found = needs("eks-g4dn")
    assert found["vpcs"] == found["internet-gateways"] == found["elastic-ips"] == 1
    assert [name for name in found if name.startswith("nat-gateways us-west-2")]
    assert found["managed-node-groups"] == found["auto-scaling-groups"] == 2


def test_an_existing_vpc_needs_none():
    assert "vpcs" not in needs("eks-g4dn-vpc")


def test_an_adopted_vpc_needs_only_what_the_stack_adds():
    raw = stack_config("vpc-multi-az")["trainyard:cluster"]
    grown = {
        "availability_zones": [*vpcs.ZONES, "us-west-2c"],
        "public_subnet_cidrs": [*vpcs.PUBLIC_CIDRS, "10.0.103.0/24"],
        "private_subnet_cidrs": [*vpcs.PRIVATE_CIDRS, "10.0.3.0/24"],
        "gateway_endpoints": ["s3", "dynamodb"],
    }
    found: list[dict[str, float]] = []
    for changes in ({}, grown):
        network = vpcs.network(**changes)
        config = load_stack_config(raw | {"network": network}, stack_file="Pulumi.dev.yaml")
        plan = plan_stack(config, stack_file="Pulumi.dev.yaml", region="us-west-2", now=clock.now())
        needed = shared_needs(config, plan)
        found.append({f"{need.quota} {need.scope}".strip(): need.amount for need in needed})
    assert found == [
        {},
        {"nat-gateways us-west-2c": 1, "elastic-ips": 1, "gateway-endpoints": 1},
    ]


def test_a_batch_stack_counts_environments_and_queues():
    found = needs("batch-p4d")
    assert found["compute-environments"] == found["job-queues"] == 1


def test_open_zfs_file_systems_count_by_number_capacity_throughput_and_iops():
    raw = stack_config("pc-gpu")["trainyard:cluster"]
    wanted = {"kind": "fsx-openzfs", "storage_capacity_gib": 1024, "throughput_capacity_mbps": 320}
    storage = {
        name: {**wanted, "mount_directory": f"/{name}", "availability_zone": "us-west-2b"}
        for name in ("one", "two")
    }
    config = load_stack_config(raw | {"storage": storage}, stack_file="Pulumi.pc-gpu.yaml")
    found = {need.quota: need.amount for need in shared_needs(config, prepared("pc-gpu").plan)}
    assert found["open-zfs-file-systems"] == 2
    assert found["open-zfs-capacity"] == 2048
    assert found["open-zfs-throughput"] == 640
    assert found["open-zfs-iops"] == 6144
    assert set(found) <= set(quotas_of(config, account_of(config).needs.quotas))


def test_the_capacity_of_lustre_file_systems_counts_together():
    raw = stack_config("pc-gpu")["trainyard:cluster"]
    fsx = {"kind": "fsx-lustre", "per_unit_storage_throughput": 250}
    storage = {
        name: {**fsx, "mount_directory": f"/{name}", "storage_capacity_gib": size}
        for name, size in (("one", 1200), ("two", 2400))
    }
    config = load_stack_config(raw | {"storage": storage}, stack_file="Pulumi.pc-gpu.yaml")
    found = {need.quota: need.amount for need in shared_needs(config, prepared("pc-gpu").plan)}
    assert sorted(found[name] for name in found if name.startswith("lustre-")) == [2, 3600]


def test_root_volumes_count_in_tebibytes_for_every_node():
    """The quota L-7A658B76 is in TiB.

    https://docs.aws.amazon.com/general/latest/gr/ebs-service.html
    """
    plan = prepared("eks-g4dn").plan
    pools = [pool for pool in plan.node_pools if pool.root_volume]
    assert max(pool.nodes for pool in pools) > 1
    gib = sum(pool.root_volume.size_gib for pool in pools for _ in range(pool.nodes))
    assert needs("eks-g4dn")["gp3-storage"] * 1024 == gib


@pytest.mark.parametrize(
    ("placement", "created"),
    [({"group": "create"}, 1), ({"group": "existing", "name": "mine"}, None)],
)
def test_only_placement_groups_that_the_stack_creates_are_needed(placement, created):
    raw = p5(purchase_option="on-demand", subnet_id=PRIVATE[1], placement=placement)
    found = {need.quota: need.amount for need in shared_needs(config(raw), plan_from(raw))}
    assert found.get("placement-groups") == created
