"""The reservation that a stack creates is the target of the nodes of every scheduler."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pulumi
import pytest
import yaml

from tests.support import batch, parallelcluster
from tests.support.eks import P5, eks_plan
from tests.support.pools import CREATED_ODCR
from trainyard.components.batch.resources import BatchArchitecture
from trainyard.components.eks.resources import EksArchitecture
from trainyard.components.parallelcluster.resources import ParallelClusterArchitecture

RESERVATION = "aws:ec2/capacityReservation:CapacityReservation"
CAPACITY = replace(CREATED_ODCR, purchase_option="training")
BATCH = batch.plan(
    compute_environments=(
        batch.efa_environment("p4d", "p4d.24xlarge", capacity=CAPACITY),
        batch.efa_environment("more", "p4d.24xlarge", capacity=CAPACITY),
    ),
    job_definitions=(),
)
SLURM = parallelcluster.plan(
    queues=(
        parallelcluster.queue(
            "compute",
            parallelcluster.compute_resource(capacity=CAPACITY),
            capacity=CAPACITY,
        ),
    ),
)


def deployed(deploy, component: Any, plan: Any):
    def program() -> None:
        architecture = component(plan.name, plan)
        for name, value in architecture.outputs().items():
            pulumi.export(name, value)
        measured = {each.name: made for each, made in architecture.monitored().items()}
        pulumi.export("measured", measured["training"])

    cloud = deploy(program)
    (reservation,) = cloud.of_type(RESERVATION)
    assert reservation.inputs["instancePlatform"] == "Linux/UNIX"
    identifier = f"{reservation.name}-id"
    assert cloud.exports["measured"] == identifier
    return cloud, identifier


def targets(cloud) -> set[str]:
    specifications = (
        made.inputs.get("capacityReservationSpecification")
        for made in cloud.of_type("aws:ec2/launchTemplate:LaunchTemplate")
    )
    return {
        each["capacityReservationTarget"]["capacityReservationId"]
        for each in specifications
        if each
    }


@pytest.mark.parametrize("management", ["self-managed", "managed"])
def test_an_eks_node_group_launches_into_it(deploy, management: Any) -> None:
    group = replace(P5, capacity=CAPACITY, management=management)
    cloud, identifier = deployed(deploy, EksArchitecture, eks_plan(group))
    assert targets(cloud) == {identifier}


def test_compute_environments_of_one_entry_share_it(deploy) -> None:
    cloud, identifier = deployed(deploy, BatchArchitecture, BATCH)
    assert targets(cloud) == {identifier}


def test_a_slurm_queue_names_it_in_the_cluster_configuration(deploy) -> None:
    cloud, identifier = deployed(deploy, ParallelClusterArchitecture, SLURM)
    config = yaml.safe_load(cloud.exports["cluster_config"])
    target = config["Scheduling"]["SlurmQueues"][0]["CapacityReservationTarget"]
    assert target == {"CapacityReservationId": identifier}
