"""Random stack files in a complete `check`: a plan that renders, or messages, in limited time.

A file is refused with keys and fixes, or it is planned, and then all of its documents are rendered
and parsed. Run it manually with more examples: `TRAINYARD_FUZZ_EXAMPLES=5000 pytest
tests/faults/test_whole_stack_files.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from typer.testing import CliRunner

from tests.faults.support.fuzzing import examples, takes_less_than
from tests.faults.support.random_stacks import RandomStack, bases, random_stacks
from tests.faults.support.rendered import assert_registered, assert_rendered
from tests.support.cloud import Cloud
from tests.support.stacks import NOW, account_facts
from trainyard.cli.app import app
from trainyard.components.architectures.build import build
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.architectures.prepare import prepare
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ConfigError
from trainyard.stack_files.stack_config import config_of, plan_of
from trainyard.stack_files.stack_files import StackFileError, find_stack_file

SECONDS = 20.0
"""Time limit for one file."""
FORMS = ([], ["--json"], ["--sarif"])
REFUSED = 2
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


@pytest.fixture
def check(tmp_path: Path) -> Callable[[RandomStack, list[str]], tuple[int, str]]:
    """Write a stack file, run `check` as a user does, and return the exit code and the output."""

    def run(stack: RandomStack, form: list[str]) -> tuple[int, str]:
        path = tmp_path / "stack.yaml"
        path.write_text(stack.text, encoding="utf-8")
        with takes_less_than(SECONDS):
            done = CliRunner().invoke(app, ["check", "x", "--stack-file", str(path), *form])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.output

    return run


def test_what_is_changed_was_good_before() -> None:
    """Otherwise every file would be refused, and the other tests would prove little."""
    for raw in bases():
        config = load_stack_config(raw, stack_file="Pulumi.x.yaml")
        assert_rendered(plan_stack(config, stack_file="Pulumi.x.yaml", region="us-west-2", now=NOW))


def test_every_file_is_planned_and_rendered_or_refused_in_words(
    check: Callable[[RandomStack, list[str]], tuple[int, str]], tmp_path: Path
) -> None:
    """Schema, rules between keys, plan, and all of its documents."""
    passed: list[int] = []

    @settings(max_examples=examples(200), suppress_health_check=SLOW)
    @given(random_stacks())
    def judged(stack: RandomStack) -> None:
        exit_code, said = check(stack, [])
        assert exit_code in (0, REFUSED)
        assert all(line.isprintable() for line in said.splitlines())
        if exit_code == REFUSED:
            assert "fix:" in said or str(tmp_path) in said
            return
        assert not stack.doubled
        passed.append(assert_rendered(plan_of(find_stack_file("x", path=tmp_path / "stack.yaml"))))

    judged()
    assert len(passed) > 20, "most of what follows from a file was never made"
    assert sum(passed) > 60


def test_the_forms_for_programs_are_documents_whatever_the_file_holds(
    check: Callable[[RandomStack, list[str]], tuple[int, str]],
) -> None:
    """`--json` and `--sarif`: the document contains the problems of the file."""

    @settings(max_examples=examples(30), suppress_health_check=SLOW)
    @given(random_stacks())
    def judged(stack: RandomStack) -> None:
        codes = set()
        for form in FORMS:
            exit_code, said = check(stack, form)
            codes.add(exit_code)
            if form and not said.startswith("error"):
                json.loads(said)
        assert len(codes) == 1

    judged()


def test_what_fits_the_account_is_registered_whole(
    deploy: Callable[..., Cloud], tmp_path: Path
) -> None:
    """Run the program under a recording monitor, for files that the sandbox's account allows."""
    facts, documents = account_facts(), 0

    @settings(max_examples=examples(25), suppress_health_check=SLOW)
    @given(random_stacks())
    def judged(stack: RandomStack) -> None:
        nonlocal documents
        path = tmp_path / "stack.yaml"
        path.write_text(stack.text, encoding="utf-8")
        try:
            file = find_stack_file("x", path=path)
            prepared = prepare(
                config_of(file), facts, stack_file=file.name, region=file.region, now=NOW
            )
        except (ConfigError, StackFileError):
            return
        with takes_less_than(SECONDS):
            cloud = deploy(lambda: build(prepared.plan), stack="x")
        documents += assert_registered(cloud)

    judged()
    assert documents > 10
