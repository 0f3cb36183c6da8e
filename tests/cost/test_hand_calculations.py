"""The sums of `docs/cost.md` are those of `cost`."""

from __future__ import annotations

import re

import pytest

from tests.support.eks import NOW, REGION
from tests.support.stacks import prepared, stack_config
from tests.support.tracked import ROOT
from trainyard.components.catalog.prices import snapshot_prices
from trainyard.components.config.load import load_stack_config
from trainyard.components.cost.estimate import estimate

PAGE = (ROOT / "docs" / "cost.md").read_text(encoding="utf-8")
ROW = re.compile(
    r"^\| `(?P<stack>\S+)` \| [^|*]+ \| (?P<number>\d+) \| (?P<usd>[\d.]+) \| (?P<period>\w+) \| "
    r"(?P<month>[\d,.]+) \|$",
    re.MULTILINE,
)
TOTAL = re.compile(r"^\| `(?P<stack>\S+)` \| \*\*total\*\* .*\*\*(?P<month>[\d,.]+)\*\* \|$", re.M)
HOURS = {"hour": 730, "month": 1}
TOTALS = {each["stack"]: float(each["month"].replace(",", "")) for each in TOTAL.finditer(PAGE)}


def test_the_table_is_calculated_right() -> None:
    sums = dict.fromkeys(TOTALS, 0.0)
    for row in ROW.finditer(PAGE):
        month = int(row["number"]) * float(row["usd"]) * HOURS[row["period"]]
        assert float(row["month"].replace(",", "")) == pytest.approx(month, abs=0.01)
        sums[row["stack"]] += month
    assert sums == pytest.approx(TOTALS, abs=0.01)
    assert len(TOTALS) == 8


@pytest.mark.parametrize("stack", TOTALS)
def test_the_estimate_is_the_one_by_hand_within_one_percent(stack: str) -> None:
    config = load_stack_config(stack_config(stack)["trainyard:cluster"], stack_file=stack)
    found = estimate(config, prepared(stack).plan, snapshot_prices(REGION), NOW)
    assert found.monthly_usd == pytest.approx(TOTALS[stack], rel=0.01)
    assert not found.unknown
