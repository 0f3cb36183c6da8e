"""Events that happen at their time without a call."""

from __future__ import annotations

from tests.support.processes import until
from tests.support.sandbox_aws import SCHEDULED, Account, p5_block
from trainyard.sandbox.aws.server import AwsServer


def test_a_group_launches_by_itself_when_its_block_begins() -> None:
    with AwsServer() as server:
        account = Account(server)
        template_id = account.template("p5", **p5_block(account.group(), SCHEDULED))
        account.autoscaling_group("p5", template_id, DesiredCapacity=2)
        assert account.instances() == []
        server.access.ask("POST", f"clock?advance_seconds={2 * 86400 + 60}")
        until(lambda: len(account.instances()) == 2, "two instances in the block")
