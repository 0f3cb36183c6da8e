"""Changes of a running cluster are limited to those that EKS can make in place."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

import pytest

from tests.support.eks import STACK_FILE, cluster_facts
from tests.support.eks_account import NOW
from tests.support.kubernetes import (
    DEFAULT,
    OLDEST,
    PREVIOUS,
    TOO_OLD,
    minor,
)
from trainyard.components.architectures.prepare import prepare
from trainyard.components.catalog.versions import EKS_VERSIONS, STANDARD_SUPPORT_ENDS, minor_number
from trainyard.components.config.problems import ConfigError
from trainyard.components.eks.cluster_review import versions_of_new_clusters
from trainyard.components.eks.version_check import (
    KEY_PATH,
    VERSION_PATH,
    version_problems,
    version_warnings,
)

MINE, OTHER = (f"arn:aws:kms:us-west-2:123456789012:key/mrk-{key:032x}" for key in (1, 2))
SYSTEM, FOREIGN = "p5-cb-system-node-group-1a2b3c4", "made-by-hand"


def cluster(version=DEFAULT, **changes):
    fields = {
        "kubernetes_version": version,
        "node_group_versions": {SYSTEM: version},
        "node_group_sizes": {SYSTEM: 1},
    }
    return cluster_facts(**(fields | changes))


@pytest.fixture
def problems(configure, facts):
    """Return the problems of a stack file whose cluster exists."""

    def judged(exists, *, now=NOW, unreadable=(), **changes):
        known = replace(facts, cluster=exists, unreadable=unreadable)
        found = version_problems(configure(**changes), known, stack_file=STACK_FILE, now=now)
        return list(found)

    return judged


@pytest.fixture
def warnings(configure, facts):
    def told(exists, **changes):
        return list(version_warnings(configure(**changes), replace(facts, cluster=exists)))

    return told


def set_version(version):
    return f"pulumi config set --stack p5-cb --path '{VERSION_PATH}' {version}"


@pytest.mark.parametrize("exists", [None, cluster(DEFAULT), cluster(PREVIOUS)])
def test_a_new_cluster_the_same_version_and_the_next_are_fine(problems, exists):
    assert problems(exists) == []


@pytest.mark.parametrize("later", [timedelta(), timedelta(days=1), timedelta(days=3 * 365)])
def test_a_date_refuses_only_a_cluster_that_does_not_exist(problems, later):
    now = datetime.combine(STANDARD_SUPPORT_ENDS[OLDEST], time(), tzinfo=UTC) + later
    old = {"now": now, "architecture__kubernetes_version": OLDEST}
    assert problems(cluster(OLDEST), **old) == []
    assert problems(None, unreadable=("eks:DescribeCluster: AccessDenied",), **old) == []
    (problem,) = problems(None, **old)
    assert (problem.path, problem.found) == (VERSION_PATH, OLDEST)
    assert "the cluster does not exist yet" in problem.problem
    allowed = versions_of_new_clusters(now.date())
    assert problem.allowed == (", ".join(allowed) or None)
    if allowed:
        assert problem.remedy == set_version(minor(-1))
    else:
        assert "a release of this program that pins a newer version" in problem.remedy
    before = now - later - timedelta(minutes=1)
    assert problems(None, now=before, architecture__kubernetes_version=OLDEST) == []


def upgraded(**changes):
    """Return a cluster that was upgraded a day ago, and has only nodes of the version before."""
    fields = {
        "upgraded_at": NOW - timedelta(days=1),
        "node_group_versions": {SYSTEM: PREVIOUS},
        "addon_versions": {"kube-proxy": EKS_VERSIONS[PREVIOUS].kube_proxy},
    }
    return cluster(DEFAULT, **(fields | changes))


def back(problems, exists, **changes):
    return problems(exists, **{"architecture__kubernetes_version": PREVIOUS, **changes})


def test_a_cluster_goes_back_within_seven_days_of_an_upgrade(problems, warnings):
    assert back(problems, upgraded()) == []
    (warning,) = warnings(upgraded(), architecture__kubernetes_version=PREVIOUS)
    assert f"goes back from Kubernetes {DEFAULT} to {PREVIOUS}" in warning
    assert "a node of p5 that has launched since the upgrade" in warning
    assert "ROLLBACK_READINESS" in warning


def test_nodes_and_kube_proxy_go_back_before_the_control_plane(problems):
    newer = EKS_VERSIONS[DEFAULT].kube_proxy
    versions = {SYSTEM: DEFAULT, FOREIGN: DEFAULT}
    exists = upgraded(node_group_versions=versions, addon_versions={"kube-proxy": newer})
    (problem,) = back(problems, exists)
    assert "until 2026-11-27 00:00 UTC" in problem.problem
    pins = EKS_VERSIONS[PREVIOUS]
    update = "aws eks update-nodegroup-version --cluster-name p5-cb --nodegroup-name"
    assert problem.remedy.split("; then ") == [
        (
            f"{update} {SYSTEM} --kubernetes-version {PREVIOUS} "
            f"--release-version {pins.ami_release_version}"
        ),
        f"{update} {FOREIGN} --kubernetes-version {PREVIOUS}",
        (
            "aws eks update-addon --cluster-name p5-cb --addon-name kube-proxy --addon-version "
            f"{pins.kube_proxy}"
        ),
        (
            f"`./trainyard refresh p5-cb`, {set_version(PREVIOUS)} and `up`, which takes back the "
            "control plane and the other add-ons"
        ),
    ]
    assert problem.allowed == DEFAULT


def test_a_managed_block_is_emptied_before_it_goes_back(problems):
    group = "p5-cb-p5-node-group-5d6e7f8"
    exists = upgraded(node_group_versions={group: DEFAULT}, node_group_sizes={group: 2})
    (problem,) = back(problems, exists, architecture__node_groups__p5__management="managed")
    empty, update, _ = problem.remedy.split("; then ")
    assert empty.startswith(f"set the size of {group} to 0")
    assert update.startswith("aws eks update-nodegroup-version")


def test_extended_support_is_allowed_before_a_cluster_goes_back_to_it(problems):
    """https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html."""
    now = datetime.combine(STANDARD_SUPPORT_ENDS[PREVIOUS], time(), tzinfo=UTC)
    exists = upgraded(upgraded_at=now - timedelta(days=1), support_type="STANDARD")
    assert back(problems, replace(exists, support_type="EXTENDED"), now=now) == []
    (problem,) = back(problems, exists, now=now)
    assert "--upgrade-policy supportType=EXTENDED; then" in problem.remedy


@pytest.mark.parametrize(
    ("exists", "why"),
    [
        pytest.param({"upgraded_at": None}, f"none to {DEFAULT} is recorded", id="created-so"),
        pytest.param(
            {"upgraded_at": NOW - timedelta(days=7)}, "until 2026-11-21 00:00 UTC", id="too-late"
        ),
    ],
)
def test_a_downgrade_is_refused(problems, exists, why):
    (problem,) = back(problems, upgraded(**exists))
    assert (problem.path, problem.found) == (VERSION_PATH, PREVIOUS)
    assert why in problem.problem
    assert problem.allowed == DEFAULT
    assert problem.remedy.startswith(set_version(DEFAULT))


def test_two_versions_back_are_refused(problems):
    (problem,) = problems(upgraded(), architecture__kubernetes_version=minor(-2))
    assert "one minor version only" in problem.problem


@pytest.mark.parametrize("call", ["eks:ListUpdates", "eks:DescribeUpdate"])
def test_eks_judges_the_window_if_its_updates_cannot_be_read(problems, call):
    exists = upgraded(upgraded_at=None)
    assert back(problems, exists, unreadable=(f"{call}: AccessDenied",)) == []


def test_a_skipped_version_is_refused_with_the_way_through_it(problems):
    (problem,) = problems(cluster(minor(-2)))
    assert "2 minor versions away" in problem.problem
    assert problem.allowed == f"{minor(-2)}, or {PREVIOUS}"
    first, second = set_version(PREVIOUS), set_version(DEFAULT)
    assert problem.remedy == f"{first} and `up`; then {second} and `up`"


def test_the_way_through_a_version_that_is_not_pinned_is_aws_own(problems):
    (problem,) = problems(cluster(f"1.{minor_number(TOO_OLD) - 1}"))
    first, *pinned = problem.remedy.split("; then ")
    assert first.startswith(
        f"aws eks update-cluster-version --name p5-cb --kubernetes-version {TOO_OLD}, and when"
    )
    assert first.endswith(
        f"aws eks update-nodegroup-version --cluster-name p5-cb --nodegroup-name {SYSTEM}"
    )
    assert pinned == [f"{set_version(version)} and `up`" for version in EKS_VERSIONS]


def test_node_groups_that_are_behind_follow_first(problems):
    behind = {SYSTEM: minor(-2), FOREIGN: PREVIOUS}
    (problem,) = problems(cluster(PREVIOUS, node_group_versions=behind))
    assert f"{SYSTEM} ({minor(-2)})" in problem.problem
    assert FOREIGN not in problem.problem
    assert "at most 3" not in problem.problem
    same, then = problem.remedy.split("; then ")
    assert same.startswith(f"{set_version(PREVIOUS)} and `up`")
    assert then == f"{set_version(DEFAULT)} and `up`"


def test_a_kubelet_too_far_behind_is_named_with_the_command_that_moves_it(problems):
    behind = {SYSTEM: PREVIOUS, FOREIGN: minor(-4)}
    (problem,) = problems(cluster(PREVIOUS, node_group_versions=behind))
    assert "a kubelet may be at most 3 minor versions behind" in problem.problem
    assert problem.remedy.startswith(
        f"aws eks update-nodegroup-version --cluster-name p5-cb --nodegroup-name {FOREIGN}"
    )


def test_groups_that_are_behind_the_same_version_are_what_up_is_for(problems):
    assert problems(cluster(DEFAULT, node_group_versions={SYSTEM: PREVIOUS})) == []


@pytest.mark.parametrize(("size", "refused"), [(2, True), (0, False)])
def test_a_managed_block_is_updated_only_while_it_is_empty(problems, size, refused):
    """P5-CB managed: EKS updates such a group only at desired size 0."""
    group = "p5-cb-p5-node-group-5d6e7f8"
    exists = cluster(
        PREVIOUS,
        node_group_versions={SYSTEM: PREVIOUS, group: PREVIOUS},
        node_group_sizes={SYSTEM: 1, group: size},
    )
    found = problems(exists, architecture__node_groups__p5__management="managed")
    assert bool(found) is refused
    if refused:
        (problem,) = found
        empty, upgrade, back = problem.remedy.split("; then ")
        assert "p5.desired' 0" in empty
        assert set_version(DEFAULT) in upgrade
        assert "p5.desired' 2" in back


def test_a_self_managed_block_keeps_its_nodes_and_says_so(problems, warnings):
    assert problems(cluster(PREVIOUS)) == []
    (warning,) = warnings(cluster(PREVIOUS))
    assert f"from Kubernetes {PREVIOUS} to {DEFAULT}" in warning
    assert f"Nodes of p5 that run stay at {PREVIOUS}" in warning


@pytest.mark.parametrize(
    ("current", "wanted", "refused"),
    [
        pytest.param(None, None, False, id="none"),
        pytest.param(None, MINE, False, id="added"),
        pytest.param(MINE, MINE, False, id="kept"),
        pytest.param(MINE, None, True, id="removed"),
        pytest.param(MINE, OTHER, True, id="changed"),
    ],
)
def test_the_key_of_the_secrets_can_be_added_and_then_stays(problems, current, wanted, refused):
    exists = cluster(secrets_key_arn=current)
    found = problems(exists, architecture__secrets_key_arn=wanted)
    assert [problem.path for problem in found] == ([KEY_PATH] if refused else [])
    if refused:
        assert found[0].remedy.endswith(f"'{KEY_PATH}' {MINE}")


def test_adding_a_key_cannot_be_undone_which_is_said(warnings):
    (warning,) = warnings(cluster(), architecture__secrets_key_arn=MINE)
    assert "can never be changed or removed" in warning
    assert warnings(cluster(secrets_key_arn=MINE), architecture__secrets_key_arn=MINE) == []
    assert warnings(None, architecture__secrets_key_arn=MINE) == []


def test_a_preview_refuses_with_the_other_problems_of_the_stack(configure, facts):
    config = configure(
        architecture__kubernetes_version=PREVIOUS, architecture__secrets_key_arn=OTHER
    )
    known = replace(facts, cluster=cluster(DEFAULT, secrets_key_arn=MINE))
    with pytest.raises(ConfigError) as caught:
        prepare(config, known, stack_file=STACK_FILE, region="us-west-2", now=NOW)
    assert {VERSION_PATH, KEY_PATH} <= {problem.path for problem in caught.value.problems}
