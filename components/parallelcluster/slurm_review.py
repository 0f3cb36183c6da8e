"""Checks of custom Slurm parameters.

https://docs.aws.amazon.com/parallelcluster/latest/ug/slurm-configuration-settings-v3.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from trainyard.components.catalog.parallelcluster import (
    DENIED_NODE_SETTINGS,
    DENIED_PARTITION_SETTINGS,
    DENIED_SLURM_SETTINGS,
    MANAGED_NODE_MARKS,
)
from trainyard.components.catalog.slurm_parameters import (
    Line,
    is_slurm_parameter,
    slurm_parameters,
    slurm_version,
)
from trainyard.components.config.parallelcluster import Slurm
from trainyard.components.config.problems import Review, nearest

_DENIED: Mapping[Line, frozenset[str]] = {
    "slurm_conf": DENIED_SLURM_SETTINGS,
    "partition": DENIED_PARTITION_SETTINGS,
    "node": DENIED_NODE_SETTINGS,
}
_PLACES: Mapping[Line, str] = {
    "slurm_conf": "`architecture.slurm.settings`",
    "partition": "`slurm_settings` of a queue",
    "node": "`slurm_settings` of a compute resource",
}
_REMOVED_PLUGINS: Mapping[tuple[str, str], str] = {
    ("selecttype", "select/cons_res"): "select/cons_tres",
}
"""Successors of plugins that Slurm has removed, by lowercase parameter and value.

https://github.com/access-ci-org/Jetstream_Cluster/issues/19: "Can't find plugin for
select/cons_res" in Slurm 23.11
"""

_PAIR = re.compile(r'\s*[\w.]+\s*[-*+/]?=\s*("[^"]*"|\S+)(\s|$)', re.ASCII)
"""A parameter with its value. A value with spaces is in double quotes.

https://github.com/SchedMD/slurm, `keyvalue_pattern` in `src/common/parse_config.c`
"""
_TIME_LIMITS = frozenset({"defaulttime", "maxtime"})
"""Lowercase names of the parameters of a partition with a time limit."""
_TIME_LIMIT = re.compile(
    r"-1|infinite|unlimited|\d+(:\d+){0,2}|\d+-\d+(:\d+){0,2}", re.ASCII | re.IGNORECASE
)
"""https://slurm.schedmd.com/slurm.conf.html, `MaxTime`; https://slurm.schedmd.com/scrun.html,
`time_str2mins`"""


def review_slurm(slurm: Slurm, review: Review) -> None:
    """Record `slurm.conf` parameters that ParallelCluster sets itself or Slurm does not know."""
    key = "architecture.slurm.settings"
    review_settings(key, slurm.settings, "slurm_conf", review)
    for name, value in slurm.settings.items():
        successor = _REMOVED_PLUGINS.get((name.lower(), value))
        if successor is not None:
            review.refuse(
                f"{key}.{name}",
                f"is a plugin that Slurm {slurm_version()} does not have, so its controller does "
                "not start",
                found=value,
                allowed=successor,
                remedy=review.set_command(f"{key}.{name}", successor),
            )
        if name.lower() == "nodename" and any(mark in value for mark in MANAGED_NODE_MARKS):
            review.refuse(
                f"{key}.{name}",
                "has a node name that is reserved for nodes that ParallelCluster manages "
                "(CustomSlurmNodeNamesValidator)",
                found=value,
                allowed="a name without `-st-` and `-dy-`",
                remedy="rename the node",
            )


def review_settings(key: str, settings: Mapping[str, str], line: Line, review: Review) -> None:
    """Refuse parameters that ParallelCluster sets itself or Slurm does not know.

    Names are case-insensitive. Slurm ends with "Parsing error at unrecognized key", so that the
    cluster never comes up: https://github.com/SchedMD/slurm, `src/common/parse_config.c`.
    """
    for name, value in settings.items():
        if name.lower() in _DENIED[line]:
            review.refuse(
                f"{key}.{name}",
                "is a parameter that ParallelCluster sets itself (CustomSlurmSettingsValidator)",
                found=value,
                allowed=f"any but {', '.join(sorted(_DENIED[line]))}",
                remedy=_INSTEAD.get(name.lower(), "remove it"),
            )
        elif not is_slurm_parameter(name, line):
            _refuse_unknown(key, name, value, line, review)
        else:
            _review_value(f"{key}.{name}", name, value, line, review)


def _review_value(path: str, name: str, value: str, line: Line, review: Review) -> None:
    if _PAIR.sub("", f"{name}={value}").strip():
        review.refuse(
            path,
            "is a value that Slurm does not read to its end, so its daemons do not start",
            found=value,
            allowed="a value without spaces, or one in double quotes",
            remedy=f"remove the spaces, or quote the value twice: '\"{value}\"'",
        )
    elif line == "partition" and name.lower() in _TIME_LIMITS and not _TIME_LIMIT.fullmatch(value):
        review.refuse(
            path,
            "is not a time limit that Slurm reads, so its controller does not start",
            found=value,
            allowed="minutes, `hours:minutes:seconds`, `days-hours:minutes:seconds` or UNLIMITED",
            remedy=f"write the time in one of these forms: {review.example_of(path, '7-00:00:00')}",
        )


def _refuse_unknown(key: str, name: str, value: str, line: Line, review: Review) -> None:
    remove = review.remove_command(f"{key}.{name}")
    others: list[Line] = [other for other in _PLACES if is_slurm_parameter(name, other)]
    meant = nearest(name, slurm_parameters(line))
    if others:
        problem = f"; it belongs to {_PLACES[others[0]]}"
        remedy = f"{remove}, and set it in {_PLACES[others[0]]}"
    elif meant:
        problem, remedy = f"; the nearest is `{meant}`", f"rename it to `{meant}`, or: {remove}"
    else:
        problem, remedy = "", remove
    review.refuse(
        f"{key}.{name}",
        f"is not a parameter that Slurm {slurm_version()} knows here, so its daemons do not "
        f"start{problem}",
        found=value,
        allowed="a parameter of https://slurm.schedmd.com/slurm.conf.html",
        remedy=remedy,
    )


_INSTEAD = {
    "oversubscribe": "remove it; with `exclusive_jobs: true`, each job has its own nodes",
    "suspendtime": "remove it, and set `architecture.slurm.idle_minutes`",
    "prolog": "add a script to /opt/slurm/etc/scripts/prolog.d with `custom_actions`",
    "epilog": "add a script to /opt/slurm/etc/scripts/epilog.d with `custom_actions`",
    "cpus": "remove it, and set `simultaneous_multithreading`",
}
"""Alternative to a parameter, by its lowercase name."""
