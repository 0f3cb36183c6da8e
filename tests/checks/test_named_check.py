"""Objects that a stack file names, judged before anything is registered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.account.facts import ClusterFacts
from components.account.named_facts import (
    AccessPointFacts,
    BucketFacts,
    ContainerImageFacts,
    FunctionFacts,
    KmsKeyFacts,
    ObjectFacts,
    OwnerFacts,
    PlacementGroupFacts,
    PolicyFacts,
)
from components.architectures.plan_stack import plan_stack
from components.architectures.prepare import examine
from components.config.load import load_stack_config
from components.config.problems import ROOT
from components.parallelcluster.plan import ParallelClusterPlan
from components.parallelcluster.rendering.cluster import render_cluster
from components.preflight.account_rows import account_rows
from components.tagging import CLUSTER_TAG, RESOURCE_TAG
from tests.account.conftest import NOW
from tests.support.batch_plans import P4D, raw_config
from tests.support.parallelcluster_accounts import account, odcr
from tests.support.parallelcluster_configs import RESERVATION, raw_p4de
from tests.support.stack_files import changed, p5, with_odcr

KEY = "arn:aws:kms:us-west-2:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
POLICIES = "architecture.node_groups.p5.iam_policies"
SCRIPT = "s3://scripts/setup.sh"
ON_CONFIGURED = "architecture.head_node.custom_actions.on_node_configured[0].script"


def judged(raw, facts, *, stack_file="Pulumi.p5-cb.yaml"):
    config = load_stack_config(raw, stack_file=stack_file)
    return examine(config, facts, stack_file=stack_file, region="us-west-2", now=NOW)


def refused(found, *kinds):
    """Return the problems of the checks of named objects, by key."""
    wanted = {"names", *kinds}
    return {
        problem.path.removeprefix(f"{ROOT}."): problem
        for check in found.checks
        if check.name in wanted
        for problem in check.problems
    }


def slurm(**changes):
    return raw_p4de(**changes)


# --- IAM policies


@pytest.fixture
def with_policy(facts):
    def _with(found, name="AmazonS3ReadOnlyAccess"):
        named = {("iam-policy", name): found}
        return judged(p5(iam_policies=[name]), replace(facts, named=named))

    return _with


def test_a_policy_at_its_path_is_accepted(with_policy):
    found = PolicyFacts(name="AmazonS3ReadOnlyAccess", attachable=True)
    assert refused(with_policy(found), "IAM policies") == {}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (None, "no managed policy of this name"),
        (PolicyFacts(name="service-role/X", attachable=True), "service-role/X"),
        (PolicyFacts(name="AmazonS3ReadOnlyAccess", attachable=False), "does not attach"),
    ],
)
def test_a_policy_that_no_role_can_have_is_refused(with_policy, found, said):
    problem = refused(with_policy(found), "IAM policies")[f"{POLICIES}[0]"]
    assert said in problem.problem


def test_objects_that_were_not_read_are_not_judged(facts):
    raw = p5(iam_policies=["AmazonS3ReadOnlyAccess"])
    assert refused(judged(raw, facts), "IAM policies") == {}


def test_a_denied_call_is_a_skipped_row(facts):
    reason = "iam:GetPolicy: AccessDenied"
    denied = replace(facts, unreadable=(reason,))
    found = judged(p5(iam_policies=["AmazonS3ReadOnlyAccess"]), denied)
    (row,) = [row for row in account_rows(denied, found.checks) if row.subject == POLICIES]
    assert (row.verdict, row.found) == ("skipped", reason)


def test_policies_of_one_role_are_one_row(facts):
    names = ["A", "B"]
    policies = {("iam-policy", name): PolicyFacts(name=name, attachable=True) for name in names}
    known = replace(facts, named=policies)
    found = judged(p5(iam_policies=names), known)
    (row,) = [row for row in account_rows(known, found.checks) if row.subject == POLICIES]
    assert (row.verdict, row.found) == ("ok", "A, B")


# --- KMS keys

SECRETS = "architecture.secrets_key_arn"


def key(**changes):
    fields = {"state": "Enabled", "usage": "ENCRYPT_DECRYPT", "spec": "SYMMETRIC_DEFAULT"}
    return KmsKeyFacts(**(fields | changes))


@pytest.fixture
def with_key(facts):
    def _with(found, **changes):
        known = replace(facts, named={("kms-key", KEY): found}, **changes)
        return judged(changed(architecture__secrets_key_arn=KEY), known)

    return _with


@pytest.mark.parametrize("state", ["Enabled", "Updating"])
def test_a_key_that_encrypts_is_accepted(with_key, state):
    assert refused(with_key(key(state=state)), "KMS keys") == {}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (None, "does not exist"),
        (key(state="Disabled"), "encrypts nothing"),
        (key(state="PendingDeletion"), "encrypts nothing"),
        (key(state="PendingImport"), "encrypts nothing"),
        (key(state="Unavailable"), "encrypts nothing"),
        (key(state="PendingReplicaDeletion"), "encrypts nothing"),
        (key(usage="SIGN_VERIFY", spec="ECC_NIST_P256"), "symmetric"),
        (key(spec="RSA_4096"), "symmetric"),
    ],
)
def test_a_key_that_encrypts_nothing_is_refused(with_key, found, said):
    assert said in refused(with_key(found), "KMS keys")[SECRETS].problem


def test_a_disabled_key_can_be_enabled(with_key):
    remedy = refused(with_key(key(state="Disabled")), "KMS keys")[SECRETS].remedy
    assert f"aws kms enable-key --key-id {KEY}" in remedy


def test_the_key_of_an_existing_cluster_is_a_warning(with_key):
    cluster = ClusterFacts(
        name="p5-cb",
        status="ACTIVE",
        kubernetes_version="1.36",
        authentication_mode="API_AND_CONFIG_MAP",
        secrets_key_arn=KEY,
    )
    found = with_key(key(state="Disabled"), cluster=cluster)
    assert refused(found, "KMS keys") == {}
    assert any(SECRETS in warning for warning in found.warnings)


# --- Placement groups

GROUP = {"kind": "odcr", "placement_group": "mine"}
RESERVED = "reservations.block.placement_group"


@pytest.fixture
def with_group(facts):
    def _with(found):
        known = replace(facts, named={("placement-group", "mine"): found})
        return judged(with_odcr(GROUP), known)

    return _with


def test_a_cluster_placement_group_is_accepted(with_group):
    """B3."""
    found = PlacementGroupFacts(state="available", strategy="cluster")
    assert RESERVED not in refused(with_group(found), "placement groups")


@pytest.mark.parametrize(
    "found",
    [
        None,
        PlacementGroupFacts(state="deleting", strategy="cluster"),
        PlacementGroupFacts(state="available", strategy="spread"),
        PlacementGroupFacts(state="available", strategy="partition"),
    ],
)
def test_another_placement_group_is_refused(with_group, found):
    """B3."""
    assert RESERVED in refused(with_group(found), "placement groups")


@pytest.mark.parametrize(("letter", "accepted"), [("b", True), ("a", False)])
def test_one_group_serves_one_zone(facts, letter, accepted):
    raw = p5(
        purchase_option="on-demand",
        availability_zone="us-west-2b",
        placement={"group": "existing", "name": "mine"},
    )
    raw["architecture"]["node_groups"]["other"] = {
        **raw["architecture"]["node_groups"]["p5"],
        "availability_zone": f"us-west-2{letter}",
    }
    known = replace(facts, offered_zone_ids={})
    found = refused(judged(raw, known), "placement groups")
    assert (found == {}) == accepted


# --- S3


def repository(**changes):
    directory = {"file_system_path": "/data", "s3_path": "s3://data", **changes}
    fsx = {
        "kind": "fsx-lustre",
        "mount_directory": "/fsx",
        "per_unit_storage_throughput": 250,
        "data_repositories": [directory],
    }
    return slurm(storage={"fsx": fsx})


def in_slurm(raw, named, **changes):
    facts = account(named=named, **changes)
    return judged(raw, facts, stack_file="Pulumi.pc-p4de.yaml")


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
    found = in_slurm(slurm(storage={"fsx": fsx}), elsewhere)
    assert ("storage.fsx.import_path" not in refused(found, "data repositories")) == accepted


def test_a_bucket_that_nodes_may_read_and_that_does_not_exist_is_a_warning():
    raw = slurm(architecture__head_node__s3_access=[{"bucket": "gone"}])
    found = in_slurm(raw, {("s3-bucket", "gone"): None})
    assert refused(found, "buckets") == {}
    assert any("gone does not exist" in warning for warning in found.warnings)
    exists = in_slurm(raw, {("s3-bucket", "gone"): BucketFacts(region="us-east-1")})
    assert not any("does not exist" in warning for warning in exists.warnings)


def with_script():
    actions = {"on_node_configured": [{"script": SCRIPT}]}
    return slurm(architecture__head_node__custom_actions=actions)


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


# --- EFS, Lambda, ECR


@pytest.mark.parametrize(
    ("found", "accepted"),
    [
        (AccessPointFacts(file_system_id="fs-0ef50000000000001", state="available"), True),
        (AccessPointFacts(file_system_id="fs-0ef50000000000001", state="deleting"), False),
        (AccessPointFacts(file_system_id="fs-0ef50000000000002", state="available"), False),
        (None, False),
    ],
)
def test_an_access_point_is_of_the_file_system_and_available(found, accepted):
    home = {
        "kind": "existing-efs",
        "mount_directory": "/efs",
        "file_system_id": "fs-0ef50000000000001",
        "access_point_id": "fsap-0ef50000000000001",
        "encryption_in_transit": True,
    }
    judgement = in_slurm(
        slurm(storage={"home": home}), {("access-point", "fsap-0ef50000000000001"): found}
    )
    at = "storage.home.access_point_id"
    assert (at not in refused(judgement, "access points")) == accepted


TOKEN = "arn:aws:lambda:us-west-2:123456789012:function:pcluster-provider"


@pytest.mark.parametrize(
    ("found", "accepted"),
    [(FunctionFacts(state="Active"), True), (FunctionFacts(state="Failed"), False), (None, False)],
)
def test_the_provider_of_parallelcluster_must_answer(found, accepted):
    raw = slurm(architecture__deployment={"provider_service_token": TOKEN})
    judgement = in_slurm(raw, {("lambda-function", TOKEN): found})
    at = "architecture.deployment.provider_service_token"
    assert (at not in refused(judgement, "provider")) == accepted


def in_batch(raw, named):
    facts = account(
        named=named,
        reservations={RESERVATION: odcr(instance_type="p4d.24xlarge", instance_count=2)},
        offered_zone_ids={"p4d.24xlarge": frozenset({"usw2-az1", "usw2-az2"})},
        images={},
    )
    return judged(raw, facts, stack_file="Pulumi.batch-p4d.yaml")


@pytest.mark.parametrize(("found", "told"), [(None, True), (ContainerImageFacts(digest=""), False)])
def test_an_image_that_is_not_pushed_yet_is_a_warning(found, told):
    image = "123456789012.dkr.ecr.us-west-2.amazonaws.com/training:1.0"
    own = {"compute_environment": "p4d", "image": image, "command": ["true"]}
    raw = raw_config(P4D, architecture__job_definitions={"own": own})
    judgement = in_batch(raw, {("container-image", image): found})
    assert refused(judgement, "container images") == {}
    assert any("CannotPullContainerError" in each for each in judgement.warnings) == told


# --- Names that the stack takes

ARN = "arn:aws:any"


def owner(stack="", cluster=""):
    tags = {RESOURCE_TAG: f"{stack}::trainyard::type::name"} if stack else {}
    return OwnerFacts(arn=ARN, tags=tags | ({CLUSTER_TAG: cluster} if cluster else {}))


@pytest.fixture
def with_cluster(facts):
    def _with(found, stack_file="Pulumi.p5-cb.yaml"):
        known = replace(facts, named={("eks-cluster", "p5-cb"): found})
        return refused(judged(changed(), known, stack_file=stack_file))

    return _with


@pytest.mark.parametrize("found", [None, owner("p5-cb", "p5-cb"), owner("", "p5-cb")])
def test_a_name_that_is_free_or_of_this_stack_is_accepted(with_cluster, found):
    """An interrupted `up` continues with what it has made."""
    assert with_cluster(found) == {}


def test_a_name_of_another_stack_is_refused_with_its_name(with_cluster):
    problem = with_cluster(owner("prod", "p5-cb"))["name"]
    assert "another stack of this program, prod" in problem.problem
    assert "set `name`" in problem.remedy
    assert "with the name other" in with_cluster(owner("", "other"))["name"].problem


def test_the_stack_of_a_file_elsewhere_is_unknown_and_its_name_alone_counts(with_cluster):
    assert with_cluster(owner("prod", "p5-cb"), stack_file="/tmp/mine.yaml") == {}


def test_a_name_of_somebody_else_is_refused_with_the_way_to_rename_and_to_import(with_cluster):
    problem = with_cluster(owner())["name"]
    assert "no stack of this program created" in problem.problem
    assert "set `name` to another name" in problem.remedy
    assert f"--resource-arn-list {ARN} --tags {CLUSTER_TAG}=p5-cb" in problem.remedy


@pytest.mark.parametrize(
    ("kind", "suffix", "at"),
    [
        ("job-queue", "-p4d", "architecture.compute_environments.p4d"),
        ("job-definition", "-nccl-multi", "architecture.job_definitions.nccl-multi"),
        ("ecr-repository", "", "architecture.repository.name"),
    ],
)
def test_the_names_of_batch_are_those_of_its_resources(kind, suffix, at):
    raw = raw_config(P4D, architecture__repository={})
    taken = {(kind, f"{raw['name']}{suffix}"): owner()}
    assert list(refused(in_batch(raw, taken))) == [at]


def test_a_reservation_group_that_the_stack_makes_has_a_fixed_name(facts):
    raw = changed()
    member = raw["reservations"]["block"]["reservation_id"]
    raw["reservations"]["block"] = {"kind": "odcr-group", "members": [member]}
    known = replace(facts, named={("resource-group", "reservations-p5-cb-block"): owner()})
    assert "reservations.block.members" in refused(judged(raw, known))


NAME = slurm()["name"]
OUTER, INNER = ("cloudformation-stack", f"{NAME}-deployment"), ("slurm-cluster", NAME)


@pytest.mark.parametrize(
    ("outer", "inner", "accepted"),
    [
        (None, None, True),
        (owner("pc-p4de", NAME), owner("", NAME), True),
        (None, owner("", NAME), False),
        (None, owner(), False),
        (owner(), None, False),
    ],
)
def test_a_cluster_without_the_stack_that_deploys_it_keeps_its_name(outer, inner, accepted):
    found = in_slurm(slurm(), {OUTER: outer, INNER: inner})
    assert ("name" not in refused(found)) == accepted
