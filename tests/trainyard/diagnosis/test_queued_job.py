"""Why Kueue does not start a job."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.diagnosis.pods import reason_of_workload


def workload(**conditions: tuple[str, str]) -> dict[str, Any]:
    listed = [
        {"type": kind, "status": status, "message": message}
        for kind, (status, message) in conditions.items()
    ]
    return {"status": {"conditions": listed}}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        pytest.param({}, "Kueue has not looked at it yet", id="new"),
        pytest.param(
            workload(
                PodsReady=("False", "Not all pods are ready"), QuotaReserved=("False", "full")
            ),
            "full",
            id="waits-for-quota",
        ),
        pytest.param(
            workload(QuotaReserved=("False", "waits"), Evicted=("True", "pods were not ready")),
            "pods were not ready",
            id="did-not-get-its-pods-ready",
        ),
        pytest.param(
            workload(QuotaReserved=("True", "has"), Evicted=("False", "again")),
            "Kueue has not looked at it yet",
            id="about-to-start",
        ),
    ],
)
def test_the_reason_is_in_the_words_of_kueue(found: dict[str, Any], said: str) -> None:
    assert reason_of_workload(found) == said
