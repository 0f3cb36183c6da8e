"""The maximum vCPUs of a compute environment fit one instance, and its vCPU sizes are in order.

Why:
    AWS Batch launches nothing if the smallest instance type of the environment has more vCPUs than
    the maximum. Jobs stay in RUNNABLE without an error. AWS Batch rejects a minimum above the
    maximum when it creates the environment.
Fix:
    Raise `max_vcpus` to the vCPUs of all nodes that a job needs (192 for each p5.48xlarge), and
    keep minimum, desired and maximum in order.
Source:
    https://docs.aws.amazon.com/batch/latest/APIReference/API_ComputeResource.html
    https://docs.aws.amazon.com/batch/latest/userguide/troubleshooting.html
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from pulumi_policy import EnforcementLevel, Severity

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.policies.resources.batch import FARGATE
from trainyard.policies.resources.props import UNKNOWN, Facts, number_of
from trainyard.policies.resources.types import BATCH_COMPUTE_ENVIRONMENT
from trainyard.policies.rule import Config, resource_rule

_IN_ORDER = ("minVcpus", "desiredVcpus", "maxVcpus")
_NAMES = {"minVcpus": "min_vcpus", "desiredVcpus": "desired_vcpus", "maxVcpus": "max_vcpus"}


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    if facts.get("type") == "UNMANAGED" or facts.get("computeResources", "type") in FARGATE:
        return
    given = {name: number_of(facts.needed("computeResources", name)) for name in _IN_ORDER}
    known = {name: value for name, value in given.items() if value not in (None, UNKNOWN)}
    for lower, upper in pairwise(known):
        if known[lower] > known[upper]:
            yield (
                f"its {_NAMES[lower]} is {known[lower]:g} and its {_NAMES[upper]} "
                f"{known[upper]:g}, which AWS Batch rejects; keep min_vcpus, desired_vcpus and "
                "max_vcpus in order"
            )
    smallest = _smallest(facts)
    # A maximum of 0 disables an environment on purpose.
    if smallest and 0 < known.get("maxVcpus", smallest[0]) < smallest[0]:
        vcpus, name = smallest
        yield (
            f"its max_vcpus is {known['maxVcpus']:g}, but the smallest instance that it may "
            f"launch, {name}, has {vcpus} vCPUs, so its jobs stay RUNNABLE; set max_vcpus to "
            f"{vcpus} for each node that a job needs"
        )


def _smallest(facts: Facts) -> tuple[int, str] | None:
    """Return vCPUs and name of the smallest instance type; None if one type is unknown."""
    sizes: list[tuple[int, str]] = []
    for index in range(facts.count("computeResources", "instanceTypes")):
        name = facts.get("computeResources", "instanceTypes", index)
        if name not in INSTANCE_TYPES:  # a family, `optimal`, or a type outside the catalog
            return None
        sizes.append((INSTANCE_TYPES[name].vcpus, name))
    return min(sizes, default=None)


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["G4"],
    types=(BATCH_COMPUTE_ENVIRONMENT,),
    check=_check,
)
