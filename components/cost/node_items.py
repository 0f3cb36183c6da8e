"""Charges for nodes: instances, reservations and root volumes.

Sources:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-pricing-billing.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-pricing-billing.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.config.reservations import CapacityBlock
from trainyard.components.config.stack import StackConfig
from trainyard.components.cost.item import BlockCost, CostItem
from trainyard.components.cost.storage_items import Volume, volume_items

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan


def node_items(config: StackConfig, plan: AnyPlan) -> Iterator[CostItem]:
    """Yield the charges of the node pools of a plan, without the fees of Capacity Blocks."""
    for pool in plan.node_pools:
        kind = pool.capacity.kind
        if kind in ("on-demand", "spot"):
            yield _instances(pool)
        yield from _root_volumes(pool)
    for name, pools in _reserved(plan).items():
        if pools[0].capacity.kind != "capacity-block":
            yield _reservation(config, name, pools)


def _instances(pool: NodePoolPlan) -> CostItem:
    name = pool.instance_type.name
    spot = pool.capacity.kind == "spot"
    return CostItem(
        group="nodes",
        what=f"{name}, {'Spot' if spot else 'on demand'}",
        resource=pool.key,
        # Spot prices change all the time, so there is no list price.
        key=f"spot:{name}" if spot else f"ec2:{name}",
        unit="node",
        period="hour",
        quantity=pool.nodes,
        most=pool.most_nodes,
    )


def _root_volumes(pool: NodePoolPlan) -> Iterator[CostItem]:
    volume = pool.root_volume
    if volume is None:
        return
    yield from volume_items(
        "root volumes",
        f"{pool.key}.root_volume",
        Volume(
            volume_type=volume.volume_type,
            size_gib=volume.size_gib,
            iops=volume.iops,
            throughput_mibps=volume.throughput_mibps,
        ),
        group="nodes",
        count=pool.nodes,
        most=pool.most_nodes,
        in_block=pool.capacity.kind == "capacity-block",
    )


def _reserved(plan: AnyPlan) -> dict[str, list[NodePoolPlan]]:
    """Return the node pools of each reservation, by its name in the stack file."""
    found: dict[str, list[NodePoolPlan]] = {}
    for pool in plan.node_pools:
        if pool.capacity.is_reserved:
            found.setdefault(pool.capacity.purchase_option, []).append(pool)
    return found


def _reservation(config: StackConfig, name: str, pools: Sequence[NodePoolPlan]) -> CostItem:
    """Return the charge for an ODCR: all its instances, at the On-Demand price."""
    instance_type = pools[0].instance_type.name
    wanted = sum(pool.most_nodes for pool in pools)
    return CostItem(
        group="nodes",
        what=f"{instance_type}, reserved (ODCR), paid whether used or not",
        resource=f"reservations.{name}",
        key=f"ec2:{instance_type}",
        unit="node",
        period="hour",
        quantity=config.reservations[name].instance_count or wanted,
        whether_used=True,
    )


def block_costs(config: StackConfig, plan: AnyPlan) -> Iterator[BlockCost]:
    """Yield the fees of the Capacity Blocks that nodes of a plan launch into."""
    for name, pools in _reserved(plan).items():
        block = config.reservations[name]
        if not isinstance(block, CapacityBlock):
            continue
        count = block.instance_count or sum(pool.most_nodes for pool in pools)
        yield BlockCost(
            resource=f"reservations.{name}",
            reservation_id=block.reservation_id,
            nodes=f"{count} x {pools[0].instance_type.name}",
            fee_usd=block.upfront_fee_usd,
            starts_at=block.starts_at,
            ends_at=block.ends_at,
        )
