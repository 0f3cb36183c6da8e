"""Plans and checks of compute environments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from typing_extensions import override

from trainyard.components.capacity.placement_review import reviewed_placement
from trainyard.components.capacity.plan import SchedulePlan
from trainyard.components.capacity.pool_review import (
    note_unlisted_zone,
    purchase_options,
    review_efa_support,
    review_instance_type,
    review_purchase_option,
    review_usage_class,
)
from trainyard.components.capacity.schedule import minutes_before_end, plan_schedule
from trainyard.components.catalog.batch import (
    MINIMUM_ROOT_VOLUME_GIB,
    MOST_ENVIRONMENTS_OF_QUEUE,
    MOST_VCPUS,
    ImageType,
    image_parameter,
    image_type,
)
from trainyard.components.catalog.instance_types import INSTANCE_TYPES, InstanceType, Manufacturer
from trainyard.components.compute.interface_plan import InterfacePlan, plan_pool_interfaces
from trainyard.components.compute.node_pool_plan import (
    ImageSource,
    NodePoolPlan,
    RootVolumePlan,
    plan_root_volume,
)
from trainyard.components.config.batch import BatchStackConfig, ComputeEnvironment
from trainyard.components.config.node_pool import NodeSizes
from trainyard.components.config.problems import Review
from trainyard.components.config.reservations import CapacityBlock, Reservation
from trainyard.components.monitoring.node_agent import agent_access, agent_script, measured_on
from trainyard.components.naming import managed_policy_arns
from trainyard.components.network.pool_place import (
    PlanContext,
    PoolPlace,
    review_missing_zone,
    review_pool_subnet,
    review_pool_zone,
)

Context = PlanContext[BatchStackConfig]
INTERFACES_OF_JOBS = 1
"""Slots of card 0 that a container of a multi-node parallel job needs for its own interface.

https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeEnvironmentPlan(NodePoolPlan):
    """A compute environment, the launch template of its nodes and its job queue."""

    config: ComputeEnvironment
    """The compute environment in the stack file. Its resources read from it the options that need
    no plan."""
    schedule: SchedulePlan
    """When a Capacity Block opens and closes it: `scale_up_at` and `scale_down_at`."""
    minimum_vcpus: int
    maximum_vcpus: int
    image_type: ImageType | None
    """`Ec2Configuration.imageType`; None with a custom AMI."""
    allocation_strategy: Literal["BEST_FIT_PROGRESSIVE", "SPOT_PRICE_CAPACITY_OPTIMIZED"]
    """Batch supports in-place updates with these strategies, but not with `BEST_FIT`."""
    root_volume: RootVolumePlan
    local_nvme: Literal["raid0", "none"]
    iam_policies: tuple[str, ...]
    """ARNs of AWS managed policies of the node role, in addition to that of ECS."""
    agent_script: str | None = None
    """Shell script that configures the CloudWatch agent; None for nodes without it."""

    @property
    def is_open(self) -> bool:
        """Whether jobs start in it now; those of a closed one wait in the queue."""
        return self.schedule.state in ("unlimited", "active")

    @property
    def has_queue(self) -> bool:
        """Whether it has a job queue; the nodes of further blocks use that of the first one."""
        return self.pool == self.name

    @property
    @override
    def key(self) -> str:
        """Key in the stack file."""
        return f"architecture.compute_environments.{self.pool}"

    @property
    @override
    def image(self) -> ImageSource:
        """The ECS-optimized AMI, or the one in the stack file."""
        if self.config.custom_ami_id is None and self.image_type is not None:
            architecture = self.instance_type.architecture
            return ImageSource(parameter=image_parameter(self.image_type, architecture))
        return ImageSource(image_id=self.config.custom_ami_id)

    @property
    @override
    def image_key(self) -> str:
        """Key that decides on the AMI."""
        return f"{self.key}.{'image' if self.config.custom_ami_id is None else 'custom_ami_id'}"

    @override
    def driver_remedy(self, driver: Manufacturer) -> str:
        """Return what to do if the AMI lacks a driver."""
        if image_type(self.instance_type) is not None:
            return "remove custom_ami_id and `image: custom`, so that Batch selects the AMI"
        if driver == "neuron":
            return (
                "give the id of an image with the driver, such as that of the SSM parameter "
                "/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/recommended/image_id"
            )
        return "give the id of an image with the ECS agent and the driver"

    @property
    @override
    def nodes(self) -> int:
        """Nodes that run without jobs."""
        return self.minimum_vcpus // self.instance_type.vcpus

    @property
    @override
    def most_nodes(self) -> int:
        """Nodes that jobs can launch."""
        return self.maximum_vcpus // self.instance_type.vcpus


