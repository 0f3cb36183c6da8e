"""A command for Pulumi that would lose a stack file is recognized by its arguments."""

import pytest

from trainyard.engine.pulumi_arguments import PRESERVE_CONFIG, parse


@pytest.mark.parametrize(
    "command",
    [
        "stack rm p5-cb --yes",
        "stack remove p5-cb",
        "stack delete -s p5-cb",
        "--color never stack --stack p5-cb rm",
    ],
)
def test_removing_a_stack_keeps_the_stack_file(command: str) -> None:
    given = command.split()
    assert parse(given).preserving_config() == (*given, PRESERVE_CONFIG)


@pytest.mark.parametrize(
    "command", ["stack rm p5-cb --preserve-config", "stack ls", "stack rm --help", "config rm key"]
)
def test_other_commands_are_not_changed(command: str) -> None:
    given = command.split()
    assert parse(given).preserving_config() == tuple(given)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("destroy --remove --yes", "`destroy --remove` also deletes the stack file"),
        ("-C . destroy --stack p5-cb --remove", "`destroy --remove` also deletes the stack file"),
        ("config refresh --force", "overwrites the stack file without a backup"),
        ("config --stack p5-cb refresh -f", "overwrites the stack file without a backup"),
    ],
)
def test_what_would_lose_the_stack_file_is_refused(command: str, reason: str) -> None:
    assert reason in parse(command.split()).loss()


@pytest.mark.parametrize("command", ["destroy --yes", "config refresh", "stack rm --force", ""])
def test_what_loses_no_stack_file_is_not_refused(command: str) -> None:
    assert parse(command.split()).loss() == ""


def test_the_new_name_of_a_renamed_stack_is_known() -> None:
    assert parse(["stack", "rename", "organization/trainyard/dev"]).new_name == "dev"
    assert parse(["stack", "rename", "-s", "p5-cb", "dev"]).new_name == "dev"
    assert parse(["stack", "select", "dev"]).new_name == ""


@pytest.mark.parametrize(
    ("command", "needed"),
    [
        ("stack ls", True),
        ("config", True),
        ("--non-interactive up", True),
        ("login file://~", False),
        ("plugin ls", False),
        ("up --help", False),
        ("version", False),
        ("", False),
    ],
)
def test_commands_of_a_backend_need_a_login(command: str, *, needed: bool) -> None:
    assert parse(command.split()).uses_backend is needed


@pytest.mark.parametrize(
    ("command", "only"),
    [
        ("config set --stack p5-cb --path key value", True),
        ("config rm --stack=p5-cb --path key", True),
        ("config set --stack p5-cb --path key -- -1", True),
        ("config set --stack p5-cb --secret key", False),
        ("config set --path key value", False),
        ("config get --stack p5-cb key", False),
    ],
)
def test_plain_values_of_a_named_stack_need_no_backend(command: str, *, only: bool) -> None:
    assert parse(command.split()).edits_stack_file_only is only


@pytest.mark.parametrize(
    ("command", "stack"),
    [
        ("config set --stack p5-cb --path key value", "p5-cb"),
        ("stack init p5-cb", "p5-cb"),
        ("stack rm organization/trainyard/p5-cb --yes", "p5-cb"),
        ("stack ls", ""),
        ("config get key", ""),
    ],
)
def test_the_stack_of_a_command_is_an_option_or_an_argument(command: str, stack: str) -> None:
    assert parse(command.split()).subject == stack
