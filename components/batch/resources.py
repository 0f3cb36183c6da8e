"""The AWS Batch architecture: compute environments, job queues and job definitions.

The plan decides which resources exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pulumi

from trainyard.components.batch.compute_environment import (
    BatchComputeEnvironment,
    BatchComputeEnvironmentArgs,
)
from trainyard.components.batch.compute_environment_plan import ComputeEnvironmentPlan
from trainyard.components.batch.container_repository import (
    ContainerRepository,
    ContainerRepositoryArgs,
)
from trainyard.components.batch.job_definition import BatchJobDefinition, BatchJobDefinitionArgs
from trainyard.components.batch.plan import BatchPlan, JobDefinitionPlan
from trainyard.components.capacity.plan import LINUX
from trainyard.components.compute.reservations import accept_shares, make_reservations
from trainyard.components.monitoring.plan import Subject
from trainyard.components.network.cluster_network import ClusterNetwork
from trainyard.components.network.efa_security_group import EfaSecurityGroup, EfaSecurityGroupArgs


class BatchArchitecture(pulumi.ComponentResource):
    """Compute environments, job queues and job definitions of a `BatchPlan`.

    Explicit dependencies ensure the order that AWS needs: resource shares are accepted before their
    reservations join a group. Reservation groups and routes exist before a compute environment,
    whose nodes can start immediately.

    Children: `<name>-nodes` (`EfaSecurityGroup`), `<name>-<environment>`
    (`BatchComputeEnvironment`) and `<name>-<job>` (`BatchJobDefinition`) for each, `<name>-images`
    (`ContainerRepository`, if planned), `<name>-network` (`Vpc`, if new),
    `<name>-<reservation>-share` (`aws.ram.ResourceShareAccepter`) and `<name>-<reservation>`
    (`CapacityReservation` or `ReservationGroup`) for reservations that need them.
    """

    def __init__(
        self, name: str, plan: BatchPlan, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trainyard:architectures:BatchArchitecture", name, {}, opts)
        self._name, self._plan = name, plan
        self._child = pulumi.ResourceOptions(parent=self)

        self._network = ClusterNetwork(
            f"{name}-network", plan.network, tags=plan.tags, opts=self._child
        )
        # Without EFA, the nodes of a job reach each other over TCP through the same security group.
        self._nodes = EfaSecurityGroup(
            f"{name}-nodes",
            EfaSecurityGroupArgs(vpc_id=self._network.vpc_id, tags=plan.tags),
            self._child,
        )
        shares = accept_shares(name, plan.resource_shares, parent=self)
        self._reservations = make_reservations(
            name, plan, platform=LINUX, opts=self._child, after=shares
        )
        before = [*self._network.ready, self._nodes, *shares]
        self._environments: dict[str, BatchComputeEnvironment] = {}
        # Queues name the environments of further blocks.
        for environment in sorted(plan.compute_environments, key=lambda each: each.has_queue):
            made = self._make_environment(environment, before)
            self._environments[environment.name] = made
        self._repository = self._make_repository()
        self._definitions = {
            definition.name: self._make_definition(definition)
            for definition in plan.job_definitions
        }
        self.register_outputs({})

    def outputs(self) -> dict[str, pulumi.Input[object]]:
        """Return the stack outputs, by name."""
        plan = self._plan
        return {
            "compute_environments": {
                environment.name: self._describe(environment)
                for environment in plan.compute_environments
            },
            "job_definitions": {
                definition.name: self._describe_job(definition)
                for definition in plan.job_definitions
            },
            "repository_url": self._repository.url if self._repository else None,
            "vpc_id": self._network.vpc_id,
            "private_subnet_ids": [
                self._network.subnet_id(subnet) for subnet in plan.network.private_names
            ],
            "security_group_ids": {"nodes": self._nodes.security_group_id},
            "notes": list(plan.notes),
        }

    def monitored(self) -> Mapping[Subject, pulumi.Input[str]]:
        """Return the names and ids of what the metrics of the stack measure."""
        clusters = {name: made.ecs_cluster_name for name, made in self._environments.items()}
        return {
            **Subject.each("ecs-cluster", clusters),
            **Subject.each("reservation", self._reservations.ids),
        }

    def _make_environment(
        self,
        environment: ComputeEnvironmentPlan,
        before: Sequence[pulumi.Resource],
    ) -> BatchComputeEnvironment:
        capacity = environment.capacity
        args = BatchComputeEnvironmentArgs(
            plan=environment,
            region=self._plan.region,
            subnet_ids=[self._network.subnet_id(subnet) for subnet in environment.subnets],
            security_group_id=self._nodes.security_group_id,
            reservation_id=self._reservations.ids.get(capacity.purchase_option),
            reservation_group_arn=(
                capacity.reservation_group_arn
                or self._reservations.group_arns.get(capacity.purchase_option)
            ),
            next_environments=(
                [
                    self._environments[each.name].arn
                    for each in self._plan.compute_environments
                    if each.pool == environment.name and not each.has_queue
                ]
                if environment.has_queue
                else None
            ),
            launch_after=before,
            tags=self._plan.tags,
        )
        return BatchComputeEnvironment(f"{self._name}-{environment.name}", args, self._child)

    def _make_repository(self) -> ContainerRepository | None:
        plan = self._plan
        if plan.repository is None:
            return None
        args = ContainerRepositoryArgs(plan=plan.repository, tags=plan.tags)
        return ContainerRepository(f"{self._name}-images", args, self._child)

    def _make_definition(self, definition: JobDefinitionPlan) -> BatchJobDefinition:
        plan = self._plan
        environments = {each.name: each for each in plan.compute_environments}
        args = BatchJobDefinitionArgs(
            plan=definition,
            image=self._image(definition),
            scratch=environments[definition.compute_environment].local_nvme == "raid0",
            region=plan.region,
            tags=plan.tags,
        )
        return BatchJobDefinition(f"{self._name}-{definition.name}", args, self._child)

    def _image(self, definition: JobDefinitionPlan) -> pulumi.Input[str]:
        if definition.container.image is not None:
            return definition.container.image
        if self._repository is None:
            raise ValueError(
                f"the image of {definition.name} is in a repository that the plan does not have"
            )
        # Image tags are immutable, so no tag can name the newest image.
        return pulumi.Output.concat(self._repository.url, ":", definition.name)

    def _describe(self, environment: ComputeEnvironmentPlan) -> dict[str, object]:
        made, first = self._environments[environment.name], self._environments[environment.pool]
        return {
            "name": made.environment_name,
            "arn": made.arn,
            "job_queue": first.queue_name,
            "job_queue_arn": first.queue_arn,
            "instance_type": environment.instance_type.name,
            "minimum_vcpus": environment.minimum_vcpus,
            "maximum_vcpus": environment.maximum_vcpus,
        }

    def _describe_job(self, definition: JobDefinitionPlan) -> dict[str, object]:
        return {
            "arn": self._definitions[definition.name].arn,
            "job_queue": self._environments[definition.compute_environment].queue_name,
            "nodes": definition.nodes,
            "image": self._image(definition),
        }
