"""A preview in the engine reports policy findings to CI: document, exit code, no changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.sandbox import Sandbox, copied_stack_file

pytestmark = pytest.mark.sandbox

EXPIRED = {"resource": "scratch", "reason": "a trial", "expires": "2020-01-01"}
PREVIEW = ("preview", "p5-cb", "--sandbox", "--stack-file")


@pytest.fixture
def refused(tmp_path: Path) -> Path:
    """A stack file that schema, plan and account accept, and the pack refuses."""
    change = {"policies": {"ebs-encrypted": {"suppressions": [EXPIRED]}}}
    return copied_stack_file(tmp_path / "Pulumi.p5-cb.yaml", change)


def test_a_mandatory_violation_fails_the_preview_and_is_in_both_documents(
    sandbox: Sandbox, refused: Path
) -> None:
    before = sandbox.inventory()
    done = sandbox.run(*PREVIEW, refused, "--json")
    assert done.exit_code == 1, done.said
    answer = json.loads(done.stdout)
    assert answer["ok"] is False
    errors = [each for each in answer["findings"] if each["level"] == "error"]
    found = [(each["rule"], each["stage"], each["file"]) for each in errors]
    assert found == [("expired-suppressions", "policy", str(refused))], done.said

    done = sandbox.run(*PREVIEW, refused, "--sarif")
    assert done.exit_code == 1
    (run,) = json.loads(done.stdout)["runs"]
    assert "expired-suppressions" in {each["ruleId"] for each in run["results"]}
    assert sandbox.inventory() == before


def test_the_preview_of_an_example_warns_of_its_open_api_and_the_missing_audit_log(
    sandbox: Sandbox,
) -> None:
    done = sandbox.must("preview", "p5-cb", "--sandbox", "--json")
    answer = json.loads(done.stdout)
    warned = {each["rule"]: each["level"] for each in answer["findings"]}
    assert warned == {"eks-public-endpoint-restricted": "warning", "eks-audit-log": "warning"}


def test_an_image_that_nobody_has_pushed_is_refused_before_the_engine_starts(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    wrong = "public.ecr.aws/hpc-cloud/nccl-tests:cuda99"
    change = {"architecture.job_definitions.nccl-tests.image": wrong}
    path = copied_stack_file(tmp_path / "Pulumi.batch-p5.yaml", change, "batch-p5")
    before = sandbox.inventory()
    done = sandbox.run("preview", "batch-p5", "--sandbox", "--stack-file", path)
    assert done.exit_code == 2, done.said
    assert wrong in done.said
    assert "MANIFEST_UNKNOWN" in done.said
    assert sandbox.inventory() == before
