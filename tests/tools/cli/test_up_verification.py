"""`up --verify`: what is refused before anything is deployed, and the tests after it."""

from __future__ import annotations

from typing import Any

import pytest
import typer

from tests.support.batch import P4D
from tests.support.eks import changed, p5
from tests.support.parallelcluster import raw_p4de
from tests.support.stack_files import plan_from
from tools.cli import failures, up_verification
from tools.cli.stack_config import plan_of
from tools.cli.up_verification import planned_verification
from tools.verify.planned_nodes import verifiable_pools
from tools.workspace.stack_files import find_stack_file

G6 = {"instance_type": "g6.8xlarge", "desired": 1, "maximum": 1}
SEVERAL = changed(architecture__node_groups__g6=G6)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("vpc-one-az",), "has no nodes with accelerators now"),
        (("pc-p4de-ami", "--sandbox"), "the sandbox has no GPUs, Neuron devices or EFA"),
    ],
)
def test_what_cannot_be_verified_is_refused_before_the_update(
    trainyard, arguments: tuple[str, ...], says: str
) -> None:
    result = trainyard("up", *arguments, "--yes", "--verify")
    assert result.exit_code == failures.WRONG_USE
    assert says in result.stderr


@pytest.mark.parametrize(
    ("cluster", "pools"),
    [
        (SEVERAL, [{"--group": "g6"}, {"--group": "p5"}]),
        (p5(desired=0), []),
        (raw_p4de(), [{"--queue": "compute-gpu", "--compute-resource": "distributed-ml"}]),
    ],
)
def test_all_pools_with_accelerators_are_verified(
    stack_file, cluster: Any, pools: list[dict[str, str]]
) -> None:
    plan: Any = plan_of(find_stack_file("p5-cb", path=stack_file(cluster)))
    assert verifiable_pools(plan) == pools


def test_definitions_of_several_nodes_are_verified_in_batch() -> None:
    assert verifiable_pools(plan_from(P4D)) == [{"--definition": "nccl-multi"}]


@pytest.mark.parametrize("failing", ["p5", "g6", ""])
def test_the_exit_code_is_that_of_any_verification(
    stack_file, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    verified: list[str] = []

    def verify(stack: str, *, group: str, **_: object) -> None:
        verified.append(f"{stack} {group}")
        if group == failing:
            raise typer.Exit(failures.WORK_FAILED)

    monkeypatch.setattr(up_verification, "verify", verify)
    path = stack_file(SEVERAL)
    run = planned_verification(find_stack_file("p5-cb", path=path), stack_file=path, sandbox=False)
    if failing:
        with pytest.raises(typer.Exit) as ended:
            run()
        assert ended.value.exit_code == failures.WORK_FAILED
    else:
        run()
    assert verified == ["p5-cb g6", "p5-cb p5"]
