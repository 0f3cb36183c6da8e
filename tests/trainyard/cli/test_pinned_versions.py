"""`check --live` and the check before `preview` and `up` ask the sandbox's registries."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.support.sandbox_here import running_sandbox  # before boto3 makes a client
from trainyard.workspace.accounts import SandboxAccount, target_of

from trainyard.checks.account_check import refuse_wrong_account  # isort: skip
from trainyard.components.config.problems import ConfigError
from trainyard.stack_files.completion import completed, sandbox_completion
from trainyard.stack_files.stack_files import find_stack_file

WRONG = "public.ecr.aws/hpc-cloud/nccl-tests:cuda99"
KEY = "architecture.job_definitions.nccl-tests.image"


@pytest.fixture
def wrong(trainyard: object, tmp_path: Path) -> Iterator[Path]:
    """A stack file whose job has an image of a tag that does not exist."""
    file = completed(find_stack_file("batch-p5"), sandbox_completion(find_stack_file("batch-p5")))
    content = copy.deepcopy(dict(file.content))
    cluster = content["config"]["trainyard:cluster"]
    cluster["architecture"]["job_definitions"]["nccl-tests"]["image"] = WRONG
    path = tmp_path / "Pulumi.batch-p5.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    with running_sandbox(tmp_path / "sandbox"):
        yield path


def test_check_live_refuses_an_image_that_its_registry_does_not_have(trainyard, wrong) -> None:
    done = trainyard("check", "batch-p5", "--live", "--sandbox", "--json", "--stack-file", wrong)
    assert done.exit_code == 2
    (answer,) = json.loads(done.stdout)
    (row,) = [each for each in answer["checks"] if each["verdict"] == "refused"]
    assert (row["subject"], WRONG in row["found"]) == (KEY, True)
    assert "MANIFEST_UNKNOWN" in row["found"]
    assert KEY in row["fix"]


def test_preview_and_up_refuse_it_before_the_engine_starts(wrong) -> None:
    file = find_stack_file("batch-p5", path=wrong)
    with SandboxAccount().access(), pytest.raises(ConfigError, match="cuda99"):
        refuse_wrong_account(target_of(file, sandbox=True))
