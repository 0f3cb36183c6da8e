"""Settings of the policy pack in a stack file."""

from __future__ import annotations

from datetime import date

import pytest

from tests.support.eks import changed, config
from trainyard.components.config.problems import ConfigError

ENTRY = {"resource": "p5-cb-scratch", "reason": "scratch data only", "expires": "2027-03-01"}


def settings(entry: dict[str, object]):
    """Return the configuration of a stack that suppresses one rule once."""
    return config(changed(policies={"ebs-encrypted": {"suppressions": [entry]}}))


@pytest.mark.parametrize(
    "expires",
    [
        pytest.param("2027-03-01", id="text"),
        pytest.param(date(2027, 3, 1), id="as-yaml-reads-it"),
        pytest.param("2027-03-01 00:00:00 +0000 UTC", id="as-pulumi-hands-it-on"),
    ],
)
def test_a_suppression_has_a_last_day(expires):
    (read,) = settings(ENTRY | {"expires": expires}).policies["ebs-encrypted"].suppressions
    assert read.expires == date(2027, 3, 1)


@pytest.mark.parametrize(
    ("change", "key"),
    [
        pytest.param({"expires": "2027-02-30"}, "expires", id="no-such-day"),
        pytest.param({"expires": "next year"}, "expires", id="day-in-words"),
        pytest.param({"reason": "  "}, "reason", id="no-reason"),
        pytest.param({"resource": "*"}, "resource", id="everything"),
        pytest.param({"until": "2027-03-01"}, "until", id="unknown-key"),
    ],
)
def test_a_half_suppression_is_refused_at_its_key(change, key):
    with pytest.raises(ConfigError) as refused:
        settings(ENTRY | change)
    (problem,) = refused.value.problems
    assert problem.path == f"trainyard:cluster.policies.ebs-encrypted.suppressions[0].{key}"


@pytest.mark.parametrize("key", ["reason", "expires", "resource"])
def test_a_suppression_without_one_of_its_keys_is_refused(key):
    with pytest.raises(ConfigError) as refused:
        settings({name: value for name, value in ENTRY.items() if name != key})
    assert key in refused.value.problems[0].path


def test_an_unknown_level_is_refused_with_those_that_exist():
    with pytest.raises(ConfigError) as refused:
        config(changed(policies={"ebs-encrypted": {"enforcement_level": "off"}}))
    assert "disabled" in str(refused.value)
