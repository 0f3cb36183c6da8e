"""What an AWS Batch stack reads from the account and checks there."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from typing_extensions import override

from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.launch_place import placed
from trainyard.components.account.lookup import AccountReader
from trainyard.components.account.readings import Reading
from trainyard.components.account.reservations import unseen_reservation_warnings
from trainyard.components.batch.address_capacity import REMEDY, TAKERS, addresses_by_subnet
from trainyard.components.batch.closed_environment_check import (
    closed_environment_warnings,
    look_up_disabled_environments,
)
from trainyard.components.batch.default_group_check import (
    DEFAULT_GROUP,
    default_group_problems,
    look_up_default_group,
)
from trainyard.components.batch.egress_check import IMAGES_OF_JOBS, egress_problems
from trainyard.components.batch.image_check import image_problems, image_warnings
from trainyard.components.batch.job_definition_plan import PINNED_IMAGES
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.batch.quota_needs import BATCH_QUOTAS, batch_needs
from trainyard.components.batch.repository_plan import plan_repository
from trainyard.components.checks.account_part import AccountPart
from trainyard.components.checks.check import Check
from trainyard.components.checks.image_subjects import image_subjects
from trainyard.components.checks.key_pair_check import key_pair_subjects, pool_key_problems
from trainyard.components.checks.made_name_check import (
    ADOPTED_REPOSITORY,
    JOB_DEFINITION,
    JOB_QUEUE,
    REPOSITORY,
    group_names,
)
from trainyard.components.checks.needs import ArchitectureNeeds, NodeNeeds, ServiceRole
from trainyard.components.checks.pool_check import ADDRESSES, address_problems
from trainyard.components.checks.quota_needs import Need
from trainyard.components.checks.used_image import UPDATE_PROGRAM, UsedImage
from trainyard.components.config.batch import BatchArchitecture
from trainyard.components.config.batch_stack import BatchStackConfig
from trainyard.components.config.named import Named
from trainyard.components.config.network import ExistingVpc
from trainyard.components.config.problems import ROOT
from trainyard.components.config.reservations import CapacityBlock


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
    def checks(
        self, config: BatchStackConfig, facts: AccountFacts, *, stack_file: str, now: datetime
    ) -> Iterator[Check]:
        """Yield the checks of a completed configuration."""
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
    def plan_checks(
        self, plan: BatchPlan, facts: AccountFacts, *, stack_file: str
    ) -> Iterator[Check]:
        """Yield the checks of a plan."""
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
    def warnings(
        self, config: BatchStackConfig, plan: BatchPlan, facts: AccountFacts
    ) -> Iterator[str]:
        """Yield warnings to show before any change."""
        yield from image_warnings(config.architecture, facts)
        yield from unseen_reservation_warnings(config, facts)
        yield from closed_environment_warnings(plan, facts)


def _job_queues(config: BatchStackConfig) -> Iterator[Named]:
    """Yield the names of the job queues that the stack creates."""
    for name in config.architecture.environments_with_queues():
        key = f"architecture.compute_environments.{name}"
        yield Named(JOB_QUEUE, f"{config.name}-{name}", key)
