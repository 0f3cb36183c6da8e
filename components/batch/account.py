"""What an AWS Batch stack reads from the account and checks there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from typing_extensions import override

from trainyard.components.account.check import (
    ArchitectureNeeds,
    Check,
    NodeNeeds,
    ServiceRole,
    Subject,
)
from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.known import Known
from trainyard.components.account.reader import AccountReader, Reading
from trainyard.components.account_part import AccountPart
from trainyard.components.batch.address_capacity import REMEDY, TAKERS, addresses_by_subnet
from trainyard.components.batch.job_definition_plan import PINNED_IMAGES
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.batch.repository_plan import plan_repository
from trainyard.components.capacity.launch_place import placed
from trainyard.components.capacity.reservations import unseen_reservation_warnings
from trainyard.components.catalog.batch import comes_through_endpoints
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.compute.facts import ImageFacts
from trainyard.components.compute.image_drivers import launch_problems
from trainyard.components.compute.image_registry import UPDATE_PROGRAM, UsedImage
from trainyard.components.compute.node_pool_plan import ROOT_DEVICE
from trainyard.components.config.batch import (
    BatchArchitecture,
    BatchStackConfig,
    ComputeEnvironment,
)
from trainyard.components.config.named import Named
from trainyard.components.config.network import ExistingVpc
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.config.reservations import CapacityBlock
from trainyard.components.named.checks import image_subjects, key_pair_subjects, pool_key_problems
from trainyard.components.named.made_names import (
    ADOPTED_REPOSITORY,
    JOB_DEFINITION,
    JOB_QUEUE,
    REPOSITORY,
    group_names,
)
from trainyard.components.network.checks import ADDRESSES, address_problems
from trainyard.components.network.facts import DefaultGroupFacts, IngressFacts
from trainyard.components.network.lookup import security_group_rules
from trainyard.components.quotas.checks import Need
from trainyard.components.storage.checks import Ports, is_open
from trainyard.components.tagging import CLUSTER_TAG

# Warns of a compute environment that stays closed in its Capacity Block.
#
# The schedules of `schedule_environment` open and close it outside of Pulumi, which sends the state
# only if it differs from the last one that it has seen. So an update after the start of a block
# opens no environment that the end of the block before has closed:
# https://github.com/hashicorp/terraform-provider-aws/blob/main/internal/service/batch/compute_environment.go


DESCRIBE = "batch:DescribeComputeEnvironments"


def look_up_disabled_environments(reader: AccountReader, stack: str) -> tuple[str, ...]:
    """Return the names of the disabled compute environments of a stack.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    pages = reader.pages(DESCRIBE, reader.client("batch").describe_compute_environments)
    return tuple(
        each["computeEnvironmentName"]
        for each in environments_of(stack, pages)
        if each["state"] == "DISABLED"
    )


