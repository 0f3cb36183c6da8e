"""`timeline` reads the times of Capacity Blocks from the account, and draws them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.support.eks import block, config, p5
from tests.support.sandbox_aws import BLOCK, use_account
from trainyard.components.capacity.timeline import block_timelines
from trainyard.sandbox.aws.server import AwsServer
from trainyard.topology.timeline_picture import MOST_TICKS, timeline_picture

START = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def server() -> Iterator[AwsServer]:
    """One account for all tests, which are read-only."""
    with AwsServer(region="us-west-2", keep_time=False) as running:
        yield running


@pytest.fixture
def timeline(trainyard, stack_file, server, monkeypatch: pytest.MonkeyPatch) -> Callable:
    """Run `timeline` for a stack whose block is in the account."""
    use_account(monkeypatch, server.access)

    def _timeline(raw: Any, *flags: str):
        return trainyard("timeline", "p5-cb", "--stack-file", stack_file(raw), *flags)

    return _timeline


def test_times_that_the_stack_file_lacks_are_read_from_the_account(timeline) -> None:
    (found,) = json.loads(timeline(block(reservation_id=BLOCK), "--json").stdout)["blocks"]
    assert (found["reservation_id"], found["state"]) == (BLOCK, "active")
    starts, ends = (datetime.fromisoformat(found[key]) for key in ("starts_at", "ends_at"))
    assert starts < datetime.now(UTC) < ends


def test_the_present_is_one_of_the_moments(timeline) -> None:
    lines = timeline(block(reservation_id=BLOCK)).stdout.splitlines()
    assert lines[0].startswith(f"block: Capacity Block {BLOCK}, active (node group p5: 2 x p5")
    (now,) = [index for index, line in enumerate(lines) if line.startswith(">")]
    assert "the block starts" in lines[now - 1]
    assert " ago  " in lines[now - 1]
    assert "the nodes are drained" in "".join(lines[now + 1 :])


def test_a_stack_without_a_block_has_no_timeline(timeline) -> None:
    result = timeline(p5(purchase_option="on-demand"))
    assert result.exit_code == 1
    assert "no nodes of p5-cb launch into a Capacity Block" in result.stderr


def test_the_picture_is_written_to_a_file(timeline, tmp_path: Path) -> None:
    path = tmp_path / "timeline.svg"
    assert timeline(block(reservation_id=BLOCK), "--svg", str(path)).exit_code == 0
    assert ET.fromstring(path.read_text(encoding="utf-8")).tag.endswith("svg")


@pytest.mark.parametrize("days", [1, 7, 182])
@pytest.mark.parametrize("elapsed", [-0.5, 0.5, 1.5], ids=["before", "during", "after"])
def test_all_of_the_picture_is_in_its_frame(days: int, elapsed: float) -> None:
    end = START + timedelta(days=days)
    times = {"starts_at": START.isoformat(), "ends_at": end.isoformat()}
    now = START + elapsed * (end - START)
    root = ET.fromstring(timeline_picture("a <b>", block_timelines(config(block(**times))), now))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    placed = [each for each in root if "x" in each.attrib or "x1" in each.attrib]
    for each in placed:
        x = float(each.attrib.get("x", each.attrib.get("x1", "")))
        assert 0 <= x <= width
        assert 0 <= float(each.attrib.get("y", each.attrib.get("y2", ""))) <= height
    assert 1 <= sum(each.attrib.get("class") == "grid" for each in root) <= MOST_TICKS + 1
    assert sum(each.attrib.get("class") == "now" for each in root) == 1
