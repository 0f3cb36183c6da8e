"""The job definitions of a template."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from trainyard.components.catalog.batch import image_type
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.catalog.secret_arns import secret_arn
from trainyard.importing.cloudformation.evaluation import Deferred, deferred_in
from trainyard.importing.cloudformation.template import (
    claim_unknown,
    is_known,
    take_known,
    why_unknown,
)
from trainyard.importing.draft import Draft
from trainyard.importing.report import Reader, whole

UNKNOWN_IMAGE = "<image of the job>"
"""What a stack file has in the place of an image that the template does not have."""
MOST_NODES = 1000
"""Nodes of the largest job: for checks while the size of an environment is not known."""
_EFA_DEVICE = re.compile(r"/dev/infiniband/uverbs\d+")
_NEURON_DEVICE = re.compile(r"/dev/neuron\d+")
_ALL_NODES = re.compile(r"0?:|0:(?P<last>\d+)")
_NO_REFERENCE = (
    "a stack has no parameters of jobs: write the value, or set another command when you submit"
)
_LEAST_ULIMITS = {"memlock": -1, "stack": 67_108_864, "nofile": 1_024_000}
"""Limits of the containers of a stack (`components/batch/job_definition_plan.py`)."""
_REQUIREMENTS = {"VCPU": "vcpus", "MEMORY": "memory_mib", "GPU": "accelerators"}


def read_job(
    job: Reader, draft: Draft, environment: str, *, takes_image: Callable[[Reader, Draft], bool]
) -> None:
    """Read a job definition.

    Args:
        job: The properties of the definition.
        draft: The entry of `job_definitions`.
        environment: Name of the compute environment on which it runs.
        takes_image: Reads an image that is in a repository of the same template, and returns
            whether it is.
    """
    draft.put("compute_environment", environment)
    container = _read_container(job, draft)
    if not takes_image(container.at("Image"), draft):
        _read_image(container.at("Image"), draft)
    _read_command(container.at("Command"), draft)
    _read_environment(container.at("Environment"), draft)
    _read_secrets(container.at("Secrets"), draft)
    _read_requirements(container, draft)
    _read_devices(container.at("LinuxParameters"), draft)
    for limit in container.at("Ulimits").items():
        _read_limit(limit)
    for flag in ("Privileged", "ReadonlyRootFilesystem"):
        if str(container.at(flag).flag).lower() == "false":
            container.at(flag).implied("it is the default")
    _read_platform(job.at("PlatformCapabilities"))
    attempts = job.at("RetryStrategy", "Attempts")
    if whole(attempts) is not None:
        draft.take("attempts", attempts, change=lambda _: whole(attempts))
    claim_unknown(attempts, (*draft.at, "attempts"))
    _read_timeout(job.at("Timeout", "AttemptDurationSeconds"), draft)


def _read_container(job: Reader, draft: Draft) -> Reader:
    """Read what kind of job it is, and return its container."""
    container, nodes = job.at("ContainerProperties"), job.at("NodeProperties")
    ours = (*draft.at, "nodes") if nodes.exists else draft.at
    job.at("Type").claim("taken over", ours=ours)
    for each in (container, nodes):
        if isinstance(each.value, Deferred):
            claim_unknown(each, draft.at)
    return _read_nodes(nodes, draft) if nodes.exists else container


def _read_nodes(nodes: Reader, draft: Draft) -> Reader:
    """Read the nodes of a multi-node parallel job, and return their container."""
    number = nodes.at("NumNodes")
    if whole(number) is not None:
        draft.take("nodes", number, change=lambda _: whole(number))
    else:
        claim_unknown(number, (*draft.at, "nodes"))
    main = nodes.at("MainNode")
    if whole(main) == 0:
        main.implied("node 0 is the main node")
    main.unsupported("node 0 is the main node of jobs of a stack")
    first, *others = [*nodes.at("NodeRangeProperties").items()] or [nodes.at("NodeRangeProperties")]
    targets = first.at("TargetNodes")
    match = _ALL_NODES.fullmatch(str(targets.value))
    last = int(match["last"]) if match and match["last"] else None
    if match and (last is None or last + 1 == whole(number)) and not others:
        targets.implied("all nodes of a job run the same container")
    targets.unsupported(
        "all nodes of a job run the same container: choose by `AWS_BATCH_JOB_NODE_INDEX` in it"
    )
    for other in others:
        other.unsupported(
            "all nodes of a job run the same container: choose by `AWS_BATCH_JOB_NODE_INDEX` in it"
        )
    for kind in first.at("InstanceTypes").items():
        kind.implied("it is the type of the compute environment")
    return first.at("Container")


def _instance_types(job: Reader) -> Iterator[Reader]:
    """Yield the instance types that the ranges of a multi-node job name."""
    for each in job.at("NodeProperties", "NodeRangeProperties").items():
        yield from (kind for kind in (each.at("Container", "InstanceType"),) if is_known(kind))


def environment_of(job: Reader, names: Collection[str], architecture: Draft) -> str:
    """Return the compute environment for a job: that of its instance type, or the first one."""
    made = architecture.section("compute_environments").values
    for kind in _instance_types(job):
        for name in names:
            if made[name].get("instance_type") == kind.value:
                kind.implied("it is the type of the compute environment")
                return name
        kind.unsupported("add a compute environment of this type, and name it in the job")
    return next(iter(names), "nodes")


def example_type(jobs: Iterable[Mapping[str, Any]]) -> str:
    """Return a type that has what jobs request, for checks while the real type is not known."""
    wanted = {
        key: max((each[key] for each in jobs if isinstance(each.get(key), int)), default=0)
        for jobs in ([*jobs],)
        for key in ("vcpus", "memory_mib", "accelerators", "efa_interfaces")
    }
    fitting = (
        name
        for name, each in INSTANCE_TYPES.items()
        if each.vcpus >= wanted["vcpus"]
        and each.memory_mib >= wanted["memory_mib"]
        and (each.accelerators.count if each.accelerators else 0) >= wanted["accelerators"]
        and each.efa_interfaces >= wanted["efa_interfaces"]
        and image_type(each) is not None
    )
    return next(fitting, "p5.48xlarge")


def _read_image(image: Reader, draft: Draft) -> None:
    """Read the image; an unknown one stays in the file as it is, so that `check` refuses it.

    A job definition without an image runs the collective tests.
    """
    if not take_known(draft, "image", image):
        draft.put("image", str(image.value) if image.exists else UNKNOWN_IMAGE)
        draft.needs("image", "public.ecr.aws/docker/library/busybox:1.37")


def _read_command(command: Reader, draft: Draft) -> None:
    values = command.value if isinstance(command.value, list) else []
    references = [each for each in command.items() if str(each.value).startswith("Ref::")]
    for each in command.items():
        if each in references:
            each.unsupported(_NO_REFERENCE)
        if _why_unknown_text(each):
            claim_unknown(each, (*draft.at, "command"))
    if not values:
        return
    if references or any(map(_why_unknown_text, command.items())):
        draft.needs("command", ["true"])
        command.claim("not supported", "set `command`: a part of it is not known",
                      ours=(*draft.at, "command"))  # fmt: skip
    else:
        draft.take("command", command, change=lambda _: [_text(each) for each in values])


def _why_unknown_text(source: Reader) -> str:
    """Return why a text is not known; a `$NAME` in it is a variable of the container's shell."""
    return why_unknown(source.value) if deferred_in(source.value) is not None else ""


