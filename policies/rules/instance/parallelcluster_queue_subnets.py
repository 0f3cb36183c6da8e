"""A queue of ParallelCluster has the subnets that it may have.

Why:
    ParallelCluster refuses a subnet that stands twice in a queue, and more than one subnet where a
    compute resource has one instance type by `InstanceType`: several subnets are for flexible
    compute resources (`Instances`). It says so when the stack is made, after a quarter of an hour.
Fix:
    Leave one subnet in the queue's `SubnetIds`, or list the types under `Instances`.
Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.parallelcluster import compute_resources
from policies.resources.props import Facts
from policies.resources.types import CLOUDFORMATION_STACK
from policies.rule import Config, on_types


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    seen: set[str] = set()
    for nodes in compute_resources(facts.needed("templateBody")):
        queue = nodes.name.partition("/")[0]
        known = Counter(subnet for subnet in nodes.subnets if subnet is not None)
        twice = sorted(subnet for subnet, count in known.items() if count > 1)
        if twice and queue not in seen:
            yield (
                f"its queue {queue} names {', '.join(twice)} more than once, which "
                "ParallelCluster refuses; name each subnet once in SubnetIds"
            )
        seen.add(queue)
        count = len(known) + nodes.subnets.count(None)
        if count > 1 and not nodes.flexible:
            yield (
                f"its queue {queue} has {count} subnets and {nodes.name} one "
                "instance type, which ParallelCluster refuses; leave one subnet in SubnetIds, or "
                "list types under Instances"
            )


POLICY = ResourceValidationPolicy(
    name="parallelcluster-queue-subnets",
    display_name="Queues of ParallelCluster have the subnets that they may have",
    description="A queue names a subnet once, and several only for flexible compute resources.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["instance", "network", "E3"],
    remediation_steps="Leave one subnet in the queue.",
    url="https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html",
    validate=on_types(CLOUDFORMATION_STACK, check=_check),
)
