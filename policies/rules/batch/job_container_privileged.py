"""Containers of jobs are not privileged, unless they run over EFA.

Why:
    A privileged container has the devices and the kernel of its node, and with them the node's
    role and every other job there. General rule sets flag all of them, also those of multi-node
    parallel jobs, which reach EFA in no other way than through the devices of the node: a job of
    several nodes, and one that names the devices of EFA, is exempt here.
Fix:
    Leave `privileged` out, and name the devices that the job needs in `linuxParameters.devices`.
Source:
    https://docs.aws.amazon.com/batch/latest/APIReference/API_ContainerProperties.html
    https://docs.aws.amazon.com/batch/latest/userguide/efa.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.props import Facts, is_true, members, objects, parsed_members
from policies.resources.types import BATCH_JOB_DEFINITION
from policies.rule import Config, on_types

EFA_DEVICES = "/dev/infiniband"


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    # Jobs of several nodes have node properties instead, which are not read: they are exempt.
    for container in _containers(facts):
        if is_true(container.get("privileged")) and not _names_efa_devices(container):
            yield (
                "its container is privileged and has no device of EFA, so whatever runs in it has "
                "its node; leave privileged out, and name the devices that it needs in "
                "linuxParameters.devices"
            )


def _containers(facts: Facts) -> Iterator[Mapping[str, Any]]:
    yield parsed_members(facts.needed("containerProperties"))
    for task in objects(parsed_members(facts.needed("ecsProperties")), "taskProperties"):
        yield from objects(task, "containers")


def _names_efa_devices(container: Mapping[str, Any]) -> bool:
    devices = objects(members(container, "linuxParameters"), "devices")
    return any(str(device.get("hostPath")).startswith(EFA_DEVICES) for device in devices)


POLICY = ResourceValidationPolicy(
    name="job-container-privileged",
    display_name="Job containers are not privileged, except with EFA",
    description="A job of one node has no privileged container, unless it names devices of EFA.",
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["batch", "security", "baseline", "G6", "H4"],
    remediation_steps="Leave privileged out of the container properties.",
    url="https://docs.aws.amazon.com/batch/latest/APIReference/API_ContainerProperties.html",
    validate=on_types(BATCH_JOB_DEFINITION, check=_check),
)
