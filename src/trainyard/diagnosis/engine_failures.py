"""Advice for engine failures with AWS errors, by error code.

Sources of the codes:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
    https://docs.aws.amazon.com/eks/latest/APIReference/API_Issue.html
    https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_general.html, "Changes that I make
        are not always immediately visible"
    ParallelCluster: `cluster_resources.py` of aws-parallelcluster 3.16.1
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from trainyard.diagnosis import known_errors
from trainyard.diagnosis.failed_pool import (
    FailedPool,
    capacity_advice,
    causes,
    commands,
    quota_advice,
)
from trainyard.diagnosis.known_errors import KnownError, known_error, limit, not_ready, taken
from trainyard.engine.engine_events import EngineError
from trainyard.workspace.target import Target


@dataclass(frozen=True, slots=True)
class FailedStack:
    """What is known about the stack in addition to its errors."""

    cluster: str
    target: Target
    pool_of: Callable[[EngineError], FailedPool | None]
    """Returns the pool that an error concerns; None if there is none or it is unknown."""


Advice = Callable[[EngineError, FailedStack], list[str]]


def advice(errors: Iterable[EngineError], stack: FailedStack) -> list[str]:
    """Return explanations and advice without duplicates; empty if the errors are unknown.

    The last line on an error names its section in `docs/troubleshooting.md`.
    """
    found = (line for error in errors for line in _advice_on(error, stack))
    return list(dict.fromkeys(found))


def _advice_on(error: EngineError, stack: FailedStack) -> Iterator[str]:
    if error.resource_type.startswith("kubernetes:"):
        # Kubernetes has words of AWS that mean something else, such as `BackoffLimitExceeded`.
        found = known_error(error.message, "kubernetes")
        if found is not None:
            yield from _KNOWN.get(found, lambda *_: [])(error, stack)
            yield found.more
        return
    for known, explain in _KNOWN.items():
        if known.pattern.search(error.message):
            yield from explain(error, stack)
            yield known.more
            return
    other = known_error(error.message)
    if other is not None:
        yield other.more


def _expired(_: EngineError, stack: FailedStack) -> list[str]:
    return [
        "the AWS credentials expired during the operation; AWS rejected every later call",
        (
            "renew them: `aws sso login`, or new AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and "
            "AWS_SESSION_TOKEN"
        ),
    ]


def _capacity(error: EngineError, stack: FailedStack) -> list[str]:
    pool = stack.pool_of(error)
    if pool is None:
        return ["EC2 currently has no capacity for these instances; try again later"]
    return capacity_advice(pool)


def _quota(error: EngineError, stack: FailedStack) -> list[str]:
    pool = stack.pool_of(error)
    if pool is None:
        return [
            "an EC2 quota is reached: `aws service-quotas list-service-quotas` lists the quotas"
        ]
    return quota_advice(pool, region=stack.target.region)


def _not_joined(error: EngineError, stack: FailedStack) -> list[str]:
    pool = stack.pool_of(error)
    name = pool.described if pool else "the node group"
    ids = list(dict.fromkeys(re.findall(r"\bi-[0-9a-f]{8,17}\b", error.message)))
    look = commands(
        region=stack.target.region,
        cluster=stack.cluster,
        instance_ids=ids,
        account=stack.target.account,
    )
    return [
        (
            f"{name}: its instances are running but have not joined the cluster; check these "
            "causes in order:"
        ),
        *(f"  {each}" for each in causes(role_arn="", let_in=None, managed=True)),
        *(f"  {each}" for each in look),
    ]


def _addresses(error: EngineError, stack: FailedStack) -> list[str]:
    pool = stack.pool_of(error)
    return [
        (
            f"{pool.described if pool else 'the nodes'}: the subnets have too few free addresses; "
            "use larger subnets, or release addresses"
        )
    ]


def _identity(_: EngineError, stack: FailedStack) -> list[str]:
    return [
        (
            "a new IAM role is visible to other services only after some seconds, and this took "
            "longer than the provider waits: run the command again"
        )
    ]


def _never_registered(error: EngineError, stack: FailedStack) -> list[str]:
    if stack.target.is_sandbox:
        return ["static nodes did not start; the message has the reason"]
    region = stack.target.region
    return [
        (
            "static nodes started but did not register, ten times in a row (protected mode). "
            "Their logs and the Slurm logs are kept in the log group of the cluster:"
        ),
        (
            f"  aws logs describe-log-groups --region {region} --log-group-name-prefix "
            f"/aws/parallelcluster/{stack.cluster}"
        ),
        f"  aws logs tail LOG_GROUP --region {region} --since 2h --filter-pattern ERROR",
    ]


def _busy(_: EngineError, stack: FailedStack) -> list[str]:
    return ["AWS throttled calls or had an internal error; the stack is not the cause"]


def _gone(error: EngineError, stack: FailedStack) -> list[str]:
    return [
        (
            f"{error.resource_type} {error.resource_name} no longer exists, and the AWS provider "
            "cannot read deleted objects "
            "(https://github.com/hashicorp/terraform-provider-aws/issues/45303)"
        ),
        f"  to remove it from the state:  {stack.target.command('refresh')}",
        f"           to create it again:  {stack.target.command('up')}",
    ]


_KNOWN: Mapping[KnownError, Advice] = {
    known_errors.CREDENTIALS: _expired,
    known_errors.GONE: _gone,
    known_errors.UNREADY: lambda error, _: not_ready(error),
    known_errors.VCPU_QUOTA: _quota,
    known_errors.CAPACITY: _capacity,
    known_errors.ADDRESSES: _addresses,
    known_errors.NOT_JOINED: _not_joined,
    known_errors.EXISTS: lambda error, stack: taken(error, region=stack.target.region),
    known_errors.QUOTA: lambda error, _: limit(error),
    known_errors.NEW_ROLE: _identity,
    known_errors.NOT_REGISTERED: _never_registered,
    known_errors.BUSY: _busy,
}
"""Advice on errors; the first match counts, so EC2 codes precede EKS codes."""
