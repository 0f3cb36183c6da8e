"""The log group of a control plane: a new one, and one that exists and is adopted."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.eks.test_cluster import ARGS
from tests.support.account import judged, refused
from tests.support.eks import STACK_FILE, changed, cluster_facts
from tests.support.eks_account import NOW
from trainyard.components.architectures.prepare import prepare
from trainyard.components.eks.cluster import EksCluster
from trainyard.components.eks.plan import LogGroupPlan
from trainyard.components.named.facts import LogGroupFacts
from trainyard.components.tagging import CLUSTER_TAG

NAME = "/aws/eks/p5-cb/cluster"
CLUSTER = cluster_facts()


def group(retention_days=0, *, age_days=1, **tags):
    return LogGroupFacts(
        arn="arn:aws:any",
        tags=tags,
        retention_days=retention_days,
        created_at=NOW - timedelta(days=age_days),
    )


@pytest.fixture
def prepared(configure, facts):
    """Return the plan and the warnings of a stack with audit logs, in an account with a group."""

    def _prepared(found=None, *, cluster=None, **settings):
        known = replace(facts, cluster=cluster, named={("log-group", NAME): found})
        config = configure(architecture__log_types=["audit"], **settings)
        ready = prepare(config, known, stack_file=STACK_FILE, region="us-west-2", now=NOW)
        told = [each for each in ready.warnings if NAME in each]
        return ready.plan.log_group, told

    return _prepared


def test_a_stack_without_logs_has_no_log_group(configure, facts):
    ready = prepare(configure(), facts, stack_file=STACK_FILE, region="us-west-2", now=NOW)
    assert ready.plan.log_group is None


@pytest.mark.parametrize(
    ("found", "days", "adopted"),
    [
        pytest.param(None, 90, False, id="new"),
        pytest.param(group(30, **{CLUSTER_TAG: "p5-cb"}), 90, False, id="of-the-stack"),
        pytest.param(group(30, age_days=400), 30, True, id="shorter"),
        pytest.param(group(1827, age_days=400), 1827, True, id="longer"),
        pytest.param(group(age_days=89), 90, True, id="forever-and-young"),
        pytest.param(group(age_days=91), 0, True, id="forever-and-old"),
    ],
)
def test_no_logs_are_deleted_unless_the_stack_file_says_so(prepared, found, days, adopted):
    planned, _ = prepared(found)
    assert planned == LogGroupPlan(name=NAME, retention_days=days, adopted=adopted)


@pytest.mark.parametrize("found", [None, group(1827), group(age_days=400)])
def test_the_retention_of_the_stack_file_counts(prepared, found):
    planned, _ = prepared(found, architecture__log_retention_days=7)
    assert planned.retention_days == 7


def test_the_logs_of_an_earlier_cluster_are_announced(prepared):
    _, (told,) = prepared(group())
    assert "logs of an earlier cluster" in told
    assert "`destroy` deletes them" in told
    assert prepared(group(), cluster=CLUSTER)[1] == []
    assert prepared()[1] == []


def test_logs_that_are_kept_forever_are_announced_until_the_stack_file_wants_it(prepared):
    old = group(age_days=400)
    _, (told,) = prepared(old, cluster=CLUSTER)
    assert "set `trainyard:cluster.architecture.log_retention_days`" in told
    assert prepared(old, cluster=CLUSTER, architecture__log_retention_days=0)[1] == []


def test_a_log_group_of_another_stack_is_refused(facts):
    taken = replace(facts, named={("log-group", NAME): group(**{CLUSTER_TAG: "prod"})})
    raw = changed(architecture__log_types=["audit"])
    problem = refused(judged(raw, taken))["name"]
    assert "a log group of this name is part of another stack" in problem.problem
    mine = replace(facts, named={("log-group", NAME): group(**{CLUSTER_TAG: "p5-cb"})})
    assert refused(judged(raw, mine)) == {}


@pytest.mark.parametrize("adopted", [False, True])
def test_the_log_group_comes_before_the_cluster_and_goes_after_it(deploy, adopted):
    planned = LogGroupPlan(name=NAME, retention_days=90, adopted=adopted)
    args = replace(ARGS, log_types=("audit",), log_group=planned)
    cloud = deploy(lambda: EksCluster("p5-cb", args))
    made, cluster = cloud.one(NAME), cloud.one("p5-cb-eks")
    assert made.urn in cluster.dependencies
    assert cluster.inputs["enabledClusterLogTypes"] == ["audit"]
    assert made.inputs == {"name": NAME, "retentionInDays": 90, "tags": {"team": "vision"}}
    assert made.import_id == (NAME if adopted else "")
    assert set(made.ignore_changes) == ({"tags", "kmsKeyId", "logGroupClass"} if adopted else set())
