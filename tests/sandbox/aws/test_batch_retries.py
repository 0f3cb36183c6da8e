"""`evaluateOnExit`: the first rule that matches decides, and an attempt without one is retried."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.sandbox.aws.batch.scheduler import is_retried

LOST = "Host EC2 (instance i-0123456789abcdef0) terminated."
EXITED = "Essential container in task exited"
LOST_HOST = {"action": "RETRY", "onStatusReason": "Host EC2*"}
ANY = {"action": "exit", "onReason": "*"}


@pytest.mark.parametrize(
    ("rules", "exit_code", "reason", "again"),
    [
        ([], 1, EXITED, True),
        ([LOST_HOST, ANY], None, LOST, True),
        ([LOST_HOST, ANY], 1, EXITED, False),
        ([LOST_HOST], 1, EXITED, True),
        ([{"action": "EXIT", "onExitCode": "124"}], 124, EXITED, False),
        ([{"action": "EXIT", "onExitCode": "124"}], 12, EXITED, True),
        ([{"action": "EXIT", "onExitCode": "1*", "onStatusReason": "x*"}], 124, EXITED, True),
    ],
)
def test_the_first_rule_whose_conditions_all_match_decides(
    rules: list[dict[str, Any]], exit_code: int | None, reason: str, *, again: bool
) -> None:
    strategy = {"attempts": 4, "evaluateOnExit": rules}
    assert is_retried(strategy, 1, exit_code=exit_code, reason=reason) is again
    assert not is_retried(strategy, 4, exit_code=exit_code, reason=reason)