def environments_of(stack: str, pages: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the compute environments of a stack, whose names only the provider knows.

    Args:
        stack: Name of the cluster, which is a tag of its environments.
        pages: Answers of DescribeComputeEnvironments.
    """
    for page in pages:
        for each in page["computeEnvironments"]:
            if (each.get("tags") or {}).get(CLUSTER_TAG) == stack:
                yield each


def closed_environment_warnings(plan: BatchPlan, facts: AccountFacts) -> Iterator[str]:
    """Yield the environments that are closed in an active block, with the commands to open them."""
    for environment in plan.compute_environments:
        if environment.schedule.state != "active":
            continue
        for name in facts.disabled_environments:
            # The provider appends digits to the name that the stack gives.
            if name.rpartition("-")[0] == plan.queue_name(environment.name):
                yield (
                    f"the compute environment {name} is disabled, so that no job starts in the "
                    f"Capacity Block of {environment.key}, which is active. To enable it, run: aws "
                    f"batch update-compute-environment --region {plan.region} "
                    f"--compute-environment {name} --state ENABLED"
                )


# Checks that the containers of multi-node parallel jobs can reach each other.
#
# If the launch template has network interfaces, which EFA needs, the containers use the default
# security group of the VPC (`BatchPlan.jobs_in_default_group`). By default it allows traffic
# between its members, but Security Hub control EC2.2 requires that its rules are removed.
#
# Sources:
#     https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html
#     https://docs.aws.amazon.com/vpc/latest/userguide/default-security-group.html
#     https://docs.aws.amazon.com/securityhub/latest/userguide/ec2-controls.html#ec2-2


DEFAULT_GROUP = Subject(
    "architecture.job_definitions",
    "containers on different nodes can reach each other",
    calls=(
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSecurityGroupRules",
    ),
)
"""What `default_group_problems` checks."""

_EVERY_PORT: Ports = (1, 65535)
"""Open MPI and NCCL use any free TCP port."""


def look_up_default_group(reader: AccountReader, vpc_id: str) -> DefaultGroupFacts | None:
    """Return the default security group of a VPC; None if it cannot be read.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    answer = reader.ask(
        "ec2:DescribeSecurityGroups",
        reader.ec2.describe_security_groups,
        Filters=[
            {"Name": "vpc-id", "Values": [vpc_id]},
            {"Name": "group-name", "Values": ["default"]},
        ],
    )
    for group in (answer or {}).get("SecurityGroups", []):
        rules = security_group_rules(reader, [group["GroupId"]])
        if rules is None:
            return None
        return DefaultGroupFacts(
            group_id=group["GroupId"], lets_in=rules.lets_in, lets_out=rules.lets_out
        )
    return None


def default_group_problems(plan: BatchPlan, facts: AccountFacts) -> Iterator[Problem]:
    """Yield why the nodes of the plan's jobs cannot reach each other."""
    group = facts.default_group
    if group is None or not plan.jobs_in_default_group:
        return
    closed = [
        way
        for way, rules in (("ingress", group.lets_in), ("egress", group.lets_out))
        if not _reaches_members(group.group_id, rules, plan, facts)
    ]
    if closed:
        yield Problem(
            path=f"{ROOT}.network.vpc_id",
            found=f"{plan.network.vpc_id}, whose default security group is {group.group_id}",
            problem=(
                f"containers of the multi-node jobs {', '.join(plan.jobs_in_default_group)} get "
                f"this group, and without {' and '.join(closed)} between its members they never "
                "meet"
            ),
            allowed="all TCP traffic between the members of the group, in and out",
            remedy="; ".join(_command(way, group.group_id) for way in closed),
        )


def _reaches_members(
    group_id: str, rules: Iterable[IngressFacts], plan: BatchPlan, facts: AccountFacts
) -> bool:
    meant = [rule for rule in rules if rule.peer_group_id in (None, group_id)]
    names = {name for each in plan.compute_environments for name in each.subnets}
    networks = [facts.subnets[name].cidr for name in sorted(names) if name in facts.subnets]
    return all(is_open(meant, _EVERY_PORT, network) for network in networks)


def _command(way: str, group_id: str) -> str:
    return (
        f"aws ec2 authorize-security-group-{way} --group-id {group_id} --ip-permissions "
        f"'IpProtocol=-1,UserIdGroupPairs=[{{GroupId={group_id}}}]'"
    )


# Checks that the nodes of a Batch stack can pull the images of its jobs.
#
# Source: https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html: the endpoints
# `ecr.api` and `ecr.dkr` serve private ECR registries, not public.ecr.aws or other registries.


IMAGES_OF_JOBS = Subject(
    "architecture.job_definitions",
    "the nodes can reach the registries of the images",
    calls=("ec2:DescribeRouteTables",),
)
"""What `egress_problems` checks."""


def egress_problems(plan: BatchPlan, facts: AccountFacts) -> Iterator[Problem]:
    """Yield the job definitions whose image nodes without internet access cannot pull."""
    if plan.network.is_new or not facts.could_read("ec2:DescribeRouteTables"):
        return
    subnets = {each.name: each.subnets for each in plan.compute_environments}
    for definition in plan.job_definitions:
        image = definition.container.image
        if image is None or comes_through_endpoints(image, plan.region):
            continue
        closed = [
            subnet
            for subnet in subnets.get(definition.compute_environment, ())
            if subnet in facts.subnets and facts.subnets[subnet].default_route == "none"
        ]
        if closed:
            yield Problem(
                path=f"{ROOT}.architecture.job_definitions.{definition.name}.image",
                found=f"{image}, from {', '.join(closed)} without a default route",
                problem=(
                    f"nodes here can at most reach private ECR registries in {plan.region}, so "
                    "they cannot pull the image and every job fails"
                ),
                allowed=(
                    f"an image in a private registry of ECR in {plan.region}, or a way to the "
                    "internet"
                ),
                remedy=(
                    "route 0.0.0.0/0 of the subnet to a NAT gateway, or push the image into the "
                    "stack's own repository and set image: repository"
                ),
            )


# Checks of the AMIs of the compute environments of a Batch stack.
#
# Source: https://docs.aws.amazon.com/batch/latest/userguide/batch-ami-spec.html


WITHOUT_AGENT = (
    "al2023-ami-2023",
    "al2023-ami-minimal-",
    "amazon-eks-",
    "amzn2-ami-hvm-",
    "amzn2-ami-kernel-",
    "amzn2-ami-minimal-",
    "aws-parallelcluster-",
    "ubuntu/images/",
    "ubuntu-eks/",
)
"""Beginnings of the names of AMIs that AWS and Canonical publish without the ECS agent.

https://docs.aws.amazon.com/linux/al2023/ug/ec2.html
https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-ami.html
https://docs.aws.amazon.com/parallelcluster/latest/ug/pcluster.list-official-images-v3.html
https://documentation.ubuntu.com/aws/aws-how-to/instances/find-ubuntu-images/
"""


def image_problems(architecture: BatchArchitecture, facts: AccountFacts) -> Iterator[Problem]:
    """Yield why nodes would not start from the AMIs in the stack file."""
    if not facts.could_read("ec2:DescribeImages"):
        return
    for name, environment in architecture.compute_environments.items():
        if environment.custom_ami_id is None:
            continue
        path = f"{ROOT}.architecture.compute_environments.{environment.pool_named(name)}"
        found = facts.images.get(environment.custom_ami_id)
        if found is None:
            yield Problem(
                path=f"{path}.custom_ami_id",
                found=environment.custom_ami_id,
                problem=(
                    "this image does not exist in this region, or is not shared with you; Batch "
                    "would make the compute environment INVALID"
                ),
                remedy="set the id of an AMI in this region, or set `image` to auto",
            )
        else:
            yield from _fit_problems(path, environment, found)


def image_warnings(architecture: BatchArchitecture, facts: AccountFacts) -> Iterator[str]:
    """Yield AMIs whose root volume does not get the size in the stack file."""
    for name, environment in architecture.compute_environments.items():
        found = facts.images.get(environment.custom_ami_id or "")
        if found is not None and found.root_device not in ("", ROOT_DEVICE):
            entry = environment.pool_named(name)
            yield (
                f"architecture.compute_environments.{entry}.custom_ami_id: the root device of "
                f"{found.image_id} is {found.root_device}, and root_volume is the volume "
                f"{ROOT_DEVICE}: the nodes get a second volume, and the root volume keeps the "
                f"{found.root_volume_gib} GiB of the image"
            )


def _fit_problems(
    path: str, environment: ComputeEnvironment, found: ImageFacts
) -> Iterator[Problem]:
    known = INSTANCE_TYPES.get(environment.instance_type)
    types = () if known is None else (known,)
    yield from launch_problems(f"{path}.custom_ami_id", found, types)
    if found.from_amazon and found.name.startswith(WITHOUT_AGENT):
        yield Problem(
            path=f"{path}.custom_ami_id",
            found=f"{found.image_id}, {found.name}",
            problem=(
                "this image has no ECS agent, so its nodes never register, and jobs stay RUNNABLE"
            ),
            allowed="an ECS-optimized image, or one made from it",
            remedy="set `image` to auto, or give an image with the ECS agent",
        )
    if environment.root_volume.size_gib < found.root_volume_gib:
        yield Problem(
            path=f"{path}.root_volume.size_gib",
            found=environment.root_volume.size_gib,
            problem=f"the image {found.image_id} needs {found.root_volume_gib} GiB",
            allowed=f"{found.root_volume_gib} or more",
            remedy=f"set it to {found.root_volume_gib} or more",
        )


BATCH_QUOTAS = (
    "compute-environments",
    "job-queues",
    "launch-templates",
    "placement-groups",
    "security-groups",
    "gp3-storage",
    "iam-roles",
    "iam-instance-profiles",
)
"""Quotas that a Batch stack counts towards."""


def batch_needs(plan: BatchPlan) -> Iterator[Need]:
    """Yield the needs of the compute environments, each with its job queue."""
    environments, key = len(plan.compute_environments), "architecture.compute_environments"
    yield Need(quota="compute-environments", key=key, amount=environments)
    yield Need(quota="job-queues", key=key, amount=environments)
    yield Need(quota="security-groups", key="architecture", amount=1)
    yield Need(quota="iam-roles", key="architecture", amount=1 + len(plan.job_definitions))
    yield Need(quota="iam-instance-profiles", key="architecture", amount=1)


class BatchAccount(AccountPart[BatchStackConfig, BatchPlan]):
    """Readings and checks of an AWS Batch stack."""

    needs = ArchitectureNeeds(
        quotas=BATCH_QUOTAS,
        nodes=NodeNeeds(
            dns="the nodes of Batch cannot resolve the ECS endpoints without it",
            registry="ECS",
            endpoints=frozenset(
                {"ecs", "ecs-agent", "ecs-telemetry", "ecr.api", "ecr.dkr", "logs", "s3"}
            ),
            closed=(
                "nodes here cannot register with ECS: the subnet has no default route, and the "
                "VPC lacks an endpoint for at least one of ecs, ecs-agent, ecs-telemetry, "
                "ecr.api, ecr.dkr, logs and s3"
            ),
            endpoint_owner="AWS Batch",
        ),
        zone_users="compute environments and NAT gateways",
        service_roles=(
            ServiceRole("AWSServiceRoleForBatch", "batch.amazonaws.com", "architecture"),
        ),
    )
    """Source: https://docs.aws.amazon.com/batch/latest/userguide/vpc-interface-endpoints.html,
    https://docs.aws.amazon.com/AmazonECS/latest/developerguide/vpc-endpoints.html and
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html."""
    pool_image_remedy = "set `image: custom` and `custom_ami_id` to an AMI of your own"

    @override
    def container_images(self, plan: BatchPlan, *, stack_file: str) -> Iterator[UsedImage]:
        """Yield the images of job definitions that are not in the repository of the stack."""
        del stack_file
        for each in plan.job_definitions:
            if each.container.image is not None:
                key = f"architecture.job_definitions.{each.name}.image"
                pinned = each.container.image in PINNED_IMAGES.values()
                yield UsedImage(
                    image=each.container.image,
                    key=key,
                    user=f"the job definition {each.name}",
                    architectures=frozenset({each.instance_type.architecture}),
                    remedy=f"set `{ROOT}.{key}` to an image that exists, or push it first"
                    + (f"; or {UPDATE_PROGRAM}" if pinned else ""),
                )

    @override
    def is_up(self, config: BatchStackConfig, facts: AccountFacts) -> bool:
        """Whether a job queue of the stack exists."""
        queues = _job_queues(config)
        return any(facts.named.get((each.kind, each.name)) is not None for each in queues)

    @override
    def readings(self, reader: AccountReader, config: BatchStackConfig) -> Iterator[Reading]:
        """Yield the readings of the default security group and of disabled environments."""
        multi_node = any(each.nodes > 1 for each in config.architecture.job_definitions.values())
        if isinstance(config.network, ExistingVpc) and multi_node:
            vpc_id = config.network.vpc_id
            yield lambda: {"default_group": look_up_default_group(reader, vpc_id)}
        if any(isinstance(each, CapacityBlock) for each in config.used_reservations().values()):
            yield lambda: {
                "disabled_environments": look_up_disabled_environments(reader, config.name)
            }

    @override
    def made_names(self, config: BatchStackConfig) -> Iterator[Named]:
        """Yield the names of queues, job definitions, repository and reservation groups."""
        architecture, at = config.architecture, "architecture"
        yield from _job_queues(config)
        for name in architecture.job_definitions:
            definition = f"{config.name}-{name}"
            yield Named(JOB_DEFINITION, definition, f"{at}.job_definitions.{name}")
        repository = plan_repository(config)
        if repository is not None:
            kind = ADOPTED_REPOSITORY if repository.adopt else REPOSITORY
            yield Named(kind, repository.name, f"{at}.repository.name")
        yield from group_names(config)

    @override
    def completed(self, config: BatchStackConfig, facts: AccountFacts) -> BatchArchitecture:
        """Return the architecture with the subnets of compute environments."""
        environments = placed(config.architecture.compute_environments, config, facts)
        return config.architecture.model_copy(update={"compute_environments": environments})

    @override
    def checks(self, known: Known[BatchStackConfig, BatchPlan]) -> Iterator[Check]:
        """Yield the checks of a completed configuration."""
        config, facts = known.config, known.facts
        pools = config.architecture.compute_environments
        keys = pool_key_problems(
            "architecture.compute_environments",
            {pool.pool_named(name): pool.ssh_key_name for name, pool in pools.items()},
            facts,
            remedy="remove ssh_key_name; Session Manager needs none",
        )
        yield Check("key pairs", keys, key_pair_subjects(config, facts))
        images = image_problems(config.architecture, facts)
        yield Check("images", images, image_subjects(config, facts))

    @override
    def plan_checks(self, known: Known[BatchStackConfig, BatchPlan]) -> Iterator[Check]:
        """Yield the checks of a plan."""
        plan, facts = known.plan, known.facts
        rooms = address_problems(
            addresses_by_subnet(plan), plan.network, facts, takers=TAKERS, remedy=REMEDY
        )
        yield Check("addresses", rooms, [ADDRESSES])
        yield Check("images of jobs", egress_problems(plan, facts), [IMAGES_OF_JOBS])
        groups = default_group_problems(plan, facts)
        yield Check("default security group", groups, [DEFAULT_GROUP])

    @override
    def quota_needs(self, plan: BatchPlan) -> Iterator[Need]:
        """Yield what the cluster needs of quotas."""
        yield from batch_needs(plan)

    @override
    def warnings(self, known: Known[BatchStackConfig, BatchPlan]) -> Iterator[str]:
        """Yield warnings to show before any change."""
        config, plan, facts = known.config, known.plan, known.facts
        yield from image_warnings(config.architecture, facts)
        yield from unseen_reservation_warnings(config, facts)
        yield from closed_environment_warnings(plan, facts)


def _job_queues(config: BatchStackConfig) -> Iterator[Named]:
    """Yield the names of the job queues that the stack creates."""
    for name in config.architecture.environments_with_queues():
        key = f"architecture.compute_environments.{name}"
        yield Named(JOB_QUEUE, f"{config.name}-{name}", key)
