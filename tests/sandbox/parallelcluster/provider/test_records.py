"""Clusters are recorded between requests."""

from __future__ import annotations

from pathlib import Path

from trainyard.sandbox.parallelcluster.provider.account import Record, Records


def test_a_cluster_is_found_until_it_is_removed(tmp_path: Path) -> None:
    records = Records(tmp_path / "clusters")
    assert records.find("c") is None
    record = Record(
        name="c",
        configuration={"Image": {"Os": "alinux2023"}},
        stack_id="arn",
        created="now",
        updated="now",
        status="CREATE_COMPLETE",
    )
    records.write(record)
    assert records.find("c") == record
    records.remove("c")
    records.remove("c")
    assert records.find("c") is None
