"""Access to an existing cluster, and permitted changes of it (EKN-16, PR-25)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.eks import cluster_facts
from tests.support.eks_account import NOW
from trainyard.components.architectures.prepare import prepare
from trainyard.components.config.problems import ConfigError
from trainyard.components.eks.account import (
    authorization_problems,
    authorization_warnings,
    needs_aws_auth,
)
from trainyard.components.eks.facts import ClusterFacts

NODE = "arn:aws:iam::123456789012:role/p5-cb-p5-role-0a1b2c3"
MANAGED = "arn:aws:iam::123456789012:role/p5-cb-system-role-4d5e6f7"
STACK_FILE = "Pulumi.p5-cb.yaml"
SET_MODE = "pulumi config set --stack p5-cb --path 'trainyard:cluster.architecture."
READY = {NODE: "EC2_LINUX", MANAGED: "EC2_LINUX"}
PEOPLE = {
    "mapRoles": "- rolearn: arn:aws:iam::123456789012:role/admins\n  groups: [system:masters]\n"
    f"- rolearn: {MANAGED}\n  groups: [system:nodes]\n",
    "mapUsers": "- userarn: arn:aws:iam::123456789012:user/alice\n",
    "mapAccounts": '["210987654321"]',
}


def cluster(mode: str, **changes: Any) -> ClusterFacts:
    fields: dict[str, Any] = {
        "authentication_mode": mode,
        "node_role_arns": frozenset({MANAGED}),
        "access_entries": {} if mode == "CONFIG_MAP" else {MANAGED: "EC2_LINUX"},
        "aws_auth": None if mode == "API" else {},
    }
    return cluster_facts(**(fields | changes))


@pytest.fixture
def problems(configure, facts):
    """Return the problems of a step, from a cluster to a mode."""

    def _problems(found: ClusterFacts | None, mode: str, how: str = "access-entry", **more: Any):
        config = configure(
            architecture__authentication_mode=mode, architecture__node_authorization=how
        )
        seen = replace(facts, cluster=found, **more)
        return list(authorization_problems(config, seen, stack_file=STACK_FILE))

    return _problems


@pytest.mark.parametrize("mode", ["CONFIG_MAP", "API_AND_CONFIG_MAP", "API"])
def test_a_cluster_that_does_not_exist_begins_in_any_mode(problems, mode):
    assert problems(None, mode) == []


@pytest.mark.parametrize(
    ("found", "wanted", "how"),
    [
        ("CONFIG_MAP", "CONFIG_MAP", "aws-auth"),
        ("CONFIG_MAP", "API_AND_CONFIG_MAP", "aws-auth"),
        ("CONFIG_MAP", "API_AND_CONFIG_MAP", "access-entry"),
        ("API_AND_CONFIG_MAP", "API_AND_CONFIG_MAP", "aws-auth"),
        ("API_AND_CONFIG_MAP", "API_AND_CONFIG_MAP", "access-entry"),
        ("API", "API", "access-entry"),
    ],
)
def test_a_cluster_stays_or_goes_one_step(problems, found, wanted, how):
    assert problems(cluster(found), wanted, how) == []


def test_the_last_step_is_taken_when_every_entry_is_there(problems):
    found = cluster("API_AND_CONFIG_MAP", access_entries=READY)
    assert problems(found, "API") == []


def test_two_steps_at_once_are_refused_with_the_command_of_the_first(problems):
    (problem,) = problems(cluster("CONFIG_MAP"), "API")
    assert "one at a time" in problem.problem
    assert f"{SET_MODE}authentication_mode' API_AND_CONFIG_MAP" in problem.remedy


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        ("API", "API_AND_CONFIG_MAP"),
        ("API", "CONFIG_MAP"),
        ("API_AND_CONFIG_MAP", "CONFIG_MAP"),
    ],
)
def test_the_way_back_is_refused_with_the_reason(problems, found, wanted):
    (problem,) = problems(cluster(found), wanted, "aws-auth")
    assert "never takes access entries away" in problem.problem
    assert f"{SET_MODE}authentication_mode' {found}" in problem.remedy


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param({MANAGED: "EC2_LINUX"}, id="none"),
        pytest.param({MANAGED: "EC2_LINUX", NODE: "STANDARD"}, id="of another type"),
        pytest.param(
            {MANAGED: "EC2_LINUX", NODE.replace("-p5-", "-p4-"): "EC2_LINUX"}, id="another group's"
        ),
    ],
)
def test_the_last_step_is_refused_while_nodes_would_be_locked_out(problems, entries):
    found = cluster("API_AND_CONFIG_MAP", access_entries=entries, aws_auth=PEOPLE)
    (problem,) = problems(found, "API")
    assert "node group p5 has no access entry of type EC2_LINUX" in problem.problem
    assert f"{SET_MODE}node_authorization' access-entry" in problem.remedy
    assert f"{SET_MODE}authentication_mode' API_AND_CONFIG_MAP" in problem.remedy
    for lost in ("role/admins", "user/alice", "210987654321"):
        assert lost in problem.problem


def test_the_last_step_is_refused_while_eks_has_no_entry_for_a_managed_group(problems):
    found = cluster("API_AND_CONFIG_MAP", access_entries={NODE: "EC2_LINUX"})
    (problem,) = problems(found, "API")
    assert MANAGED in problem.problem
    assert f"aws eks create-access-entry --cluster-name p5-cb --principal-arn {MANAGED}" in (
        problem.remedy
    )


def test_the_last_step_is_refused_where_the_entries_cannot_be_read(problems):
    found = cluster("API_AND_CONFIG_MAP", access_entries=READY)
    denied = ("eks:DescribeAccessEntry: AccessDeniedException",)
    (problem,) = problems(found, "API", unreadable=denied)
    assert "cannot be read" in problem.problem
    assert "eks:DescribeAccessEntry" in problem.remedy


@pytest.mark.parametrize("how", ["aws-auth", "access-entry"])
def test_an_aws_auth_that_is_not_yaml_is_refused_before_anything(problems, how):
    found = cluster("API_AND_CONFIG_MAP", aws_auth={"mapRoles": "- rolearn: [broken\n"})
    (problem,) = problems(found, "API_AND_CONFIG_MAP", how)
    assert "`mapRoles` of kube-system/aws-auth is not YAML" in problem.problem
    assert "no role in it has access" in problem.problem
    assert problem.remedy == "kubectl -n kube-system edit configmap aws-auth, and run `up` again"


@pytest.fixture
def warnings(configure, facts):
    """Return the messages about a step to a mode."""

    def _warnings(found: ClusterFacts | None, mode: str) -> list[str]:
        config = configure(
            architecture__authentication_mode=mode,
            architecture__node_authorization="access-entry",
        )
        return list(authorization_warnings(config, replace(facts, cluster=found)))

    return _warnings


def test_the_last_step_lists_who_loses_access(warnings):
    found = cluster("API_AND_CONFIG_MAP", access_entries=READY, aws_auth=PEOPLE)
    (warning,) = warnings(found, "API")
    for lost in ("role/admins (mapRoles: system:masters)", "user/alice", "account 210987654321"):
        assert lost in warning
    assert MANAGED not in warning


@pytest.mark.parametrize("mode", ["API_AND_CONFIG_MAP", "API"])
def test_nobody_is_listed_who_loses_nothing(warnings, mode):
    assert warnings(None, mode) == []
    nobody = cluster("API_AND_CONFIG_MAP", access_entries=READY)
    assert warnings(nobody, mode) == []
    everybody = cluster("API_AND_CONFIG_MAP", access_entries=READY, aws_auth=PEOPLE)
    assert warnings(everybody, "API_AND_CONFIG_MAP") == []


def test_the_cluster_is_asked_only_where_it_matters(configure):
    managed = {"architecture__node_groups__p5__management": "managed"}
    assert needs_aws_auth(configure())
    assert not needs_aws_auth(configure(**managed))
    assert needs_aws_auth(configure(**managed, architecture__authentication_mode="API"))


def test_all_of_it_is_said_before_anything_is_registered(configure, facts):
    api = configure(
        architecture__authentication_mode="API", architecture__node_authorization="access-entry"
    )
    where = {"stack_file": STACK_FILE, "region": "us-west-2", "now": NOW}
    ready = cluster("API_AND_CONFIG_MAP", access_entries=READY, aws_auth=PEOPLE)
    assert any("alice" in w for w in prepare(api, replace(facts, cluster=ready), **where).warnings)
    with pytest.raises(ConfigError, match="one at a time"):
        prepare(api, replace(facts, cluster=cluster("CONFIG_MAP")), **where)
