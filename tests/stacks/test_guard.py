"""The guard of `up` with the real engine: its verdicts match the change matrix."""

import re

import pytest

from tests.support.changes.bases import base, edits_of
from tests.support.changes.rows import row
from tests.support.sandbox import copied_stack_file

LINE = re.compile(
    r"^ *[+~-]{1,2} +(?P<type>\S+:\S+) (?P<name>\S+) (?P<word>update|create|delete|replace)"
    r"(?: \[diff: (?P<diff>[^\]]+)\])?"
)
POOL = "architecture.node_groups.p5"


def previewed(text):
    """Return the preview of each resource, without the program's components."""
    found = set()
    for line in text.splitlines():
        match = LINE.match(line)
        if match and not match["type"].startswith("trainyard:"):
            properties = re.findall(r"[+~-](\w+)", match["diff"] or "")
            found.add((match["word"], match["name"], *sorted(properties)))
    return found


def foreseen(line):
    """Return the effects of a change according to the change matrix."""
    (edit,) = [each for each in edits_of("p5-cb") if each.line == line]
    found = row(edit, base("p5-cb"))
    return {(step.operation, step.name, *step.changed_properties) for step in found.steps}


@pytest.mark.engine
@pytest.mark.kubernetes
@pytest.mark.sandbox
def test_nodes_of_a_block_go_only_by_name(own_sandbox, tmp_path):
    sandbox = own_sandbox
    sandbox.without_preview().must("up", "p5-cb", "--sandbox", "--yes")
    before = sandbox.inventory()
    larger = copied_stack_file(tmp_path / "larger.yaml", {f"{POOL}.root_volume.size_gib": 1000})
    verbose = ("--sandbox", "--verbose", "--stack-file")
    done = sandbox.must("preview", "p5-cb", *verbose, larger)
    assert previewed(done.said) == foreseen(f"{POOL}.root_volume.size_gib: 500 -> 1000")

    without = copied_stack_file(tmp_path / "without.yaml", {"architecture.node_groups": {}})
    up = ["up", "p5-cb", "--yes", *verbose, without]
    refused = sandbox.run(*up, "--replace", "p5-cb-p5-*")
    assert refused.exit_code == 2
    assert "its 2 nodes in Capacity Block cr-0123456789abcdef0" in refused.said
    assert "the block:    runs until" in refused.said
    assert f"caused by:    {POOL}: removed" in refused.said
    assert "--replace p5-cb-p5-nodes" in refused.said
    assert previewed(refused.said) == foreseen(f"{POOL}: removed")
    assert sandbox.inventory() == before

    sandbox.must(*up, "--replace", "p5-cb-p5-nodes")
    assert not [line for line in sandbox.inventory() if "p5-cb-p5" in line]
    sandbox.without_preview().must("destroy", "p5-cb", "--sandbox", "--yes")
