"""Node pools with several Capacity Blocks: separate nodes for each block.

A Capacity Reservation Resource Group can have Capacity Blocks as members, but EKS, ParallelCluster
and AWS Batch document only a single reservation for nodes in a Capacity Block. Each block also has
a zone and a time of its own.

Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-groups.html
    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-capacity-blocks.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from trainyard.components.config.node_pool import BlockNodes
from trainyard.components.config.reservations import CapacityBlock, Reservation
from trainyard.components.config.review import Review

_Nodes = TypeVar("_Nodes", bound=BlockNodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPools:
    """The reservations of a stack file, to which `further_blocks` refers."""

    reservations: Mapping[str, Reservation]
    review: Review

    def expand(
        self, section: str, pools: Mapping[str, _Nodes], name_type: Any, *, option: str = ""
    ) -> dict[str, _Nodes]:
        """Return node pools with one more for each of their further blocks, sorted by name.

        The name of a pool contains the name of its entry. It stays the same when blocks are added
        or removed, so that the nodes of the other blocks are not replaced.

        Args:
            section: Key of the pools in the stack file, relative to `trainyard:cluster`.
            pools: The pools.
            name_type: Type of their names.
            option: Purchase option of pools without one.
        """
        found = dict(pools)
        for name, pool in pools.items():
            if not pool.further_blocks:
                continue
            key = f"{section}.{name}.further_blocks"
            own = getattr(pool, "purchase_option") or option  # noqa: B009 - of both models
            self._review_own(key, own)
            for index, block in enumerate(pool.further_blocks):
                at = f"{key}[{index}]"
                earlier = (own, *pool.further_blocks[:index])
                if not self._is_further_block(at, block, earlier):
                    continue
                separate = f"{name}-{block}"
                if separate in pools:
                    self._refuse_name(at, separate, f"is the name of another entry of `{section}`")
                elif (fault := _name_fault(separate, name_type)) is not None:
                    self._refuse_name(at, separate, fault)
                else:
                    found[separate] = pool.in_block(name, block)
        return dict(sorted(found.items()))

    def _review_own(self, key: str, option: str) -> None:
        if option not in self.reservations or isinstance(self.reservations[option], CapacityBlock):
            return  # an unknown purchase option is refused with the other problems of the pool
        self.review.refuse(
            key,
            f"adds Capacity Blocks to nodes whose purchase option, `{option}`, is none",
            found=self.reservations[option].kind,
            allowed="further blocks with a Capacity Block as `purchase_option`",
            remedy=self.review.remove_command(key),
        )

    def _is_further_block(self, at: str, block: str, earlier: tuple[str, ...]) -> bool:
        blocks = [n for n, each in self.reservations.items() if isinstance(each, CapacityBlock)]
        others = [name for name in blocks if name not in earlier]
        if block in earlier:
            self.review.refuse(
                at,
                "is a block of these nodes already; its instances would count twice",
                found=block,
                allowed=", ".join(others) or "no further block",
                remedy=self.review.remove_command(at),
            )
        elif block not in blocks:
            self.review.refuse(
                at,
                "is not the name of a Capacity Block in `reservations`",
                found=block,
                allowed=", ".join(others) or "no further block: add it to `reservations` first",
                remedy=(
                    self.review.nearest_command(at, block, others)
                    if others
                    else self.review.remove_command(at)
                ),
            )
        return block in others

    def _refuse_name(self, at: str, separate: str, fault: str) -> None:
        self.review.refuse(
            at,
            f"gives its nodes the name `{separate}`, which {fault}",
            found=separate,
            remedy="rename the entry of `reservations`, or the nodes",
        )


def _name_fault(name: str, name_type: Any) -> str | None:
    try:
        TypeAdapter(name_type).validate_python(name)
    except ValidationError as error:
        return error.errors(include_url=False)[0]["msg"]
    return None
