"""Single-node job containers are not privileged, unless they use EFA devices.

Why:
    A privileged container has access to the devices and the kernel of its node, and through them to
    the node role and to every other job on the node. Multi-node parallel jobs, and jobs that name
    EFA devices, are exempt because EFA needs the devices of the node. General-purpose rule packs
    report those as well.
Fix:
    Remove `privileged`, and list the devices that the job needs in `linuxParameters.devices`.
Source:
    https://docs.aws.amazon.com/batch/latest/APIReference/API_ContainerProperties.html
    https://docs.aws.amazon.com/batch/latest/userguide/efa.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.props import Facts, is_true, members, objects, parsed_members
from trainyard.policies.resources.types import BATCH_JOB_DEFINITION
from trainyard.policies.rule import Config, resource_rule

EFA_DEVICES = "/dev/infiniband"


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    # Multi-node jobs are exempt: they have node properties instead.
    for container in _containers(facts):
        if is_true(container.get("privileged")) and not _names_efa_devices(container):
            yield (
                "its container is privileged and uses no EFA device, so the job has full access to "
                "its node; remove privileged, and list the devices that it needs in "
                "linuxParameters.devices"
            )


def _containers(facts: Facts) -> Iterator[Mapping[str, Any]]:
    yield parsed_members(facts.needed("containerProperties"))
    for task in objects(parsed_members(facts.needed("ecsProperties")), "taskProperties"):
        yield from objects(task, "containers")


def _names_efa_devices(container: Mapping[str, Any]) -> bool:
    devices = objects(members(container, "linuxParameters"), "devices")
    return any(str(device.get("hostPath")).startswith(EFA_DEVICES) for device in devices)


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["security", "baseline", "G6", "H4"],
    types=(BATCH_JOB_DEFINITION,),
    check=_check,
)
