"""Checks of the settings of `verify`, for all architectures."""

from __future__ import annotations

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.config.review import Review
from trainyard.components.config.stack import StackConfig

REQUIRED = "verification.required"
_THRESHOLDS = "verification.minimum_bus_bandwidth_gb_per_second"


def review_verification(config: StackConfig, review: Review) -> None:
    """Refuse thresholds that apply to no nodes, and a requirement that nothing enforces."""
    _review_thresholds(config, review)
    if not config.verification.required:
        return
    if not config.architecture.CAN_REQUIRE_VERIFICATION:
        review.refuse(
            REQUIRED,
            "is on, but only EKS can keep jobs off nodes that have not passed `verify`",
            found=True,
            allowed="false",
            remedy=(
                f"{review.set_command(REQUIRED, 'false')}; run `verify` after `up` "
                "(`up --verify`), and with Slurm drain the nodes that fail (`verify --drain`)"
            ),
        )
    elif not any(map(_accelerated, _types(config))):
        review.refuse(
            REQUIRED,
            "is on, but no nodes have accelerators, which `verify` tests",
            found=True,
            allowed="false, or a node group with accelerators",
            remedy=review.set_command(REQUIRED, "false"),
        )


def _review_thresholds(config: StackConfig, review: Review) -> None:
    types = sorted({name for name in _types(config) if _accelerated(name)})
    for name in config.verification.minimum_bus_bandwidth_gb_per_second:
        if name not in types:
            review.refuse(
                f"{_THRESHOLDS}.{name}",
                "is a threshold for nodes that the stack does not have, so it never applies",
                found=name,
                allowed=", ".join(types) or "none: no nodes have accelerators",
                remedy="change the type to that of the nodes, or remove the threshold",
            )


def _types(config: StackConfig) -> list[str]:
    return [pool.instance_type for pool in config.pools()]


def _accelerated(name: str) -> bool:
    # Types that are unknown are refused separately.
    found = INSTANCE_TYPES.get(name)
    return found is None or found.accelerators is not None
