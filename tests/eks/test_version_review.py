"""Kubernetes versions by the calendar, and the key of the secrets by the region."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from tests.support.eks import changed, refusals
from tests.support.kubernetes import minor
from tests.support.stack_files import plan_from
from trainyard.components.catalog.versions import (
    EKS_VERSIONS,
    STANDARD_SUPPORT_ENDS,
    minor_number,
    standard_support_ends_soon,
)
from trainyard.components.eks.cluster_review import (
    newest_version,
    next_version,
    versions_of_new_clusters,
)

KEY = "architecture.kubernetes_version"
OLDEST = min(EKS_VERSIONS)
OLD = changed(architecture__kubernetes_version=OLDEST)
ENDS = STANDARD_SUPPORT_ENDS[OLDEST]


def at(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 12, tzinfo=UTC)


def support_notes(raw, day):
    return [note for note in plan_from(raw, now=at(day)).notes if "standard support" in note]


@pytest.mark.parametrize("version", EKS_VERSIONS)
def test_every_pinned_version_can_be_planned(version):
    planned = plan_from(changed(architecture__kubernetes_version=version))
    assert planned.kubernetes_version == version
    groups = planned.node_groups
    assert all(group.ami_release_version.startswith(f"{version}.") for group in groups)


@pytest.mark.parametrize(
    ("before", "days"),
    [
        pytest.param(61, None, id="61-days-before"),
        pytest.param(60, "in 60 days", id="60-days-before"),
        pytest.param(1, "in 1 day:", id="the-day-before"),
    ],
)
def test_the_end_of_support_is_announced_as_early_as_eks_does(before, days):
    notes = support_notes(OLD, ENDS - timedelta(days=before))
    assert len(notes) == (0 if days is None else 1)
    if days is not None:
        assert days in notes[0]
        assert f"'trainyard:cluster.{KEY}' {next_version(OLDEST)}" in notes[0]


def test_a_version_is_upgraded_to_the_next_one_and_the_newest_to_none():
    assert next_version(minor(-2)) == minor(-1)
    assert next_version(newest_version()) is None
    newest = changed(architecture__kubernetes_version=newest_version())
    (note,) = support_notes(newest, STANDARD_SUPPORT_ENDS[newest_version()] - timedelta(days=1))
    assert "none is newer yet (docs/upgrades.md)" in note


def test_the_default_version_is_not_announced_yet():
    assert support_notes(changed(), date(2026, 11, 21)) == []


@pytest.mark.parametrize("later", [0, 1, 365, 3 * 365])
def test_from_its_last_day_the_version_is_noted_with_the_next_one(later):
    (note,) = support_notes(OLD, ENDS + timedelta(days=later))
    assert f"out of EKS's standard support since {ENDS.isoformat()}" in note
    assert f"{KEY}' {next_version(OLDEST)}`" in note


def test_a_version_that_eks_has_and_nobody_pinned_is_refused():
    problem = refusals(changed(architecture__kubernetes_version=minor(1)))[KEY]
    assert "no AMI and add-ons are pinned" in problem.problem
    assert problem.remedy.endswith(f" {newest_version()}")


def test_a_new_cluster_has_a_version_in_standard_support():
    versions = sorted(EKS_VERSIONS, key=minor_number)
    assert versions_of_new_clusters(ENDS - timedelta(days=1)) == versions
    assert versions_of_new_clusters(ENDS) == versions[1:]


@pytest.mark.parametrize("version", [OLDEST, "9.99"])
def test_what_has_ended_or_is_unknown_does_not_end_soon(version):
    assert standard_support_ends_soon(version, ENDS) is None
