"""The login is determined without a call of Pulumi, which would prompt for one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trainyard.workspace.backend import CLOUD, NotLoggedInError, require_login

TOKEN = {"PULUMI_ACCESS_TOKEN": "pul-of-a-test"}


def logged_in(home: Path, **stored: object) -> dict[str, str]:
    home.mkdir(exist_ok=True)
    (home / "credentials.json").write_text(json.dumps(stored))
    return {"PULUMI_HOME": str(home)}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "Pulumi.yaml").write_text("name: trainyard\nruntime: python\n")
    return tmp_path / "home"


@pytest.mark.parametrize("current", ["file://~", "s3://state?region=us-west-2"])
def test_a_directory_or_a_bucket_needs_no_account(home: Path, current: str) -> None:
    assert require_login(logged_in(home, current=current), home.parent) == current


def test_pulumi_cloud_needs_a_token(home: Path) -> None:
    accounts = {CLOUD: {"accessToken": "pul-1"}}
    assert require_login(logged_in(home, current=CLOUD, accounts=accounts), home.parent) == CLOUD
    assert require_login({"PULUMI_HOME": str(home / "none"), **TOKEN}, home.parent) == CLOUD
    with pytest.raises(NotLoggedInError):
        require_login(logged_in(home, current=CLOUD), home.parent)


def test_no_login_is_answered_with_the_command(home: Path) -> None:
    with pytest.raises(NotLoggedInError, match="pulumi login file://~"):
        require_login({"PULUMI_HOME": str(home)}, home.parent)


def test_the_variable_comes_before_the_project_and_the_project_before_the_login(
    home: Path,
) -> None:
    environment = logged_in(home, current="file://~")
    (home.parent / "Pulumi.yaml").write_text("name: trainyard\nbackend: {url: 's3://project'}\n")
    assert require_login(environment, home.parent) == "s3://project"
    variable = {"PULUMI_BACKEND_URL": "s3://variable"}
    assert require_login({**environment, **variable}, home.parent) == "s3://variable"


def test_a_file_that_only_pulumi_can_read_is_left_to_it(home: Path) -> None:
    environment = logged_in(home, **{"$pulumiSecureStore": 1})
    assert require_login(environment, home.parent) == ""
