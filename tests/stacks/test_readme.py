"""A new user follows the README and the tutorial: every command, as printed and in order.

The commands run once; every test asserts one claim that the README makes about them. Those that
create the first cluster, the directory of the user's stacks, and find it again, run like a user's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest

from tests.stacks.support.new_user import NewUser, commands_in, names
from tests.support.processes import until
from tests.support.sandbox import Done
from tests.support.tracked import ROOT

pytestmark = [pytest.mark.sandbox, pytest.mark.first]

README = (ROOT / "README.md").read_text(encoding="utf-8")
_SECTION = README.partition("\n## The first ten minutes\n")[2].partition("\n## ")[0]
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
COMMANDS = commands_in(_SECTION) + commands_in(TUTORIAL)
STATUS = "./trainyard status my-block --sandbox"
REFUSED = "./trainyard preview p5-cb --sandbox --stack-file ~/wrong.yaml"
AS_TYPED = ("up p5-cb", "init", "check")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, list[Done]]]:
    """Run the commands in a shell in a checkout; the results by command."""
    user = NewUser(tmp_path_factory.mktemp("home"), AS_TYPED)

    def nodes_are_ready() -> bool:
        user.results.pop(STATUS, None)
        return user.run(STATUS).stdout.count("  Ready  ") == 3

    try:
        for command in COMMANDS:
            if names(command) == STATUS:
                # The nodes launch while the user types.
                until(nodes_are_ready, "a system node and the nodes of the block")
            else:
                user.run(command)
        yield {**user.results}
    finally:
        user.run("./trainyard sandbox stop")


def test_every_command_succeeds_but_the_one_which_is_refused(
    done: Mapping[str, list[Done]],
) -> None:
    every = [each for results in done.values() for each in results]
    failed = [each for each in every if each.exit_code]
    said = "\n".join(f"{each.arguments[0]}:\n{each.said}" for each in failed)
    assert [names(each.arguments[0]) for each in failed] == [REFUSED], said


def test_the_same_up_again_changes_nothing(done: Mapping[str, list[Done]]) -> None:
    first, again = done["./trainyard up p5-cb --sandbox --yes"]
    assert re.search(r"kubeconfig +\S+p5-cb\.kubeconfig", first.stdout)
    assert "Resources: 0 changed, " in again.stdout


def test_the_job_of_every_gpu_completes(done: Mapping[str, list[Done]]) -> None:
    (job,) = done["./trainyard job p5-cb efa-smoke --submit --wait --sandbox"]
    assert "efa-smoke-p5 has completed" in job.stderr


def test_the_stack_is_listed_and_destroyed(done: Mapping[str, list[Done]]) -> None:
    (listed,) = done["./trainyard list --sandbox"]
    (row,) = [line for line in listed.stdout.splitlines() if "│ p5-cb " in line]
    assert "│ deployed " in row
    (inventory,) = done["./trainyard sandbox inventory"]
    assert "p5-cb" in inventory.stdout
    (destroyed,) = done["./trainyard destroy p5-cb --sandbox --yes"]
    assert "Pulumi.p5-cb.yaml is kept for the next `up`" in destroyed.stdout


def test_the_nodes_of_the_block_come_when_it_starts(done: Mapping[str, list[Done]]) -> None:
    (up,) = done["./trainyard up my-block --sandbox --yes"]
    assert "until then there are no nodes, then 2 launch automatically" in up.stdout
    (status,) = done[STATUS]
    assert status.stdout.count("p5.48xlarge  Ready") == 2


def test_the_placement_group_is_refused_with_the_key_to_change(
    done: Mapping[str, list[Done]],
) -> None:
    (refused,) = done[REFUSED]
    assert "placement" in refused.stderr
    assert "node_groups.p5.placement" in refused.stderr
    assert "create" not in refused.stdout


def test_the_timeline_of_the_block_begins_with_its_start(done: Mapping[str, list[Done]]) -> None:
    (timeline,) = done["./trainyard timeline my-block --sandbox"]
    assert "the block starts: the nodes launch" in timeline.stdout


def test_the_nodes_of_the_block_are_as_planned(done: Mapping[str, list[Done]]) -> None:
    (verified,) = done["./trainyard verify my-block --inventory --sandbox"]
    assert "2 of 2 nodes are as planned, with 8 nvidia.com/gpu" in verified.stdout


def test_the_program_of_the_tutorial_writes_its_first_checkpoint(
    done: Mapping[str, list[Done]],
) -> None:
    (run,) = done["./trainyard run my-block --file examples/pretrain/gpu.yaml --sandbox"]
    (shown,) = re.findall(r"```text\n(.*?)```", TUTORIAL, re.DOTALL)
    assert run.stdout.endswith(shown)
    assert "the program gets SIGTERM at" in run.stderr
    (logs,) = done["./trainyard logs my-block pretrain --sandbox"]
    assert logs.stdout.endswith(shown)
    (jobs,) = done["./trainyard jobs my-block --sandbox"]
    assert re.search(r"pretrain +Complete +2 ", jobs.stdout)


def test_the_file_system_with_the_checkpoints_outlives_the_cluster(
    done: Mapping[str, list[Done]],
) -> None:
    (destroyed,) = done["./trainyard destroy my-block --sandbox --yes"]
    assert "except for protected resources" in destroyed.stdout
    assert "my-block-storage-fsx-file-system" in destroyed.stdout
    assert "storage.fsx.deletion_protection` to `false`" in destroyed.stdout
