"""Whether EKS supports the Kubernetes version of a stack."""

from dataclasses import replace
from datetime import date

import pytest

from tests.support.eks import cluster_facts
from tests.support.kubernetes import DEFAULT, minor
from trainyard.components.account.facts import PreflightFacts
from trainyard.components.catalog.versions import STANDARD_SUPPORT_ENDS
from trainyard.components.eks.facts import VersionFacts
from trainyard.components.eks.lookup import look_up_versions
from trainyard.components.eks.version_check import version_rows

TODAY = date(2026, 11, 21)


@pytest.mark.parametrize(
    ("status", "ends", "verdict"),
    [
        ("STANDARD_SUPPORT", date(2027, 3, 27), "ok"),
        ("STANDARD_SUPPORT", date(2026, 12, 2), "warning"),
        ("EXTENDED_SUPPORT", date(2026, 7, 29), "warning"),
        ("UNSUPPORTED", date(2025, 7, 29), "refused"),
    ],
)
def test_the_support_of_a_version_is_told(configure, facts, status, ends, verdict):
    """G11."""
    version = VersionFacts(status=status, standard_support_ends=ends)
    (row,) = version_rows(
        configure(), facts, PreflightFacts(kubernetes_versions={DEFAULT: version}), TODAY
    )
    assert row.verdict == verdict


@pytest.mark.parametrize("listed", [True, False])
def test_a_cluster_that_exists_outlives_the_support_of_its_version(configure, facts, listed):
    version = VersionFacts(status="UNSUPPORTED", standard_support_ends=date(2025, 7, 29))
    exists = cluster_facts()
    more = PreflightFacts(kubernetes_versions={DEFAULT: version} if listed else {})
    (row,) = version_rows(configure(), replace(facts, cluster=exists), more, TODAY)
    assert row.verdict == "warning"


@pytest.mark.usefixtures("chicago")
def test_the_day_on_which_support_ends_is_that_of_utc(reader):
    """Botocore converts the times of EKS to the zone of this machine."""
    found = look_up_versions(reader)
    assert found[DEFAULT].standard_support_ends == STANDARD_SUPPORT_ENDS[DEFAULT]


def test_a_version_that_eks_does_not_list_is_refused_with_those_that_it_does(configure, facts):
    version = VersionFacts(status="STANDARD_SUPPORT", standard_support_ends=None)
    listed = {minor(1): version}
    (row,) = version_rows(configure(), facts, PreflightFacts(kubernetes_versions=listed), TODAY)
    assert row.problem.allowed == minor(1)
