"""The pack under the real engine: configurations that it refuses, and its output."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.support.policy_pack import PACK
from tests.support.pulumi_workspace import empty_project
from tests.support.warm_python import warm
from trainyard.engine.pulumi_engine import ensure_pulumi

pytestmark = pytest.mark.engine

# A component with the type of a resource: rules check it, and no provider is needed.
PROGRAM = """\
import pulumi


class Volume(pulumi.ComponentResource):
    def __init__(self, name, props):
        super().__init__("aws:ebs/volume:Volume", name, props)


Volume("scratch", {"size": 100})
"""
HOLDS = {"resource": "scratch", "reason": "scratch data", "expires": "2099-12-31"}

Preview = Callable[..., str]


@pytest.fixture(scope="module")
def preview(tmp_path_factory: pytest.TempPathFactory) -> Preview:
    project = empty_project(tmp_path_factory.mktemp("project"), ensure_pulumi(print))
    project.variables = warm({})
    project.write("__main__.py", PROGRAM)
    config = project.directory / "policies.json"

    def run(entry: object, *, rule: str = "ebs-encrypted", code: int) -> str:
        config.write_text(json.dumps({rule: entry}), encoding="utf-8")
        pack = ("--policy-pack", str(PACK), "--policy-pack-config", str(config))
        return project.run("preview", *pack, code=code)

    return run


def test_a_violation_fails_the_preview_and_a_suppressed_one_is_shown(preview: Preview):
    assert "set encrypted to true" in preview({}, code=1)
    shown = preview({"suppressions": [HOLDS]}, code=0)
    assert "ebs-encrypted is suppressed until 2099-12-31, because 'scratch data'" in shown


def test_an_expired_suppression_fails_the_preview_of_a_program_that_is_right(preview: Preview):
    entry = HOLDS | {"resource": "another", "expires": "2020-01-31"}
    shown = preview({"enforcementLevel": "advisory", "suppressions": [entry]}, code=1)
    assert "ebs-encrypted, another: its suppression expired on 2020-01-31" in shown


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"expires": "2099-02-30"}, "Does not match format 'date'", id="no-such-day"),
        pytest.param({"reason": " "}, "suppressions.0.reason", id="empty-reason"),
        pytest.param({"reson": "a typo"}, "reson is not allowed", id="unknown-key"),
    ],
)
def test_a_half_suppression_is_refused_by_the_engine(preview: Preview, change, words):
    """With the schema that the pack provides; Go's `gojsonschema` checks the format of dates."""
    assert words in preview({"suppressions": [HOLDS | change]}, code=1)


def test_a_misspelt_rule_is_refused_with_the_nearest(preview: Preview):
    assert "did you mean 'ebs-encrypted'?" in preview("advisory", rule="ebs-encryption", code=1)


def test_a_level_for_every_rule_is_taken(preview: Preview):
    assert "ebs-encrypted" not in preview("disabled", rule="all", code=0)
