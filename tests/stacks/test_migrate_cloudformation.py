"""The commands of the guide that moves from CloudFormation run in the sandbox, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from tests.stacks.support.new_user import NewUser, commands_in
from tests.support.sandbox import Done
from tests.support.tracked import ROOT

pytestmark = pytest.mark.sandbox

GUIDE = ROOT / "docs" / "migrate-cloudformation.md"
COMMANDS = commands_in(GUIDE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Done]]:
    """Run the commands in a shell in a checkout; the results by the word of the command."""
    user = NewUser(tmp_path_factory.mktemp("home"), as_typed=("import", "check"))
    try:
        yield {command.split()[1]: user.run(command) for command in COMMANDS}
    finally:
        user.run("./trainyard sandbox stop")


def test_every_command_succeeds(done: Mapping[str, Done]) -> None:
    failed = {word: each.said for word, each in done.items() if each.exit_code}
    assert failed == {}
    assert [*done] == ["lint", "import", "check", "up", "outputs", "run", "jobs", "destroy"]


def test_the_template_is_taken_over_and_accepted(done: Mapping[str, Done]) -> None:
    assert "not supported (" not in done["import"].stdout
    assert done["check"].stdout.startswith("new-batch: ok")


def test_the_job_runs_on_the_new_queue(done: Mapping[str, Done]) -> None:
    assert "first" in done["jobs"].stdout


def test_the_images_outlive_the_stack(done: Mapping[str, Done]) -> None:
    assert "except for protected resources" in done["destroy"].stdout
    assert "repository" in done["destroy"].stdout
