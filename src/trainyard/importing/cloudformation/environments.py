"""The compute environments and job queues of a template."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence

from trainyard.components.catalog.batch import (
    MINIMUM_ROOT_VOLUME_GIB,
    ImageType,
    image_parameter,
    image_type,
)
from trainyard.components.catalog.instance_types import INSTANCE_TYPES, InstanceType
from trainyard.components.named.derived_names import NODE_ROLE
from trainyard.importing.cloudformation.jobs import MOST_NODES
from trainyard.importing.cloudformation.template import (
    Resource,
    Template,
    claim_unknown,
    is_known,
    take_known,
)
from trainyard.importing.draft import Draft, claim_market
from trainyard.importing.report import Reader, whole
from trainyard.importing.source import id_for, is_id

_RESOLVE = "{{resolve:ssm:"
"""Begin of a dynamic reference:
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-ssm.html"""


_OF_ECS_AMI = "/aws/service/ecs/optimized-ami/"


def _path(image: Reader) -> str:
    """Return the name of a parameter without the braces of a reference."""
    return str(image.value).removeprefix(_RESOLVE).rstrip("}")


def _path_of(automatic: ImageType, found: InstanceType | None, image: str) -> bool:
    """Return whether an image is the path of the AMI that Batch selects itself."""
    return found is not None and image == image_parameter(automatic, found.architecture)


def _read_image(resources: Reader, data: Reader | None, instance_type: str, draft: Draft) -> None:
    """Read the AMI of a compute environment.

    Args:
        resources: Its `ComputeResources`.
        data: The data of its launch template, if it has one.
        instance_type: Its instance type; empty if only the user knows it.
        draft: Its entry in the stack file.
    """
    found = INSTANCE_TYPES.get(instance_type)
    automatic = image_type(found) if found is not None else None
    configurations = [*resources.at("Ec2Configuration").items()]
    for configuration in configurations:
        kind = configuration.at("ImageType")
        if automatic and kind.value != automatic and is_known(kind):
            kind.claim(
                "taken over better",
                f"`image: auto` selects {automatic}, which has the drivers of {instance_type}",
            )
    images = [each.at("ImageIdOverride") for each in configurations]
    images += [resources.at("ImageId"), *([data.at("ImageId")] if data else [])]
    for image in (each for each in images if each.exists):
        _read_ami(image, automatic, found, draft)
    if found is not None and automatic is None and not draft.has("custom_ami_id"):
        # Batch has no AMI with the drivers of the type.
        draft.put("image", "custom")
        draft.needs("custom_ami_id", id_for("ami"))


def _read_ami(
    image: Reader, automatic: ImageType | None, found: InstanceType | None, draft: Draft
) -> None:
    """Read an AMI: an id, a path of the Parameter Store, or one that is not known.

    Args:
        image: The AMI.
        automatic: The AMI type that `image: auto` selects, if there is one.
        found: The instance type, if it is known.
        draft: The compute environment.
    """
    if draft.has("custom_ami_id"):
        image.dropped("Batch launches the other AMI")
    elif is_id(image.value, "ami"):
        draft.put("image", "custom")
        draft.take("custom_ami_id", image)
    elif automatic and _path_of(automatic, found, _path(image)):
        image.implied(f"`image: auto` selects {automatic}, of which this path has the AMI")
    elif automatic and _path(image).startswith(_OF_ECS_AMI):
        image.claim(
            "taken over better",
            f"`image: auto` selects {automatic}, the ECS-optimized AMI of Amazon Linux 2023 with "
            f"the drivers of {found.name if found else 'the type'}, in the place of this path's",
            ours=draft.at,
        )
    else:
        draft.put("image", "custom")
        draft.needs("custom_ami_id", id_for("ami"))
        if str(image.value).startswith(("/", _RESOLVE)):
            image.claim(
                "not supported",
                "set `custom_ami_id` to what `aws ssm get-parameter --name "
                f"{_path(image)} --query Parameter.Value` prints",
                ours=(*draft.at, "custom_ami_id"),
            )
        claim_unknown(image, (*draft.at, "custom_ami_id"))
        image.unsupported("set `custom_ami_id` to the id of the AMI")


_AWS_POLICY = re.compile(r"arn:aws[\w-]*:iam::aws:policy/(?P<name>.+)")
_OF_ECS = ("service-role/AmazonEC2ContainerServiceforEC2Role",)


def read_policies(role: Resource, draft: Draft) -> None:
    """Read the managed policies of a role into `iam_policies`."""
    for arn in role.at("ManagedPolicyArns").items():
        text = str(arn.value)
        match = _AWS_POLICY.fullmatch(text)
        name = match["name"] if match else text
        if name in _OF_ECS:
            arn.implied("nodes have the permissions of the ECS agent")
        elif is_known(arn):
            names = draft.values.setdefault("iam_policies", [])
            if name not in names:
                names.append(name)
            arn.claim("taken over", ours=(*draft.at, "iam_policies", names.index(name)))
        else:
            claim_unknown(arn, (*draft.at, "iam_policies"))


_ROOTS = ("/dev/xvda", "/dev/sda1")
"""Root devices of Amazon Linux and of Ubuntu.
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/device_naming.html"""
_MIME_LINE = re.compile(r"--\S*|(?:MIME-Version|Content-[\w-]+):.*|\s*#.*|\s*")


def _read_launch_template(template: Resource, draft: Draft, cluster: Draft) -> None:
    """Read the data of a launch template into a compute environment."""
    data = template.at("LaunchTemplateData")
    _read_interfaces(data.at("NetworkInterfaces"), draft)
    _read_capacity(data, draft, cluster)
    _read_volumes(data, draft)
    _read_metadata(data.at("MetadataOptions"))
    text = data.at("UserData")
    if isinstance(text.value, str) and has_only_comments(text.value):
        text.dropped("it has comments only")


def has_only_comments(user_data: str) -> bool:
    """Return whether no line of user data does anything."""
    return all(map(_MIME_LINE.fullmatch, user_data.splitlines()))


def _read_interfaces(interfaces: Reader, draft: Draft) -> None:
    kinds = [each.at("InterfaceType") for each in interfaces.items()]
    with_efa = [each for each in kinds if each.value in ("efa", "efa-only")]
    for kind in with_efa:
        kind.claim("taken over", "all EFA interfaces of the type", ours=(*draft.at, "efa_enabled"))
    if with_efa:
        draft.put("efa_enabled", value=True)
    for interface in interfaces.items():
        public = interface.at("AssociatePublicIpAddress")
        if str(public.flag).lower() == "true":
            public.unsupported(
                "nodes launch in private subnets, without public addresses",
                rule="A10" if with_efa else "",
            )


def _read_capacity(data: Reader, draft: Draft, cluster: Draft) -> None:
    specification = data.at("CapacityReservationSpecification")
    target = specification.at("CapacityReservationTarget")
    market = data.at("InstanceMarketOptions", "MarketType")
    by_id = target.at("CapacityReservationId")
    by_group = target.at("CapacityReservationResourceGroupArn")
    is_block = market.value == "capacity-block"
    by_id = by_id if by_id.value != "" else Reader(None, by_id.location, by_id.report)
    if market.value == "spot":
        draft.take("purchase_option", market)
        target.claim("dropped", "Spot Instances do not launch into reservations", rule="C15")
        return
    if not (by_id.exists or by_group.exists or is_block):
        return
    kind = "capacity-block" if is_block else "odcr" if by_id.exists else "odcr-group"
    source = by_group if kind == "odcr-group" else by_id
    name = _reservation(kind, source, cluster)
    reservation = cluster.section("reservations").section(name)
    reservation.put("kind", kind)
    if kind != "odcr-group":
        if not is_known(source):
            claim_unknown(source, (*reservation.at, "reservation_id"))
            reservation.needs("reservation_id", id_for("cr"))
        reservation.take_id("reservation_id", source, "cr")
        by_group.claim("dropped", "a launch targets an id or a group, not both", rule="C8")
    elif is_known(source):
        reservation.take("group_arn", source)
    else:
        claim_unknown(source, (*reservation.at, "group_arn"))
        reservation.needs(
            "group_arn", "arn:aws:resource-groups:us-east-1:111122223333:group/reservations"
        )
    draft.put("purchase_option", name)
    claim_market(market, ours=(*reservation.at, "kind"))


def _reservation(kind: str, source: Reader, cluster: Draft) -> str:
    """Return the name of a reservation, the same for the same value."""
    named = {"capacity-block": "block", "odcr": "reservation", "odcr-group": "group"}[kind]
    listed = cluster.values.get("reservations", {})
    for name, each in listed.items():
        known = each.get("reservation_id", each.get("group_arn"))
        if each["kind"] == kind and (known == source.value or not is_known(source)):
            return str(name)
    number = sum(name.startswith(named) for name in listed) + 1
    return named if number == 1 else f"{named}-{number}"


def _read_volumes(data: Reader, draft: Draft) -> None:
    """Read the volumes in the data of a launch template: the root volume, and others."""
    for mapping in data.at("BlockDeviceMappings").items():
        _read_volume(mapping, draft)


def _read_volume(mapping: Reader, draft: Draft) -> None:
    device, volume = mapping.at("DeviceName"), mapping.at("Ebs")
    if device.value not in _ROOTS:
        mapping.unsupported(
            f"a node has its root volume and local disks: set `root_volume` if {device.value} is "
            "the root device of your AMI, or `storage` for shared data; the ECS-optimized AMIs "
            f"have {_ROOTS[0]}, and Ubuntu {_ROOTS[1]}"
        )
        return
    root = draft.section("root_volume", mapping)
    device.implied("it is the root device of the AMI")
    size = volume.at("VolumeSize")
    gib = whole(size)
    if gib is not None and gib < MINIMUM_ROOT_VOLUME_GIB and not draft.has("custom_ami_id"):
        root.better(
            "size_gib",
            size,
            MINIMUM_ROOT_VOLUME_GIB,
            "the ECS-optimized AMIs need more",
            rule="E16",
        )
    else:
        _take_whole(root, "size_gib", size)
    kind = volume.at("VolumeType")
    if kind.value in (None, "gp3"):
        kind.implied("root volumes are gp3")
        _take_whole(root, "iops", volume.at("Iops"))
        _take_whole(root, "throughput_mibps", volume.at("Throughput"))
    for source in (kind, volume.at("Iops"), volume.at("Throughput")):
        source.claim("taken over better", "root volumes are gp3: faster and cheaper than others")
    encrypted = volume.at("Encrypted")
    if str(encrypted.flag).lower() != "true":
        encrypted.claim("taken over better", "root volumes are encrypted", rule="E16")
    encrypted.implied("root volumes are encrypted")
    ends = volume.at("DeleteOnTermination")
    if str(ends.flag).lower() == "true":
        ends.implied("the root volume is deleted with the node")
    ends.unsupported("keep data in `storage`: the root volume is deleted with the node")
    volume.at("KmsKeyId").unsupported(
        "volumes are encrypted with the default EBS key of the account"
    )
    if not root.values:
        del draft.values["root_volume"]


def _take_whole(draft: Draft, key: str, source: Reader) -> None:
    if whole(source) is not None:
        draft.take(key, source, change=lambda _: whole(source))
    else:
        claim_unknown(source, (*draft.at, key))


def _read_metadata(options: Reader) -> None:
    tokens = options.at("HttpTokens")
    if tokens.value == "optional":
        tokens.claim("taken over better", "every node requires IMDSv2", rule="E15")


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
    _read_image(resources, data, instance_type, draft)
    if launch is not None:
        _read_launch_template(launch, draft, cluster)
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
    _read_placement(groups, template, draft)
    _read_strategy(resources)
    _read_subnets(resources.at("Subnets"), template, with_efa=draft.has("efa_enabled"))
    _read_state(environment.at())
    profile = template.named_by(resources.at("InstanceRole"))
    if profile is not None:
        resources.at("InstanceRole").implied("the stack creates the role, with its policies")
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


def _read_placement(named: Sequence[Reader], template: Template, draft: Draft) -> None:
    """Read the placement group of a compute environment, which is named in one of some places."""
    for source in (each for each in named if each.exists):
        placement = draft.section("placement", source)
        if placement.has("group"):
            source.dropped("the compute environment has a placement group already")
        elif (made := _group_made(source, template, draft)) is not None:
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


def _read_strategy(resources: Reader) -> None:
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


def _read_state(environment: Reader) -> None:
    """Report what becomes of the state and the kind of a compute environment that differ."""
    kind, state = environment.at("Type"), environment.at("State")
    if str(kind.value).upper() == "UNMANAGED":
        kind.unsupported("environments of a stack are managed by Batch")
    if str(state.value).upper() == "DISABLED":
        state.unsupported(
            "environments of a stack are enabled: nodes launch only when jobs are submitted"
        )


_ONE_ENVIRONMENT = (
    "a queue of a stack has one compute environment: jobs do not go on to another one, so submit "
    "them to the queue of the environment that has capacity"
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
        several = len([*queue.at("ComputeEnvironmentOrder").items()]) > 1
        for entry in queue.at("ComputeEnvironmentOrder").items():
            if several:
                entry.at("Order").unsupported(_ONE_ENVIRONMENT)
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
        queue.at("Priority").unsupported("set `queue_priority` of the compute environment")
        if str(queue.at("State").value).upper() == "DISABLED":
            queue.at("State").unsupported("queues of a stack are enabled")
