"""Whether EKS supports the Kubernetes version of a stack."""

from datetime import date

import pytest

from components.account.preflight_facts import PreflightFacts, VersionFacts
from components.eks.version_support import version_rows
from tests.support.kubernetes import DEFAULT, minor

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
def test_the_support_of_a_version_is_told(configure, status, ends, verdict):
    """G11."""
    version = VersionFacts(status=status, standard_support_ends=ends)
    (row,) = version_rows(
        configure(), PreflightFacts(kubernetes_versions={DEFAULT: version}), TODAY
    )
    assert row.verdict == verdict


def test_a_version_that_eks_does_not_list_is_refused_with_those_that_it_does(configure):
    version = VersionFacts(status="STANDARD_SUPPORT", standard_support_ends=None)
    listed = {minor(1): version}
    (row,) = version_rows(configure(), PreflightFacts(kubernetes_versions=listed), TODAY)
    assert row.problem.allowed == minor(1)
