"""Fixed names of objects that a stack creates, and their present owners."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.account import (
    in_batch,
    in_slurm,
    judged,
    refused,
)
from tests.support.batch import P4D
from tests.support.eks import changed, config
from tests.support.parallelcluster import raw_p4de
from tests.support.stack_files import raw_config
from trainyard.components.named.facts import OwnerFacts
from trainyard.components.named.made_names import group_names
from trainyard.components.tagging import CLUSTER_TAG, RESOURCE_TAG

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


@pytest.mark.parametrize(
    "found", [None, owner("p5-cb", "p5-cb"), owner("p5-cb", "before"), owner("", "p5-cb")]
)
def test_a_name_that_is_free_or_of_this_stack_is_accepted(with_cluster, found):
    """An interrupted `up` continues with the objects that it has created."""
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
    assert f"{RESOURCE_TAG}=p5-cb::trainyard" in problem.remedy


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


def test_a_repository_of_somebody_else_can_be_adopted():
    raw = raw_config(P4D, architecture__repository={})
    taken = {("ecr-repository", raw["name"]): owner()}
    remedy = refused(in_batch(raw, taken))["architecture.repository.name"].remedy
    assert "'trainyard:cluster.architecture.repository.adopt' true" in remedy


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (owner(), ""),
        (owner("batch-p4d", "batch-p4d"), ""),
        (owner("prod", "other"), "another stack"),
        (None, "do not have an ECR repository of this name to adopt"),
    ],
)
def test_a_repository_is_adopted_if_it_exists_and_no_other_stack_has_it(found, words):
    raw = raw_config(P4D, architecture__repository={"adopt": True})
    taken = {("adopted-ecr-repository", raw["name"]): found}
    problem = refused(in_batch(raw, taken)).get("architecture.repository.name")
    assert words in problem.problem if words else problem is None


def test_a_reservation_group_that_the_stack_makes_has_a_fixed_name(facts):
    raw = changed()
    member = raw["reservations"]["block"]["reservation_id"]
    raw["reservations"]["block"] = {"kind": "odcr-group", "members": [member]}
    known = replace(facts, named={("resource-group", "reservations-p5-cb-block"): owner()})
    assert "reservations.block.members" in refused(judged(raw, known))


NAME = raw_p4de()["name"]
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
    found = in_slurm(raw_p4de(), {OUTER: outer, INNER: inner})
    assert ("name" not in refused(found)) == accepted


@pytest.mark.parametrize(
    ("found", "accepted"),
    [(None, True), (owner(), True), (owner("p5-cb", "p5-cb"), True), (owner("prod"), False)],
)
def test_a_log_group_without_a_stack_is_taken(facts, found, accepted):
    """EKS has created it if the control plane had logs before.

    https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html
    """
    known = replace(facts, named={("log-group", "/aws/eks/p5-cb/cluster"): found})
    raw = changed(architecture__log_types=["api"])
    assert ("name" not in refused(judged(raw, known))) == accepted


def test_an_existing_reservation_group_has_no_name_of_the_stack():
    arn = "arn:aws:resource-groups:us-west-2:123456789012:group/training"
    raw = changed(reservations__block={"kind": "odcr-group", "group_arn": arn})
    assert list(group_names(config(raw))) == []
