"""The life of every stack in the sandbox: up, up again, changed, refreshed, and destroyed.

The commands run once for each stack; every test asserts one claim about their results. A short life
is up and destroyed. Longer lives have separate files, `test_life_of_a_*.py` and `test_new_vpc.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from kubernetes import client

from tests.support.sandbox import Done, Sandbox, copied_stack_file
from tests.support.stack_lives import STACK_LIVES, StackLife
from tests.support.stacks import EKS_STACKS, PARALLELCLUSTER_STACKS, stack_config
from tests.support.verifications_of_a_life import (
    MINIMUM_GB_PER_SECOND,
    Verification,
    verifications,
)
from trainyard.verify.node_marks import is_closed

pytestmark = pytest.mark.sandbox


@dataclass(slots=True, kw_only=True)
class Lived:
    """The results of one life."""

    life: StackLife
    done: dict[str, Done] = field(default_factory=dict[str, Done])
    changes: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    inventory: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    nodes: list[client.V1Node] = field(default_factory=list)
    verified: list[Verification] = field(default_factory=list[Verification])


QUICK = ("dev", "pc-p4de-ami", "batch-p4d")
"""One stack of each architecture, whose lives are a part of the quick answer of the suite."""


def _lives() -> Iterator[object]:
    for life in STACK_LIVES:
        marks = [pytest.mark.parallelcluster] if life.stack in PARALLELCLUSTER_STACKS else []
        marks += [pytest.mark.life] if life.stack in QUICK else []
        yield pytest.param(life, id=f"@{life.stack}@", marks=marks)


@pytest.fixture(scope="module", params=_lives())
def lived(
    request: pytest.FixtureRequest, sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory
) -> Lived:
    """Run the life of a stack, and record its state in between."""
    seen = Lived(life=request.param)
    stack, copies = seen.life.stack, tmp_path_factory.mktemp("copies")
    seen.inventory["before"] = sandbox.inventory()
    try:
        _live(seen, sandbox, copies)
    finally:
        # Even after a failure, restore the account for other tests.
        seen.done["destroy"] = sandbox.without_preview().run("destroy", stack, "--sandbox", "--yes")
    seen.inventory["after"] = sandbox.inventory()
    return seen


def _live(seen: Lived, sandbox: Sandbox, copies: Path) -> None:
    life, stack, at_once = seen.life, seen.life.stack, sandbox.without_preview()
    first = copied_stack_file(copies / "first.yaml", life.base, stack)
    changed = copied_stack_file(copies / "changed.yaml", life.base | life.change, stack)

    def run(user: Sandbox, moment: str, command: str, path: Path) -> None:
        seen.done[moment] = user.must(command, stack, "--sandbox", "--yes", "--stack-file", path)
        seen.changes[moment] = sandbox.resource_changes(stack)

    run(sandbox if life.has_preview else at_once, "up", "up", first)
    _look(seen, sandbox, first)
    if life.is_whole:
        run(at_once, "again", "up", first)
        run(at_once, "changed", "up", changed)
        run(at_once, "refresh", "refresh", changed)


def _look(seen: Lived, sandbox: Sandbox, stack_file: Path) -> None:
    """Record the state of a stack that has come up."""
    stack = seen.life.stack
    seen.inventory["up"] = sandbox.inventory()
    if "monitoring" in seen.life.base:
        seen.done["status"] = sandbox.must("status", stack, "--sandbox")
    if stack in EKS_STACKS:
        with sandbox.kubernetes(stack) as api:
            seen.nodes = client.CoreV1Api(api).list_node().items
    if seen.life.requires_verification:
        seen.verified = verifications(sandbox, stack, stack_file)


def _ready(node: client.V1Node) -> bool:
    return any(c.type == "Ready" and c.status == "True" for c in node.status.conditions)


def test_the_stack_comes_up_from_nothing_under_the_policy_pack(lived: Lived) -> None:
    assert set(lived.changes["up"]) == {"create"}
    said = lived.done["up"].said
    assert " trainyard@" in said
    assert "[mandatory]" not in said
    # A stack without protected objects gets advice to protect them.
    if lived.life.has_preview and not lived.life.base:
        # A mandatory rule reports values that are unknown before the update, such as a role in
        # JSON. The stack file names the rules that the example breaks.
        broken = stack_config(lived.life.stack)["trainyard:cluster"].get("policies", {})
        assert all(said.count(f"[advisory] {rule} ") == 1 for rule in broken)
        unknown = said.count("not checked in this preview: ")
        assert said.count("[advisory]") == len(broken) + unknown


def test_nothing_changes_without_a_change_in_the_stack_file(lived: Lived) -> None:
    """`refresh` reads what the change has updated, and everything else."""
    found = [set(lived.changes[m]) for m in ("again", "refresh") if m in lived.changes]
    assert found == [{"same"}] * (2 if lived.life.is_whole else 0)


def test_the_same_command_says_that_nothing_changed(lived: Lived) -> None:
    assert ("again" in lived.done) == lived.life.is_whole
    if lived.life.is_whole:
        assert "Resources: 0 changed, " in lived.done["again"].stdout


def test_other_sizes_and_tags_replace_nothing(lived: Lived) -> None:
    changes = lived.changes.get("changed", {})
    assert ("update" in changes) == lived.life.is_whole
    assert changes.get("replace", 0) == lived.life.replaced


def test_every_node_is_ready_with_every_device_in_the_zone_of_its_capacity(lived: Lived) -> None:
    """EKS-06, EKS-08, EKS-10, EKS-11, EKS-13, EKX-08."""
    nodes, wanted = lived.nodes, lived.life.workers
    assert bool(nodes) == (lived.life.stack in EKS_STACKS)
    assert all(_ready(node) for node in nodes)
    if wanted is not None:
        label = "node.kubernetes.io/instance-type"
        working = [n for n in nodes if n.metadata.labels.get(label) == wanted.instance_type]
        zones = [n.metadata.labels["topology.kubernetes.io/zone"] for n in working]
        devices = [{d: n.status.allocatable.get(d) for d in wanted.devices} for n in working]
        assert zones == [wanted.zone] * wanted.nodes
        assert devices == [wanted.devices] * wanted.nodes
        assert len(nodes) - len(working) == 1  # the system node


def test_nodes_are_closed_to_jobs_where_verify_is_required(lived: Lived) -> None:
    """Their plugins run all the same: `up` waits for them."""
    closed = {node.metadata.name for node in lived.nodes if is_closed(node.spec.taints or [])}
    devices = ("nvidia.com/gpu", "aws.amazon.com/neuron")
    working = {
        node.metadata.name for node in lived.nodes if set(devices) & set(node.status.allocatable)
    }
    required = lived.life.requires_verification
    assert closed == (working if required else set())
    assert ("not verified, closed to jobs" in lived.done["up"].stdout) == required


def test_a_node_that_pairs_name_stays_closed_until_it_passes(lived: Lived) -> None:
    """The threshold of the stack file is missed by all nodes, because of one of them."""
    assert len(lived.verified) == (2 if lived.life.requires_verification else 0)
    if not lived.verified:
        return
    failed, passed = lived.verified
    (bad,) = failed.closed
    assert (failed.done.exit_code, passed.done.exit_code) == (1, 0), failed.done.said
    least = f"{MINIMUM_GB_PER_SECOND:g} GB/s"
    assert f"fail     bandwidth  1.25 GB/s at 16 GiB, less than {least}" in failed.done.stdout
    assert f"fail     pairs      the cause is {bad}: " in failed.done.stdout
    assert f"pass     bandwidth  5.75 GB/s at 16 GiB, at least {least}" in passed.done.stdout
    good = ("passed", None)
    assert failed.labels == {
        node: ("failed", "bandwidth.pairs") if node == bad else good for node in failed.labels
    }
    assert len(failed.labels) == 3
    assert passed.labels == dict.fromkeys(failed.labels, good)
    assert not passed.closed


def test_the_account_holds_what_the_stack_made(lived: Lived) -> None:
    made = set(lived.inventory["up"]) - set(lived.inventory["before"])
    assert made
    assert lived.life.kinds <= {line.split()[0] for line in made}


def test_status_shows_the_figures_and_alarms_of_a_stack_with_monitoring(lived: Lived) -> None:
    assert ("status" in lived.done) == ("monitoring" in lived.life.base)
    if "status" in lived.done:
        said = lived.done["status"].stdout
        assert "alarms" in said
        assert "none of " in said
        assert "cannot be read" not in said


def test_destroy_leaves_the_account_as_it_was(lived: Lived) -> None:
    assert lived.done["destroy"].exit_code == 0, lived.done["destroy"].said
    assert lived.inventory["after"] == lived.inventory["before"]
