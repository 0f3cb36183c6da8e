"""The script for ParallelCluster's environment, as far as it works without ParallelCluster.

Its answers with ParallelCluster: `tests/tools/parallelcluster/test_validators.py`.
"""

from __future__ import annotations

import pytest

from trainyard.sandbox.parallelcluster import validation
from trainyard.sandbox.parallelcluster.validation import RunningCluster


def test_an_unknown_call_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no call is named 'synth'; there are validate, .*check"):
        validation._answer({"call": "synth"})


@pytest.mark.parametrize(
    ("pools", "pool", "expected"),
    [
        (None, None, False),
        ([{"Name": "a", "Count": 0}], None, False),
        ([{"Name": "a", "Count": 0}, {"Name": "b", "Count": "2"}], None, True),
        ([{"Name": "a", "Count": 0}, {"Name": "b", "Count": 2}], "a", False),
        ([{"Name": "a", "Count": 0}, {"Name": "b", "Count": 2}], "b", True),
    ],
)
def test_login_nodes_run_where_the_cluster_has_them(
    pools: list | None, pool: str | None, expected: bool
) -> None:
    cluster = RunningCluster({"LoginNodes": {"Pools": pools}} if pools else {})
    assert cluster.has_running_login_nodes(pool_name=pool) is expected


def test_everything_else_of_the_cluster_runs() -> None:
    cluster = RunningCluster({})
    assert cluster.has_running_capacity()
    assert cluster.head_node_instance.state == "running"