def plan_compute_environment(
    name: str, environment: ComputeEnvironment, context: Context, review: Review
) -> ComputeEnvironmentPlan | None:
    """Return the plan of a compute environment, or None if problems make a plan impossible.

    This function records only a placement that contradicts the capacity.
    `trainyard.components.batch.compute_environment_plan` records all other problems.
    """
    reservations = context.config.reservations
    instance_type = INSTANCE_TYPES.get(environment.instance_type)
    if instance_type is None or environment.purchase_option not in purchase_options(reservations):
        return None
    place = context.place(f"architecture.compute_environments.{name}")
    reservation = reservations.get(environment.purchase_option)
    placement = reviewed_placement(
        place.key, environment, instance_type, reservation, review, one_zone=place.one_zone
    )
    if placement is None:
        return None
    spot = environment.purchase_option == "spot"
    interfaces = plan_pool_interfaces(
        environment, instance_type, spare_on_card_zero=INTERFACES_OF_JOBS
    )
    script = _agent_script(instance_type, interfaces, context)
    access = agent_access(context.config) if script else None
    policies = (*environment.iam_policies, *((access.policy,) if access else ()))
    schedule = environment_schedule(environment, reservation, context)
    return ComputeEnvironmentPlan(
        name=name,
        config=environment,
        instance_type=instance_type,
        capacity=context.capacity(environment.purchase_option, place),
        placement=placement,
        interfaces=interfaces,
        subnets=place.subnets,
        schedule=schedule,
        minimum_vcpus=schedule.minimum * instance_type.vcpus,
        maximum_vcpus=environment.maximum * instance_type.vcpus,
        image_type=None if environment.image == "custom" else image_type(instance_type),
        allocation_strategy="SPOT_PRICE_CAPACITY_OPTIMIZED" if spot else "BEST_FIT_PROGRESSIVE",
        root_volume=plan_root_volume(environment.root_volume),
        local_nvme=environment.local_nvme if instance_type.local_nvme_disks else "none",
        iam_policies=managed_policy_arns(policies, context.region),
        agent_script=script,
        ssh_key_name=environment.ssh_key_name,
    )


def _agent_script(
    instance_type: InstanceType, interfaces: InterfacePlan | None, context: Context
) -> str | None:
    measured = measured_on(instance_type, efa=interfaces is not None)
    if measured is None or context.config.node_metrics is None:
        return None
    return agent_script(context.config, measured)


def environment_schedule(
    environment: ComputeEnvironment, reservation: Reservation | None, context: Context
) -> SchedulePlan:
    """Return when jobs start, and the minimum number of nodes: none outside of a Capacity Block.

    Batch has no scheduled scaling. It launches nodes whenever there are jobs, as long as the
    compute environment is enabled.
    """
    least = min(environment.minimum, environment.maximum)
    sizes = NodeSizes(minimum=least, desired=least, maximum=environment.maximum)
    return plan_schedule(sizes, reservation, context.now, instance_type=environment.instance_type)


# Checks of a compute environment beyond its schema.
#
# Nothing here queries the account; `trainyard.components.account` does.


def review_compute_environment(
    name: str, environment: ComputeEnvironment, context: Context, review: Review
) -> None:
    """Record problems of a compute environment in the stack file."""
    place = context.place(f"architecture.compute_environments.{name}")
    key, reservations = place.key, context.config.reservations
    found = review_instance_type(review, key, environment.instance_type)
    review_purchase_option(review, key, environment.purchase_option, reservations)
    if found is not None:
        review_usage_class(review, key, environment.purchase_option, reservations, found)
        if environment.efa_enabled and review_efa_support(review, key, found):
            review_missing_zone(place, environment.purchase_option, found, context, review)
        note_unlisted_zone(review, place.name, place.zone, found)
        _review_drivers(key, environment, found, review)
        _review_most_vcpus(key, environment, found, review)
    review_pool_zone(place, context.region, review, what="this compute environment")
    review_pool_subnet(place, context.config.network, review)
    _review_sizes(key, environment, review)
    _review_blocks(key, environment, review)
    _review_image(key, environment, review)
    _note_block(place, environment, context, review)


def _review_sizes(key: str, environment: ComputeEnvironment, review: Review) -> None:
    if environment.minimum <= environment.maximum:
        return
    review.refuse(
        f"{key}.minimum",
        (
            f"is more than `maximum`, {environment.maximum}; Batch rejects a minvCpus greater than "
            "maxvCpus"
        ),
        found=environment.minimum,
        allowed=f"0 to {environment.maximum}",
        remedy=review.set_command(f"{key}.minimum", str(environment.maximum)),
        rules=("G4", "E9"),
    )


