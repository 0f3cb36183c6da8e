"""CloudFormation converts numbers and booleans to strings; ParallelCluster must read the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.support import parallelcluster as plans
from tests.support import pools, stack_files
from tests.support.parallelcluster import (
    compute_resource,
    p4de_plan,
    plan,
    queue,
    trn1_plan,
)
from tests.support.parallelcluster_validators import read
from tools.parallelcluster.process import ParallelClusterError
from trainyard.components.catalog.instance_types import instance_type
from trainyard.components.config.node_pool import RootVolume
from trainyard.components.config.parallelcluster import Monitoring, S3Access, Slurm
from trainyard.components.parallelcluster.node_scripts import NodeAccess, ScriptPlan
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.components.parallelcluster.references import resolve
from trainyard.components.parallelcluster.rendering import render_cluster

pytestmark = pytest.mark.parallelcluster

GROUP = "arn:aws:resource-groups:us-west-2:123456789012:group/reservations"
EFS = plans.SharedStoragePlan(
    name="efs",
    mount_directory="/efs",
    type="Efs",
    settings={
        "Encrypted": True,
        "ThroughputMode": "provisioned",
        "ProvisionedThroughput": 1024,
        "DeletionPolicy": "Delete",
    },
    retained=False,
)
WORDS = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=8)


def resolved(made: ParallelClusterPlan) -> dict[str, Any]:
    names = {"reservation-group": GROUP, "key-pair": "imported"}
    return resolve(
        render_cluster(made), lambda reference: names.get(reference.kind, reference.name)
    )


def as_cloudformation_hands_it_over(value: Any) -> Any:
    """Return a document with strings instead of numbers and booleans.

    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/crpg-ref-requests.html
    """
    if isinstance(value, dict):
        return {key: as_cloudformation_hands_it_over(each) for key, each in value.items()}
    if isinstance(value, list):
        return [as_cloudformation_hands_it_over(each) for each in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


root_volumes = st.builds(
    RootVolume,
    size_gib=st.integers(35, 16384),
    iops=st.integers(3000, 16000),
    throughput_mibps=st.integers(125, 750),
)
accesses = st.builds(
    NodeAccess,
    s3_access=st.lists(
        st.builds(S3Access, bucket=st.just("training-scripts"), write=st.booleans()), max_size=1
    ).map(tuple),
    on_node_start=st.lists(
        st.builds(
            ScriptPlan,
            url=st.just("https://example.com/a.sh"),
            arguments=st.lists(WORDS, max_size=2).map(tuple),
        ),
        max_size=2,
    ).map(tuple),
)
resources = st.builds(
    compute_resource,
    minimum=st.integers(0, 4),
    maximum=st.integers(4, 1000),
    efa_enabled=st.booleans(),
    instance_type=st.sampled_from(["p4de.24xlarge", "trn1.32xlarge"]).map(instance_type),
    capacity=st.sampled_from([pools.ON_DEMAND, plans.ODCR, pools.ODCR_GROUP]),
    placement=st.sampled_from([pools.NO_PLACEMENT, pools.MANAGED_PLACEMENT, plans.NAMED_PLACEMENT]),
    simultaneous_multithreading=st.booleans(),
    schedulable_memory_mib=st.none() | st.integers(1000, 1_000_000),
    slurm_settings=st.dictionaries(st.just("Weight"), st.integers(1, 9).map(str)),
)
queues = st.builds(
    lambda made, **changes: queue(
        "compute", *(replace(each, name=f"r{n}") for n, each in enumerate(made)), **changes
    ),
    st.lists(resources, min_size=1, max_size=3),
    subnets=st.sampled_from(
        [(stack_files.PRIVATE_A,), (stack_files.PRIVATE_A, stack_files.PRIVATE_B)]
    ),
    root_volume=root_volumes,
    exclusive_jobs=st.booleans(),
    gpu_health_check=st.booleans(),
    access=accesses,
    slurm_settings=st.dictionaries(st.just("MaxTime"), st.just("60")),
)
clusters = st.builds(
    plan,
    tags=st.dictionaries(WORDS, st.sampled_from(["true", "1", "0x1", "vision", "1.5", "null"])),
    queues=queues.map(lambda made: (made,)),
    slurm=st.builds(
        Slurm,
        idle_minutes=st.integers(-1, 600),
        memory_based_scheduling=st.booleans(),
        settings=st.dictionaries(st.just("JobCompType"), st.just("jobcomp/filetxt")),
    ),
    monitoring=st.builds(
        Monitoring,
        detailed=st.booleans(),
        logs=st.booleans(),
        log_retention_days=st.sampled_from([1, 30, 3653]),
        keep_logs=st.booleans(),
        dashboard=st.booleans(),
        alarms=st.booleans(),
    ),
    shared_storage=st.sampled_from([(), (plans.FSX,), (plans.APPS, EFS), (plans.FSX, EFS)]),
)


def assert_alike(documents: list[dict[str, Any]]) -> None:
    """Read each document twice, unchanged and as strings, all in one process."""
    texts = [as_cloudformation_hands_it_over(document) for document in documents]
    answers = read([*documents, *texts])
    assert answers[: len(documents)] == answers[len(documents) :]
    assert all(answer["Scheduling"]["SlurmQueues"] for answer in answers)


def test_the_stacks_read_alike() -> None:
    """PC-01 to PC-18: ParallelCluster reads them identically behind CloudFormation."""
    assert_alike([resolved(make()) for make in (plan, p4de_plan, trn1_plan)])


# One process for many examples: it takes seconds to start.
@settings(max_examples=2, phases=[Phase.explicit, Phase.generate])
@given(st.lists(clusters, min_size=30, max_size=30))
def test_every_cluster_reads_alike(made: list[ParallelClusterPlan]) -> None:
    assert_alike([resolved(each) for each in made])


def test_numbers_come_back_as_numbers() -> None:
    """The comparison would also succeed if nothing were read."""
    (answer,) = read([as_cloudformation_hands_it_over(resolved(p4de_plan()))])
    (partition,) = answer["Scheduling"]["SlurmQueues"]
    (nodes,) = partition["ComputeResources"]
    assert (nodes["MinCount"], nodes["Efa"]["Enabled"]) == (4, True)
    assert partition["Networking"]["PlacementGroup"]["Enabled"] is False


def test_what_the_schema_refuses_is_an_error_here_too() -> None:
    with pytest.raises(ParallelClusterError, match="Nonsense"):
        read([{**resolved(plan()), "Nonsense": 1}])
