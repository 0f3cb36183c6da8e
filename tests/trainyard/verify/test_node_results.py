"""Which nodes a verification opens for jobs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.verify.node_marks import node_results
from trainyard.verify.stages import Stage

NODES = ("a", "b", "c")


def stage(name: str, result: str = "fail", *nodes: str) -> Stage:
    return Stage(name=name, result=result, reason="", nodes=nodes)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("stages", "passed", "causes"),
    [
        pytest.param([stage("test", "pass"), stage("nodes", "skipped")], "abc", "", id="pass"),
        pytest.param([stage("bandwidth")], "", "", id="any-node-can-be-the-cause"),
        pytest.param([stage("bandwidth"), stage("pairs", "fail", "b")], "ac", "b", id="a-bad-node"),
        pytest.param(
            [stage("test"), stage("pairs", "fail", "a", "b")], "c", "ab", id="one-of-a-pair"
        ),
        pytest.param([stage("bandwidth"), stage("pairs", "pass")], "", "", id="no-bad-pair"),
        pytest.param(
            [stage("transport"), stage("pairs", "fail", "b")], "", "", id="another-failure"
        ),
        pytest.param([stage("pairs", "fail", "unknown")], "", "", id="a-node-of-another-name"),
    ],
)
def test_only_nodes_that_cannot_be_the_cause_pass(
    stages: list[Stage], passed: str, causes: str
) -> None:
    found = node_results(stages, NODES)
    assert ("".join(found.passed), "".join(found.causes)) == (passed, causes)
    assert {*found.passed, *found.failed} == set(NODES)


@given(
    st.lists(
        st.builds(
            Stage,
            name=st.sampled_from(["test", "values", "transport", "bandwidth", "pairs"]),
            result=st.sampled_from(["pass", "fail", "skipped"]),
            reason=st.just(""),
            nodes=st.lists(st.sampled_from(NODES), max_size=2).map(tuple),
        )
    )
)
def test_a_failure_closes_at_least_one_node(stages: list[Stage]) -> None:
    found = node_results(stages, NODES)
    assert bool(found.failed) == bool(found.failures)
    assert set(found.causes) <= set(found.failed)
