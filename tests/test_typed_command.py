"""Commands of the Pulumi CLI exist for the reader of a message."""

import pytest

from trainyard.components.config.problems import remove_command, set_command
from trainyard.components.typed_command import LAUNCHER, pulumi_command


def test_without_the_launcher_the_reader_has_the_pulumi_cli(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(LAUNCHER, raising=False)
    assert pulumi_command("stack ls --all") == "pulumi stack ls --all"


def test_under_the_launcher_fixes_use_its_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LAUNCHER, "./trainyard")
    file, key = "Pulumi.p5-cb.yaml", "trainyard:cluster.name"
    begin = "./trainyard pulumi config"
    assert set_command(key, "a", stack_file=file) == f"{begin} set --stack p5-cb --path '{key}' a"
    assert remove_command(key, stack_file=file) == f"{begin} rm --stack p5-cb --path '{key}'"
