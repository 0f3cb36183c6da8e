"""A ParallelCluster queue lists each subnet once, and several only with flexible instance types.

Why:
    ParallelCluster rejects a duplicate subnet in a queue. It also rejects several subnets if a
    compute resource has a single instance type in `InstanceType`; several subnets need `Instances`.
    The error appears when the stack is created, after about 15 minutes.
Fix:
    Keep one subnet in `SubnetIds` of the queue, or list the instance types under `Instances`.
Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.parallelcluster import compute_resources
from trainyard.policies.resources.props import Facts
from trainyard.policies.resources.types import CLOUDFORMATION_STACK
from trainyard.policies.rule import Config, resource_rule


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    seen: set[str] = set()
    for nodes in compute_resources(facts.needed("templateBody")):
        queue = nodes.name.partition("/")[0]
        known = Counter(subnet for subnet in nodes.subnets if subnet is not None)
        twice = sorted(subnet for subnet, count in known.items() if count > 1)
        if twice and queue not in seen:
            yield (
                f"its queue {queue} names {', '.join(twice)} more than once, which "
                "ParallelCluster rejects; name each subnet once in SubnetIds"
            )
        seen.add(queue)
        count = len(known) + nodes.subnets.count(None)
        if count > 1 and not nodes.flexible:
            yield (
                f"its queue {queue} has {count} subnets and {nodes.name} one "
                "instance type, which ParallelCluster rejects; keep one subnet in SubnetIds, or "
                "list types under Instances"
            )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["network", "E3"],
    types=(CLOUDFORMATION_STACK,),
    check=_check,
)
