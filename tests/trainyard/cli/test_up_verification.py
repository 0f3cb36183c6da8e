"""`up --verify`: what is refused before anything is deployed, and the tests after it."""

from __future__ import annotations

from typing import Any

import pytest
import typer

from tests.support.batch import P4D
from tests.support.collective_logs import whole_log
from tests.support.eks import changed, p5
from tests.support.parallelcluster import raw_p4de
from tests.support.recorded_stack import RecordedStack, prints
from tests.support.stack_files import plan_from
from trainyard.cli import failures
from trainyard.schedulers.batch.verification import verifiable_pools
from trainyard.schedulers.registry import scheduler_of
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.verify.up_verification import planned_verification
from trainyard.workspace.accounts import target_of

FAILED = "x [0] NCCL WARN Cuda failure 'out of memory'"
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
    file = find_stack_file("p5-cb", path=stack_file(cluster))
    assert scheduler_of(target_of(file, sandbox=False)).verifiable_pools() == pools


def test_definitions_of_several_nodes_are_verified_in_batch() -> None:
    assert verifiable_pools(plan_from(P4D)) == [{"--definition": "nccl-multi"}]


@pytest.mark.parametrize("failing", ["p5", "g6", ""])
def test_the_exit_code_is_that_of_any_verification(
    stack_file, capsys: pytest.CaptureFixture[str], failing: str
) -> None:
    def job(manifest: str, wait: Any) -> None:
        group = "g6" if "g6.8xlarge" in manifest else "p5"
        good = whole_log("a", 1, 1, 20.0) if group == "g6" else whole_log("ab", 8, 32, 487.09)
        prints(FAILED if group == failing else good)(manifest, wait)

    deployed: Any = RecordedStack(job)
    file = find_stack_file("p5-cb", path=stack_file(SEVERAL))
    run = planned_verification(deployed(target_of(file, sandbox=False)))
    if failing:
        with pytest.raises(typer.Exit) as ended:
            run()
        assert ended.value.exit_code == failures.WORK_FAILED
    else:
        run()
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("p5-cb")]
    assert told == [
        "p5-cb: nccl-tests on 1 node of g6.8xlarge",
        "p5-cb: nccl-tests on 2 nodes of p5.48xlarge",
    ]
