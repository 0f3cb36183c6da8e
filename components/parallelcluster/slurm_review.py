"""Checks of custom Slurm parameters.

https://docs.aws.amazon.com/parallelcluster/latest/ug/slurm-configuration-settings-v3.html
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from components.catalog.parallelcluster import DENIED_SLURM_SETTINGS, MANAGED_NODE_MARKS
from components.config.parallelcluster import Slurm
from components.config.review import Review


def review_slurm(slurm: Slurm, review: Review) -> None:
    """Record `slurm.conf` parameters that ParallelCluster sets itself."""
    key = "architecture.slurm.settings"
    review_denied_settings(key, slurm.settings, DENIED_SLURM_SETTINGS, review)
    for name, value in slurm.settings.items():
        if name.lower() == "nodename" and any(mark in value for mark in MANAGED_NODE_MARKS):
            review.refuse(
                f"{key}.{name}",
                "has a node name that is reserved for nodes that ParallelCluster manages "
                "(CustomSlurmNodeNamesValidator)",
                found=value,
                allowed="a name without `-st-` and `-dy-`",
                remedy="rename the node",
            )


def review_denied_settings(
    key: str, settings: Mapping[str, str], denied: Collection[str], review: Review
) -> None:
    """Refuse parameters that ParallelCluster sets itself; names are case-insensitive."""
    for name, value in settings.items():
        if name.lower() in denied:
            review.refuse(
                f"{key}.{name}",
                "is a parameter that ParallelCluster sets itself (CustomSlurmSettingsValidator)",
                found=value,
                allowed=f"any but {', '.join(sorted(denied))}",
                remedy=_INSTEAD.get(name.lower(), "remove it"),
            )


_INSTEAD = {
    "oversubscribe": "remove it; with `exclusive_jobs: true`, each job has its own nodes",
    "suspendtime": "remove it, and set `architecture.slurm.idle_minutes`",
    "prolog": "add a script to /opt/slurm/etc/scripts/prolog.d with `custom_actions`",
    "epilog": "add a script to /opt/slurm/etc/scripts/epilog.d with `custom_actions`",
    "cpus": "remove it, and set `simultaneous_multithreading`",
}
"""Alternative to a parameter, by its lowercase name."""
