"""Any file of a Batch or network stack leads to a plan within Batch's limits, or to messages.

A refusal names a key of the file and a fix, and contains no control characters.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.batch import P4D, P5, RAW, TRN1
from tests.support.network_stack import NETWORK_RAW
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.catalog.batch import MOST_VCPUS
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ConfigError

STACK_FILE = "Pulumi.batch-test.yaml"
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
WHOLE: tuple[Mapping[str, Any], ...] = (RAW, P4D, P5, TRN1, NETWORK_RAW)
ODD = ("", "\x1b[2J", "\x00", "\u202e", "größe", "x" * 300, "it's", 'a"b')
VALUES = st.one_of(
    st.sampled_from([None, True, False, [], {}, [None], {"kind": "x"}, 1.5, 10**30, -1, 0, 1001]),
    st.integers(-5, 5000),
    st.sampled_from(ODD),
    st.sampled_from(["spot", "on-demand", "none", "network", "us-west-2a", "nccom-tests"]),
    st.sampled_from(["g4dn.8xlarge", "p4d.24xlarge", "c5.large", "m7g.large", "10.0.0.0/16"]),
)
KEYS = st.sampled_from(
    [
        *ODD,
        *("availability_zone", "availability_zones", "cidr", "nat_gateways", "public_subnets"),
        *("interface_endpoints", "flow_logs", "minimum", "maximum", "purchase_option", "placement"),
        *("local_nvme", "nodes", "vcpus", "memory_mib", "accelerators", "efa_interfaces", "image"),
        *("shared_memory_mib", "timeout_minutes", "command", "environment", "repository", "kind"),
    ]
)


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    entries: Any = ()
    if isinstance(value, dict):
        entries = value.items()
    elif isinstance(value, list):
        entries = enumerate(value)
    for key, inner in entries:
        yield from paths(inner, (*path, key))


SENSIBLE: Mapping[str, Mapping[str, st.SearchStrategy[Any]]] = {
    "instance_type": {
        "instance_type": st.sampled_from(
            ["g4dn.8xlarge", "p4d.24xlarge", "c5.large", "g5.48xlarge"]
        ),
        "minimum": st.integers(0, 4),
        "maximum": st.integers(1, 3000),
        "purchase_option": st.sampled_from(["spot", "on-demand"]),
        "efa_enabled": st.booleans(),
        "local_nvme": st.sampled_from(["raid0", "none"]),
    },
    "compute_environment": {
        "nodes": st.integers(1, 1001),
        "vcpus": st.integers(1, 200),
        "memory_mib": st.integers(4, 2_000_000),
        "accelerators": st.integers(0, 9),
        "efa_interfaces": st.integers(0, 33),
        "shared_memory_mib": st.integers(64, 2_000_000),
        "timeout_minutes": st.integers(1, 10**12),
    },
    "availability_zones": {
        "public_subnets": st.booleans(),
        "nat_gateways": st.sampled_from(["none", "single", "one-per-zone"]),
        "addresses": st.sampled_from(["eksctl", "vpc-one-az", "vpc-multi-az"]),
    },
}
"""Plausible values, by a key that identifies the kind of entry."""


@st.composite
def changed(draw: st.DrawFn) -> dict[str, Any]:
    """Return a valid stack file with other plausible values."""
    raw = copy.deepcopy(dict(draw(st.sampled_from(WHOLE))))
    for _ in range(draw(st.integers(1, 3))):
        entries = [(entry, key) for entry in _entries(raw) for key in SENSIBLE if key in entry]
        entry, key = draw(st.sampled_from(entries))
        name = draw(st.sampled_from(list(SENSIBLE[key])))
        entry[name] = draw(SENSIBLE[key][name])
    return raw


def _entries(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _entries(inner)


@st.composite
def broken(draw: st.DrawFn) -> dict[str, Any]:
    """Return a valid stack file with one to three values changed, removed or added."""
    raw = copy.deepcopy(dict(draw(st.sampled_from(WHOLE))))
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from([path for path in paths(raw) if path] or [("name",)]))
        place: Any = raw
        for part in path[:-1]:
            place = place[part]
        found = place.get(path[-1]) if isinstance(place, dict) else place[path[-1]]
        what = draw(st.sampled_from(["change", "drop", "add"]))
        if what == "drop":
            place.pop(path[-1], None) if isinstance(place, dict) else place.pop(path[-1])
        elif what == "add" and isinstance(found, dict):
            found[draw(KEYS)] = draw(VALUES)
        else:
            place[path[-1]] = draw(VALUES)
    return raw


def answer(raw: dict[str, Any]) -> object:
    """Return the plan, or the refusal."""
    try:
        config = load_stack_config(raw, stack_file=STACK_FILE)
        return plan_stack(config, stack_file=STACK_FILE, region="us-west-2", now=NOW)
    except ConfigError as error:
        return error


def within_limits(plan: BatchPlan) -> bool:
    """Return whether Batch accepts the plan: the limits of the API and of a node."""
    environments = {each.name: each for each in plan.compute_environments}
    for each in environments.values():
        one = each.instance_type.vcpus
        if not max(each.minimum_vcpus, one) <= each.maximum_vcpus <= MOST_VCPUS:
            return False
    for job in plan.job_definitions:
        environment, container = environments[job.compute_environment], job.container
        spot = environment.allocation_strategy == "SPOT_PRICE_CAPACITY_OPTIMIZED"
        node = environment.instance_type
        gpus = node.accelerators.count if node.accelerators else 0
        if (
            not 1 <= job.nodes <= 1000
            or (job.nodes > 1 and spot)
            or job.nodes * node.vcpus > environment.maximum_vcpus
            or not 1 <= container.vcpus <= node.vcpus
            or not container.memory_mib < node.memory_mib
            or container.gpus > gpus
        ):
            return False
    return True


@given(broken() | changed())
def test_it_is_planned_within_limits_or_refused_with_a_fix(raw: dict[str, Any]):
    """G1 to G4."""
    found = answer(raw)
    if isinstance(found, ConfigError):
        assert all(
            p.path.startswith("trainyard:") and p.problem and p.remedy for p in found.problems
        )
        assert all(c.isprintable() for c in str(found).replace("\n", ""))
    elif isinstance(found, BatchPlan):
        assert within_limits(found)


def test_what_is_changed_was_sound_before():
    """Otherwise every answer would be a refusal, and the other tests would prove little."""
    assert not [raw["name"] for raw in WHOLE if isinstance(answer(dict(raw)), ConfigError)]
