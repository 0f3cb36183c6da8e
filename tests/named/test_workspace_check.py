"""The workspace that receives the metrics of nodes."""

from __future__ import annotations

import pytest

from tests.support.account import in_slurm, refused
from tests.support.monitoring import PROMETHEUS, WORKSPACE_ARN
from tests.support.parallelcluster import raw_p4de
from trainyard.components.named.facts import WorkspaceFacts

CHECK = "Prometheus workspaces"


@pytest.mark.parametrize(
    ("status", "accepted"),
    [
        ("ACTIVE", True),
        ("UPDATING", True),
        ("CREATING", True),
        ("DELETING", False),
        ("CREATION_FAILED", False),
        (None, False),
    ],
)
def test_a_workspace_must_receive_metrics(status: str | None, accepted: bool) -> None:
    found = WorkspaceFacts(status=status) if status else None
    raw = {**raw_p4de(), "monitoring": PROMETHEUS}
    problems = refused(in_slurm(raw, {("prometheus-workspace", WORKSPACE_ARN): found}), CHECK)
    assert list(problems) == ([] if accepted else ["monitoring.workspace_arn"])
