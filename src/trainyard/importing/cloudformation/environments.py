"""The compute environments and job queues of a template."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.checks.derived_names import NODE_ROLE
from trainyard.importing.cloudformation.image import read_image
from trainyard.importing.cloudformation.jobs import MOST_NODES
from trainyard.importing.cloudformation.launch_template import read_launch_template
from trainyard.importing.cloudformation.roles import read_policies
from trainyard.importing.cloudformation.template import Resource, Template
from trainyard.importing.cloudformation.values import claim_unknown, is_known, take_known, whole
from trainyard.importing.draft import Draft
from trainyard.importing.reader import Reader

_LONGEST_NAME = 48
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_STRATEGIES = {
    "EC2": "BEST_FIT_PROGRESSIVE",
    "SPOT": "SPOT_PRICE_CAPACITY_OPTIMIZED",
}
"""Strategies of a stack, with which Batch updates an environment in place."""


def entry_name(text: str, stack: str, taken: Collection[str]) -> str:
    """Return a text as the name of an entry, which is a part of the names of AWS objects.

    Args:
        text: The name in the source.
        stack: Name of the stack, which is also a part of these names.
        taken: Names of other entries.
    """
    plain = _NOT_IN_NAMES.sub("-", text).strip("-_") or "imported"
    longest = max(1, min(_LONGEST_NAME, len(plain) - NODE_ROLE.excess(stack, plain)))
    names = (
        plain[: longest - len(suffix)].strip("-_") + suffix
        for suffix in ("", *(f"-{number}" for number in range(2, len(taken) + 3)))
    )
    return next(name for name in names if name not in taken)


def why_renamed(theirs: str, ours: str) -> str:
    """Return why an entry has another name than in the source; empty if it has the same."""
    return "" if theirs == ours else "the names of AWS objects that contain it have a limit"


def read_environment(
    environment: Resource, template: Template, environments: Draft, cluster: Draft
) -> str:
    """Read a compute environment, and return its name in the stack file."""
    name = entry_name(environment.name, str(cluster.values["name"]), environments.values)
    draft = environments.section(name, environment.source)
    environment.claim_made(draft.at, why_renamed(environment.name, name))
    resources = environment.at("ComputeResources")
    instance_type = _read_type(resources.at("InstanceTypes"), draft)
    _read_market(resources.at("Type"), draft)
    launch = template.named_by(resources.at("LaunchTemplate", "LaunchTemplateId"))
    launch = launch or template.named_by(resources.at("LaunchTemplate", "LaunchTemplateName"))
    data = launch.at("LaunchTemplateData") if launch is not None else None
    read_image(resources, data, instance_type, draft)
    if launch is not None:
        read_launch_template(launch, draft, cluster)
        launch.source.at("Type").implied("the stack writes the launch template of its nodes")
    else:
        for key in ("LaunchTemplateId", "LaunchTemplateName"):
            resources.at("LaunchTemplate", key).unsupported(
                "the stack writes the launch template: set `purchase_option`, `efa_enabled`, "
                "`root_volume` and `custom_ami_id` to what this one has"
            )
    _read_sizes(resources, instance_type, draft)
    for key in (resources.at("Ec2KeyPair"), data.at("KeyName") if data else None):
        if key is not None and key.exists and not draft.has("ssh_key_name"):
            take_known(draft, "ssh_key_name", key)
    groups = [resources.at("PlacementGroup")]
    groups += [data.at("Placement", "GroupName")] if data else []
    read_placement(groups, lambda source: _group_made(source, template, draft), draft)
    read_strategy(resources)
    _read_subnets(resources.at("Subnets"), template, with_efa=draft.has("efa_enabled"))
    read_state(environment.at())
    profile = template.named_by(resources.at("InstanceRole"))
    if profile is not None:
        for role in profile.at("Roles").items():
            found = template.named_by(role)
            if found is not None:
                read_policies(found, draft)
    return name


def _read_type(types: Reader, draft: Draft) -> str:
    """Read the instance type, and return it; empty if only the user knows it."""
    chosen = ""
    for source in types.items():
        if chosen:
            source.unsupported(
                "a compute environment has one instance type: add another one for it",
                rule="" if source.value == chosen else "A8",
            )
            continue
        family = [each for each in INSTANCE_TYPES if each.startswith(f"{source.value}.")]
        if is_known(source) and "." in str(source.value):
            draft.take("instance_type", source)
            chosen = str(source.value)
        elif len(family) == 1:
            chosen = family[0]
            draft.put("instance_type", chosen)
            ours = (*draft.at, "instance_type")
            source.claim("taken over", "it is the only type of the family here", ours=ours)
        else:
            if not is_known(source):
                claim_unknown(source, (*draft.at, "instance_type"))
            source.claim(
                "not supported",
                "a compute environment has one instance type: set `instance_type`",
                ours=(*draft.at, "instance_type"),
            )
    if not chosen:
        draft.needs("instance_type", "c5.large")
    return chosen


def _read_market(kind: Reader, draft: Draft) -> None:
    market = str(kind.value).upper()
    if market == "SPOT":
        draft.take("purchase_option", kind, change=lambda _: "spot")
    elif market == "EC2":
        draft.put("purchase_option", "on-demand")
        kind.claim("taken over", ours=(*draft.at, "purchase_option"))
    else:
        kind.unsupported("nodes of a stack are EC2 instances: EFA does not exist on Fargate")


def _read_sizes(resources: Reader, instance_type: str, draft: Draft) -> None:
    """Read the least and most vCPUs as numbers of nodes."""
    found = INSTANCE_TYPES.get(instance_type)
    most, least = resources.at("MaxvCpus"), resources.at("MinvCpus")
    most_vcpus, least_vcpus = whole(most), whole(least)
    if found is None or most_vcpus is None:
        draft.needs("maximum", MOST_NODES)
        for source, key in ((most, "maximum"), (least, "minimum")):
            if source.exists and whole(source) != 0:
                source.claim(
                    "not supported",
                    f"set `{key}`, the number of nodes: the number of vCPUs by that of the "
                    "instance type",
                    ours=(*draft.at, key),
                )
        least.implied("no nodes run without jobs")
        return
    each = f"{found.vcpus} vCPUs of {instance_type}"
    nodes = most_vcpus // found.vcpus
    if nodes:
        why = f"{most_vcpus} vCPUs are {nodes} nodes with the {each}, rounded down"
        draft.take("maximum", most, change=lambda _: nodes, why=why)
    else:
        draft.better("maximum", most, 1, f"no node with the {each} would launch")
    if least_vcpus:
        nodes = math.ceil(least_vcpus / found.vcpus)
        why = f"{least_vcpus} vCPUs are {nodes} nodes with the {each}, rounded up as by Batch"
        draft.take("minimum", least, change=lambda _: nodes, why=why)
    least.implied("no nodes run without jobs")


def _group_made(source: Reader, template: Template, draft: Draft) -> Reader | None:
    made = template.named_by(source)
    if made is None or made.kind != "AWS::EC2::PlacementGroup":
        return None
    made.claim_made((*draft.at, "placement", "group"))
    return made.at()


def read_placement(
    named: Sequence[Reader], made_of: Callable[[Reader], Reader | None], draft: Draft
) -> None:
    """Read the placement group of a compute environment.

    Args:
        named: Places of its name.
        made_of: Returns the properties of the group that a name means, if the source creates it.
        draft: The entry of the compute environment in the stack file.
    """
    for source in (each for each in named if each.exists):
        placement = draft.section("placement", source)
        if placement.has("group"):
            source.dropped("the compute environment has a placement group already")
        elif (made := made_of(source)) is not None:
            placement.put("group", "create")
            source.claim("taken over", ours=(*placement.at, "group"))
            strategy = made.at("Strategy")
            if strategy.value in (None, "cluster"):
                strategy.implied("a placement group of a stack is a cluster placement group")
            else:
                strategy.claim(
                    "taken over better", "nodes of one job are near each other: `cluster`"
                )
        elif is_known(source):
            placement.put("group", "existing")
            placement.take("name", source)
        else:
            del draft.values["placement"]
            claim_unknown(source, (*draft.at, "placement"))


def read_strategy(resources: Reader) -> None:
    """Report what becomes of the allocation strategy in `ComputeResources`."""
    strategy = resources.at("AllocationStrategy")
    wanted = _STRATEGIES.get(str(resources.at("Type").value).upper(), "")
    if strategy.value == wanted:
        strategy.implied("it is the strategy of a stack")
    strategy.claim(
        "taken over better",
        f"environments of a stack have {wanted or 'a strategy'}, with which Batch updates them in "
        "place",
    )


def _read_subnets(subnets: Reader, template: Template, *, with_efa: bool) -> None:
    for subnet in subnets.items():
        found = template.named_by(subnet)
        if found is None or found.kind != "AWS::EC2::Subnet":
            continue
        if str(found.at("MapPublicIpOnLaunch").flag).lower() == "true":
            subnet.claim(
                "taken over better",
                "nodes launch in private subnets, and reach the internet through a NAT gateway",
                rule="A10" if with_efa else "",
            )
        subnet.implied("nodes launch in the private subnets of the stack")


def read_state(environment: Reader) -> None:
    """Report what becomes of the state and the kind of a compute environment that differ."""
    kind, state = environment.at("Type"), environment.at("State")
    if str(kind.value).upper() == "UNMANAGED":
        kind.unsupported("environments of a stack are managed by Batch")
    if str(state.value).upper() == "DISABLED":
        state.unsupported(
            "environments of a stack are enabled: nodes launch only when jobs are submitted"
        )


def read_queues(template: Template, names: dict[str, str], environments: Draft) -> None:
    """Read job queues: each compute environment of a stack has its own.

    Args:
        template: The objects of the template.
        names: Names of the compute environments by logical id.
        environments: The section with them.
    """
    served: set[str] = set()
    for queue in template.of("AWS::Batch::JobQueue"):
        first = True
        for entry in queue.at("ComputeEnvironmentOrder").items():
            source = entry.at("ComputeEnvironment")
            found = template.named_by(source)
            name = names.get(found.name, "") if found is not None else ""
            if not name:
                source.unsupported("submit to the queue of a compute environment of the stack")
                continue
            entry.at("Order").implied("a queue of a stack has one compute environment")
            if first and name not in served:
                served.add(name)
                draft = environments.section(name)
                queue.claim_made(draft.at)
                source.claim("taken over", ours=draft.at)
                priority = whole(queue.at("Priority"))
                if priority is not None:
                    draft.put("queue_priority", priority)
                    ours = (*draft.at, "queue_priority")
                    queue.at("Priority").claim("taken over", ours=ours)
            else:
                source.unsupported(
                    f"a queue of a stack has one compute environment: submit to the queue of "
                    f"`{name}`"
                )
            first = False
        queue.at("Priority").implied("the queue has the priority of its compute environment")
        if str(queue.at("State").value).upper() == "DISABLED":
            queue.at("State").unsupported("queues of a stack are enabled")
