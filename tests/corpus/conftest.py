"""The account in which stack files are tried, and the table at the end of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.support.corpus.case import CASE, STAGES
from tests.support.sandbox_aws import default_account
from trainyard.components.parallelcluster import account as parallelcluster_checks


@pytest.fixture(scope="module")
def account() -> Iterator[None]:
    """The sandbox's account, as the default one of AWS clients."""
    with default_account(), pytest.MonkeyPatch.context() as patch:
        # Nothing is deployed; the server alone answers no CloudFormation.
        patch.setattr(parallelcluster_checks, "look_up_deployed", lambda *_: None)
        yield


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many cases were caught, by stage, and how many were falsely refused."""
    found = {outcome: _cases(terminalreporter, outcome) for outcome in ("passed", "failed")}
    if not (found["passed"] or found["failed"]):
        return
    terminalreporter.section("corpus")
    for stage in STAGES:
        caught, missed = found["passed"][stage], found["failed"][stage]
        terminalreporter.line(f"{stage:<10} caught {caught:>3} of {caught + missed:>3}")
    passed, refused = found["passed"]["good"], found["failed"]["good"]
    terminalreporter.line(f"{'good':<10} falsely refused {refused} of {passed + refused}")


def _cases(terminalreporter: pytest.TerminalReporter, outcome: str) -> Counter[str]:
    reports = terminalreporter.stats.get(outcome, [])
    return Counter(
        str(value) for report in reports for name, value in report.user_properties if name == CASE
    )
