"""The rows of `check --live` are complete in a terminal of 80 columns."""

from __future__ import annotations

import pytest

from trainyard.checks import preflight_table
from trainyard.components.account.check import Row
from trainyard.components.architectures.preflight import Preflight

ROWS = (
    Row(
        subject="architecture.authentication_mode",
        asked="nodes and people keep their way in",
        verdict="ok",
        found="no problem found",
    ),
    Row(
        subject="network.public_subnet_ids",
        asked="are public subnets of the VPC",
        verdict="warning",
        found="subnet-0a000000000000001: us-west-2a, 4091 addresses free, default route "
        "internet-gateway; subnet-0b000000000000001: us-west-2b, 4090 addresses free",
    ),
)


@pytest.mark.parametrize("columns", [80, 120])
def test_keys_and_ids_are_not_broken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setattr(preflight_table, "LOG_WIDTH", columns)
    found = Preflight(
        account_id="123456789012",
        caller_arn="arn:aws:sts::123456789012:user/me",
        region="us-west-2",
        plan=None,
        rows=ROWS,
        problems=(),
        warnings=(),
    )
    preflight_table.print_preflight("prod-a", found)
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= columns
    title, *rows = shown.splitlines()
    assert title == "prod-a: 123456789012 as arn:aws:sts::123456789012:user/me, us-west-2"
    said = [f"{row.verdict} {row.subject}: {row.asked} {row.found}" for row in ROWS]
    assert " ".join(rows).split() == " ".join(said).split()
