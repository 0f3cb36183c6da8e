"""The account under faults: the AWS provider that uses it, and the calls it has executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.aws_cases import Case
from tests.support.provider_plugin import Plugin
from tests.support.sandbox_aws import Account
from trainyard.sandbox.aws.application import call_in
from trainyard.sandbox.aws.server import AwsServer
from trainyard.sandbox.faults.schedule import FAULTS


class CountedCalls:
    """Counts the calls that a server has executed, whether or not the answer arrived.

    Attributes:
        done: By `service:Operation`.
    """

    def __init__(self, server: AwsServer) -> None:
        self.done: Counter[str] = Counter()
        application: Any = server.application
        work = application.work

        def counted(environ: dict[str, Any], body: bytes) -> Any:
            answer = work(environ, body)
            if answer[0].startswith("2"):
                self.done[call_in(environ, body).name] += 1
            return answer

        application.work = counted


@dataclass(frozen=True)
class Faulty:
    """An account and a provider that uses it, with the faults that a test activates."""

    account: Account
    plugin: Plugin
    cases: Mapping[str, Case]
    done: Counter[str]
    """How often the account has executed each call since faults were last activated."""

    def use(self, *faults: str) -> None:
        """Activate faults, each a flow mapping of YAML without its braces."""
        self.done.clear()
        self.account.server.use_faults("\n".join(f"- {{{each}}}" for each in faults))

    def happened(self) -> list[int]:
        """Return how often each active fault has happened."""
        return [each["happened"] for each in FAULTS.described()]