def _review_blocks(key: str, environment: ComputeEnvironment, review: Review) -> None:
    most = MOST_ENVIRONMENTS_OF_QUEUE - 1
    if len(environment.further_blocks) > most:
        review.refuse(
            f"{key}.further_blocks",
            (
                "has more blocks than a job queue can use: Batch attaches at most "
                f"{MOST_ENVIRONMENTS_OF_QUEUE} compute environments to a queue"
            ),
            found=", ".join(environment.further_blocks),
            allowed=f"at most {most}",
            remedy="remove those that are over",
        )


def _review_most_vcpus(
    key: str, environment: ComputeEnvironment, found: InstanceType, review: Review
) -> None:
    most = MOST_VCPUS // found.vcpus
    if environment.maximum > most:
        review.refuse(
            f"{key}.maximum",
            (
                f"is more nodes than the maxvCpus of Batch allows: {found.name} has {found.vcpus} "
                "vCPUs"
            ),
            found=environment.maximum,
            allowed=f"at most {most}",
            remedy=review.set_command(f"{key}.maximum", "1000"),
            rules=("G4",),
        )


def _review_image(key: str, environment: ComputeEnvironment, review: Review) -> None:
    custom = environment.image == "custom"
    if custom and environment.custom_ami_id is None:
        review.refuse(
            f"{key}.custom_ami_id",
            "is missing, and `image` is custom",
            allowed="an AMI with the ECS agent and the drivers of the instance type",
            remedy=review.set_command(f"{key}.custom_ami_id", "ami-…"),
            rules=("E16",),
        )
    if not custom and environment.custom_ami_id is not None:
        review.refuse(
            f"{key}.image",
            "is auto, but `custom_ami_id` is set; Batch would use a different AMI",
            found=environment.image,
            allowed="custom, or no `custom_ami_id`",
            remedy=review.set_command(f"{key}.image", "custom"),
            rules=("E16",),
        )
    size = environment.root_volume.size_gib
    if not custom and size < MINIMUM_ROOT_VOLUME_GIB:
        review.refuse(
            f"{key}.root_volume.size_gib",
            "is less than the ECS-optimized AMIs need; no node would launch",
            found=size,
            allowed=f"{MINIMUM_ROOT_VOLUME_GIB} or more",
            remedy=review.set_command(f"{key}.root_volume.size_gib", str(MINIMUM_ROOT_VOLUME_GIB)),
            rules=("E16",),
        )


def _review_drivers(
    key: str, environment: ComputeEnvironment, found: InstanceType, review: Review
) -> None:
    if environment.image == "custom" or image_type(found) is not None:
        return
    ami = review.set_command(f"{key}.custom_ami_id", "ami-…")
    nvidia = found.accelerators is not None and found.accelerators.manufacturer == "nvidia"
    driver = "NVIDIA" if nvidia else "Neuron"
    review.refuse(
        f"{key}.image",
        f"is auto, but Batch has no {found.architecture} AMI with the {driver} driver that "
        f"{found.name} needs",
        found=environment.image,
        allowed=(
            "custom, with `custom_ami_id`: an image with the ECS agent and the driver, such as the "
            "ECS-optimized Neuron AMI of the region, which "
            "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/"
            "retrieve-ecs-optimized_AMI.html explains how to find"
        ),
        remedy=f"{review.set_command(f'{key}.image', 'custom')}; {ami}",
        rules=("E5",),
    )


def _note_block(
    place: PoolPlace, environment: ComputeEnvironment, context: Context, review: Review
) -> None:
    """Note when nodes of a Capacity Block start and stop.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-using.html
    """
    block = place.reservations.get(environment.purchase_option)
    if not isinstance(block, CapacityBlock):
        return
    state = environment_schedule(environment, block, context).state
    if state == "scheduled" and block.starts_at is not None:
        later = (
            f"; for the {environment.minimum} nodes of `minimum` run `up` again then"
            if environment.minimum
            else ""
        )
        review.note(
            f"{place.name}: the Capacity Block starts at {block.starts_at:%Y-%m-%d %H:%M} UTC; "
            f"jobs wait in the queue until the compute environment opens then{later}"
        )
    if state != "unlimited" and block.ends_at is not None:
        leave, terminated = minutes_before_end(environment.instance_type)
        review.note(
            f"{place.name}: the Capacity Block ends at {block.ends_at:%Y-%m-%d %H:%M} UTC; the "
            f"compute environment closes {leave} earlier for jobs that have not started, which "
            f"wait in the queue for the next block. EC2 begins to terminate its nodes {terminated} "
            "before the end, with the jobs on them"
        )