def _read_environment(variables: Reader, draft: Draft) -> None:
    for variable in variables.items():
        name, value = variable.at("Name"), variable.at("Value")
        if _why_unknown_text(value) or not value.exists:
            variable.unsupported(
                f"set `environment.{name.value}`: {why_unknown(value.value) or 'it has no value'}"
            )
        else:
            section = draft.section("environment", variables)
            section.take(str(name.value), value, change=_text)
            name.claim("taken over", ours=(*section.at, str(name.value)))


def _read_secrets(secrets: Reader, draft: Draft) -> None:
    for each in secrets.items():
        name, reference = each.at("Name"), each.at("ValueFrom")
        if is_known(name) and is_known(reference) and secret_arn(str(reference.value)):
            section = draft.section("secrets", secrets)
            section.take(str(name.value), reference)
            name.claim("taken over", ours=(*section.at, str(name.value)))


def _read_requirements(container: Reader, draft: Draft) -> None:
    for requirement in container.at("ResourceRequirements").items():
        kind, value = requirement.at("Type"), requirement.at("Value")
        key = _REQUIREMENTS.get(str(kind.value).upper())
        if key is not None:
            _take_rounded(draft, key, value)
            kind.claim("taken over", ours=(*draft.at, key))
    # Earlier forms of the two requirements.
    _take_rounded(draft, "vcpus", container.at("Vcpus"))
    _take_rounded(draft, "memory_mib", container.at("Memory"))


def _take_rounded(draft: Draft, key: str, source: Reader) -> None:
    try:
        number = math.ceil(float(str(source.value)))
    except (ValueError, OverflowError):
        claim_unknown(source, (*draft.at, key))
        return
    rounded = "" if str(number) == str(source.value) else "rounded up to whole ones"
    if draft.has(key):
        source.dropped("`ResourceRequirements` has it too")
    else:
        draft.take(key, source, change=lambda _: number, why=rounded)


def _read_devices(linux: Reader, draft: Draft) -> None:
    memory = linux.at("SharedMemorySize")
    _take_rounded(draft, "shared_memory_mib", memory)
    efa, neuron = [], []
    for device in linux.at("Devices").items():
        path = str(device.at("HostPath").value)
        (efa if _EFA_DEVICE.fullmatch(path) else
         neuron if _NEURON_DEVICE.fullmatch(path) else []).append(device)  # fmt: skip
    for key, devices in (("efa_interfaces", efa), ("accelerators", neuron)):
        for device in devices:
            device.claim("taken over", "the number of devices", ours=(*draft.at, key))
        if devices:
            draft.put(key, len(devices))


def _read_limit(limit: Reader) -> None:
    least = _LEAST_ULIMITS.get(str(limit.at("Name").value))
    wanted = [whole(limit.at(key)) for key in ("SoftLimit", "HardLimit")]
    known = [each for each in wanted if each is not None]
    if least is None or len(known) < len(wanted):
        return
    if least == -1 or all(0 <= each <= least for each in known):
        limit.implied(f"the limit of containers of a stack is {least}")


def _read_platform(platforms: Reader) -> None:
    for platform in platforms.items():
        if str(platform.value).upper() == "EC2":
            platform.implied("jobs of a stack run on EC2 instances")


def _read_timeout(seconds: Reader, draft: Draft) -> None:
    limit = whole(seconds)
    if limit is not None:
        minutes = max(1, math.ceil(limit / 60))
        draft.take(
            "timeout_minutes",
            seconds,
            change=lambda _: minutes,
            why="" if limit % 60 == 0 else f"{limit} seconds, rounded up to minutes",
        )
    claim_unknown(seconds, (*draft.at, "timeout_minutes"))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
