"""Programs of ParallelCluster's environment use a sandbox's account and no settings of the user."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tools.parallelcluster.process import (
    ParallelClusterError,
    ask,
    parsed,
    program_environment,
)
from trainyard.sandbox.access import NO_ACCOUNT


def test_nothing_of_the_users_account_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_SECRET_ACCESS_KEY", "PYTHONPATH"):
        monkeypatch.setenv(name, "of the user")

    with program_environment(account=NO_ACCOUNT, region="eu-west-1") as given:
        assert "of the user" not in given.values()
        assert given["AWS_ENDPOINT_URL"] == "http://127.0.0.1:9"
        assert given["AWS_REGION"] == given["AWS_DEFAULT_REGION"] == "eu-west-1"
        home = Path(given["HOME"])
        assert list(home.iterdir()) == []
    assert not home.exists()


def test_what_a_program_says_instead_of_an_answer_is_shown() -> None:
    done = subprocess.CompletedProcess(["x"], 1, stdout="", stderr="Traceback: it broke")

    with pytest.raises(ParallelClusterError, match=r"x\.py gave no answer \(exit code 1\):\nTrace"):
        parsed(done, "x.py")


@pytest.mark.parallelcluster
def test_a_script_runs_in_the_environment_that_is_locked(tmp_path: Path) -> None:
    # PC-01
    script = tmp_path / "versions.py"
    script.write_text(
        "import importlib.metadata, json, sys\n"
        "names = json.load(sys.stdin)['names']\n"
        "print(json.dumps([importlib.metadata.version(name) for name in names]))\n"
    )
    request = {"names": ["aws-parallelcluster", "ministack"]}

    answer = ask(script, request, account=NO_ACCOUNT, region="us-west-2")

    assert json.dumps(answer) == '["3.16.1", "1.5.33"]'
