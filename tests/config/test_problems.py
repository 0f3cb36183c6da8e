import pytest

from trainyard.components.config.problems import (
    ConfigError,
    Problem,
    remove_command,
    set_command,
    show,
)


def problem(**changes):
    return Problem(**{"path": "trainyard:cluster.a", "problem": "p", "remedy": "r", **changes})


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param(True, "true", id="boolean"),
        pytest.param("a\n  b", "a b", id="several-lines"),
        pytest.param(["x", 1], '["x", 1]', id="list"),
        pytest.param("\x1b[2J\x00", "\\x1b[2J\\x00", id="what-a-terminal-obeys"),
        pytest.param("a\u202eb", "a\\u202eb", id="what-turns-the-line-around"),
        pytest.param("größe 🚀", "größe 🚀", id="other-letters"),
        pytest.param("x" * 200, "x" * 119 + "…", id="long"),
    ],
)
def test_a_value_is_shown_on_one_short_line(value, shown):
    assert show(value) == shown


def test_commands_name_the_stack_of_the_file():
    assert set_command("trainyard:cluster.a", "1", stack_file="Pulumi.x-y.yaml") == (
        "pulumi config set --stack x-y --path 'trainyard:cluster.a' 1"
    )
    assert remove_command("trainyard:cluster.a", stack_file="Pulumi.x-y.yaml") == (
        "pulumi config rm --stack x-y --path 'trainyard:cluster.a'"
    )


def test_a_quote_in_a_key_does_not_end_the_command():
    assert remove_command('a["it\'s"]', stack_file="Pulumi.x.yaml") == (
        "pulumi config rm --stack x --path 'a[\"it'\\''s\"]'"
    )


def test_the_message_counts_its_problems():
    error = ConfigError([problem(), problem()], stack_file="Pulumi.x.yaml")
    assert str(error).startswith("Pulumi.x.yaml: 2 problems; nothing was changed\n")
    assert len(error.problems) == 2


def test_lines_without_a_value_are_left_out():
    text = str(ConfigError([problem()], stack_file="Pulumi.x.yaml"))
    assert "found:" not in text
    assert "allowed:" not in text


def test_false_and_zero_are_values():
    text = str(ConfigError([problem(found=False), problem(found=0)], stack_file="f"))
    assert "found:   false" in text
    assert "found:   0" in text
