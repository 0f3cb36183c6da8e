"""Buckets and scripts that a stack file names."""

from __future__ import annotations

import pytest

from tests.support.account import in_slurm, refused
from tests.support.eks_account import NOW
from tests.support.parallelcluster import raw_p4de
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.config.load import load_stack_config
from trainyard.components.named.facts import BucketFacts, ObjectFacts
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.components.parallelcluster.rendering import render_cluster

SCRIPT = "s3://scripts/setup.sh"
ON_CONFIGURED = "architecture.head_node.custom_actions.on_node_configured[0].script"


def repository(**changes):
    directory = {"file_system_path": "/data", "s3_path": "s3://data", **changes}
    fsx = {
        "kind": "fsx-lustre",
        "mount_directory": "/fsx",
        "per_unit_storage_throughput": 250,
        "data_repositories": [directory],
    }
    return raw_p4de(storage={"fsx": fsx})


PATH = "storage.fsx.data_repositories[0].s3_path"
EXPORTS = {"import_events": [], "export_events": ["NEW"]}


@pytest.mark.parametrize(
    ("changes", "found", "accepted"),
    [
        ({}, BucketFacts(region="us-west-2"), True),
        ({}, BucketFacts(region=""), True),
        ({}, BucketFacts(region="us-east-1"), False),
        (EXPORTS, BucketFacts(region="us-east-1"), True),
        ({}, None, False),
    ],
)
def test_changes_are_imported_only_from_a_bucket_of_the_region(changes, found, accepted):
    judgement = in_slurm(repository(**changes), {("s3-path", "s3://data"): found})
    assert (PATH not in refused(judgement, "data repositories")) == accepted


@pytest.mark.parametrize(("auto_import", "accepted"), [("NONE", True), ("NEW", False)])
def test_an_import_path_needs_the_region_only_for_later_changes(auto_import, accepted):
    fsx = {
        "kind": "fsx-lustre",
        "mount_directory": "/fsx",
        "deployment_type": "SCRATCH_2",
        "import_path": "s3://data",
        "auto_import": auto_import,
    }
    elsewhere = {("s3-path", "s3://data"): BucketFacts(region="us-east-1")}
    found = in_slurm(raw_p4de(storage={"fsx": fsx}), elsewhere)
    assert ("storage.fsx.import_path" not in refused(found, "data repositories")) == accepted


def test_a_bucket_that_nodes_may_read_and_that_does_not_exist_is_a_warning():
    raw = raw_p4de(architecture__head_node__s3_access=[{"bucket": "gone"}])
    found = in_slurm(raw, {("s3-bucket", "gone"): None})
    assert refused(found, "buckets") == {}
    assert any("gone does not exist" in warning for warning in found.warnings)
    exists = in_slurm(raw, {("s3-bucket", "gone"): BucketFacts(region="us-east-1")})
    assert not any("does not exist" in warning for warning in exists.warnings)


def with_script():
    actions = {"on_node_configured": [{"script": SCRIPT}]}
    return raw_p4de(architecture__head_node__custom_actions=actions)


@pytest.mark.parametrize(
    ("found", "accepted"),
    [(ObjectFacts(size_bytes=1), True), (ObjectFacts(size_bytes=0), False), (None, False)],
)
def test_a_script_is_an_object_with_content(found, accepted):
    judgement = in_slurm(with_script(), {("script", SCRIPT): found})
    assert (ON_CONFIGURED not in refused(judgement, "scripts")) == accepted


def test_the_missing_script_of_an_existing_cluster_is_a_warning():
    fits = plan_stack(
        load_stack_config(with_script(), stack_file="Pulumi.pc-p4de.yaml"),
        stack_file="Pulumi.pc-p4de.yaml",
        region="us-west-2",
        now=NOW,
    )
    assert isinstance(fits, ParallelClusterPlan)
    deployed = render_cluster(fits)
    found = in_slurm(with_script(), {("script", SCRIPT): None}, deployed_cluster=deployed)
    assert refused(found, "scripts") == {}
    assert any(SCRIPT in warning for warning in found.warnings)