# User data of Batch nodes, as a MIME multipart archive, which Batch requires.
#
# Batch adds a part with the cluster of the ECS agent. Any other format makes the compute
# environment INVALID.
#
# Sources:
#     https://docs.aws.amazon.com/batch/latest/userguide/launch-templates.html, "Amazon EC2 user
#     data in launch templates"
#     https://cloudinit.readthedocs.io/en/latest/explanation/format.html#mime-multi-part-archive


SCRATCH = "/scratch"
"""Mount point of the instance store, on the node and in the containers of its jobs."""

# On Amazon Linux 2023 the ECS agent starts after the last stage of cloud-init, which runs shell
# scripts, so the disks are ready before any job. The AMI has no mdadm; the AL2023 repository is in
# S3 of the region and reachable through a gateway endpoint.
# https://docs.aws.amazon.com/linux/al2023/ug/ec2.html
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/raid-config.html
# https://docs.aws.amazon.com/ebs/latest/userguide/nvme-ebs-volumes.html: the model distinguishes
# instance store disks from EBS volumes, the device name does not.
# https://github.com/aws/amazon-ecs-ami, al2023.pkr.hcl: contents of the AMI.
_RAID0 = f"""\
#!/bin/bash
set -euo pipefail
model='Amazon EC2 NVMe Instance Storage'
mapfile -t disks < <(lsblk --nodeps --noheadings --paths --output NAME,MODEL \\
  | awk -v model="$model" 'index($0, model) {{ print $1 }}')
mkdir -p {SCRATCH}
if (( ${{#disks[@]}} == 0 )); then
  echo "no instance store disks: {SCRATCH} is on the root volume" >&2
elif (( ${{#disks[@]}} == 1 )); then
  mkfs.xfs -f "${{disks[0]}}"
  mount -o noatime "${{disks[0]}}" {SCRATCH}
else
  command -v mdadm >/dev/null || dnf install -y --setopt=retries=10 mdadm
  mdadm --create /dev/md/scratch --level=0 --name=scratch --run --homehost=any \\
    --raid-devices="${{#disks[@]}}" "${{disks[@]}}"
  mkfs.xfs -f /dev/md/scratch
  mount -o noatime /dev/md/scratch {SCRATCH}
fi
chmod 1777 {SCRATCH}
"""

# A container of a multi-node parallel job has its own interface (`awsvpc`), from which the metadata
# service, with the credentials of the node, is one hop away, as from the node. Such a container
# does not need it: the job credentials come from the ECS agent at another address. The agent reads
# its configuration when it starts, after cloud-init.
# https://github.com/aws/amazon-ecs-agent, README.md: ECS_AWSVPC_BLOCK_IMDS, false by default
# https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ec2-security-considerations.html
_AGENT = """\
#!/bin/bash
echo ECS_AWSVPC_BLOCK_IMDS=true >> /etc/ecs/ecs.config
"""

# The repository of Amazon Linux 2023 has the agent. If this fails, the node runs jobs without it.
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/install-CloudWatch-Agent-on-EC2-Instance-fleet.html
_METRICS = """\
#!/bin/bash
set -euo pipefail
test -x /opt/aws/amazon-cloudwatch-agent/bin/amazon-cloudwatch-agent-ctl \\
  || dnf install -y --setopt=retries=10 amazon-cloudwatch-agent
"""

_BOUNDARY = "trainyard-node"


def render_user_data(
    local_nvme: Literal["raid0", "none"], *, agent_script: str | None = None
) -> str:
    """Return the user data of a node as plain text.

    Args:
        local_nvme: What to do with the instance store disks.
        agent_script: Shell script that configures the CloudWatch agent, which is installed before.

    The ECS agent blocks the instance metadata service for containers of multi-node parallel jobs.
    With `raid0`, all instance store disks form one file system at `SCRATCH`. Stopping an instance
    would lose its data, but Batch only terminates instances.
    """
    raid0 = [("x-shellscript", _RAID0)] if local_nvme == "raid0" else []
    metrics = [("x-shellscript", _METRICS + agent_script)] if agent_script else []
    return multipart([("x-shellscript", _AGENT), *raid0, *metrics])


def multipart(parts: Sequence[tuple[str, str]]) -> str:
    """Return a MIME multipart archive of (text, MIME subtype) parts.

    Raises:
        ValueError: a text contains the boundary line.
    """
    lines = ["MIME-Version: 1.0", f'Content-Type: multipart/mixed; boundary="{_BOUNDARY}"', ""]
    for subtype, text in parts:
        if f"--{_BOUNDARY}" in text:
            raise ValueError(f"user data must not contain `--{_BOUNDARY}`")
        lines += [f"--{_BOUNDARY}", f'Content-Type: text/{subtype}; charset="us-ascii"', "", text]
    return "\n".join([*lines, f"--{_BOUNDARY}--", ""])
