"""How long a recovery waits before it believes that AWS has not created an object."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from trainyard.workspace.accounts import AwsAccount, SandboxAccount
from trainyard.workspace.recovery.timeouts import Timeouts

PROVIDER_LOOKS_SECONDS = 5 * 60
"""Time for which the AWS provider looks for an object of EC2 that it has just created.

hashicorp/terraform-provider-aws, internal/service/ec2/wait.go at 011a8eed43ed:
`ec2PropagationTimeout`. AWS recommends to look for "up to five minutes":
https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html
"""
LONGEST_CREATION_SECONDS = 40 * 60
"""The longest default of the provider for the types in use.

hashicorp/terraform-provider-aws, internal/service/ec2/vpc_nat_gateway.go, internal/service/eks/
cluster.go and internal/service/fsx/lustre_file_system.go: `schema.DefaultTimeout`
"""


def test_in_an_account_a_missing_object_is_looked_for_as_long_as_by_the_provider() -> None:
    limits = AwsAccount().timeouts
    assert limits.settle >= PROVIDER_LOOKS_SECONDS
    assert limits.limit > LONGEST_CREATION_SECONDS


def test_the_sandbox_shows_objects_at_once() -> None:
    assert SandboxAccount().timeouts.settle <= 1


def test_a_missing_object_counts_as_not_created_after_the_wait_from_the_last_write() -> None:
    limits = Timeouts(settle=60, poll=0, limit=0)
    now = datetime.now(UTC)
    assert not limits.is_settled(now - timedelta(seconds=30))
    assert limits.is_settled(now - timedelta(seconds=90))


def test_the_wait_for_a_missing_object_has_an_end() -> None:
    limits, now = Timeouts(settle=60, poll=0, limit=0), datetime.now(UTC)
    assert 20 < limits.unsettled_seconds(now - timedelta(seconds=30)) <= 30
    assert limits.unsettled_seconds(now - timedelta(seconds=90)) == 0


def test_a_state_without_a_time_is_not_waited_for() -> None:
    assert Timeouts(settle=60, poll=0, limit=0).is_settled(None)
