"""`list` shows the user's stacks apart from the examples, and names unknown values."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support.tracked import ROOT
from trainyard.commands.deployment import list_ as stack_table
from trainyard.commands.deployment.list_ import Listing, listing
from trainyard.engine.engine_process import EngineFailedError, PulumiCommand
from trainyard.stack_files.stacks_directory import VARIABLE, create
from trainyard.workspace.accounts import AwsAccount, SandboxAccount

STACK_FILE = """\
config:
  aws:region: us-west-2
  trainyard:cluster:
    reservations:
      block: {{kind: capacity-block, reservation_id: cr-0123456789abcdef0, ends_at: "{end}"}}
    architecture:
      kind: eks
      node_groups:
        gpu: {{instance_type: p5.48xlarge, desired: 2, purchase_option: block}}
"""


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stacks directory with `prod-a`, whose block ends in ten hours, and `broken`."""
    create(tmp_path)
    end = datetime.now(UTC) + timedelta(hours=10)
    (tmp_path / "Pulumi.prod-a.yaml").write_text(STACK_FILE.format(end=f"{end:%FT%TZ}"))
    (tmp_path / "Pulumi.broken.yaml").write_text("config: [\n")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch):
    """Make `pulumi stack ls` answer with these stacks, or fail."""
    engine = SimpleNamespace(directory=Path("/engine"), executable=Path("/engine/pulumi"))
    monkeypatch.setattr(stack_table, "ensure_pulumi", lambda _: engine)
    asked: list[list[str]] = []

    def answer(*stacks: dict[str, object], error: str = "") -> list[list[str]]:
        def output(_: PulumiCommand, arguments: list[str]) -> str:
            asked.append(arguments)
            if error:
                raise EngineFailedError(error)
            return json.dumps(stacks)

        monkeypatch.setattr(PulumiCommand, "output", output)
        return asked

    return answer


def by_name(found: Listing) -> dict[str, stack_table.ListedStack]:
    return {each.stack: each for each in found.stacks}


def test_the_backend_is_asked_once_for_all_stacks(directory: Path, backend, capsys) -> None:
    time = "2026-11-23T16:49:40Z"
    asked = backend(
        {"name": "prod-a", "resourceCount": 60, "lastUpdate": time},
        {"name": "old", "resourceCount": 5},
        {"name": "destroyed", "resourceCount": 0},
    )
    found = by_name(listing(AwsAccount()))
    assert asked == [["stack", "ls", "--json", "--non-interactive"]]
    own = found["prod-a"]
    assert (own.kind, own.nodes, own.state) == ("eks", ("2 x p5.48xlarge",), "deployed")
    assert own.file == str(directory / "Pulumi.prod-a.yaml")
    assert own.hours_left is not None
    assert 9.9 < own.hours_left <= 10
    assert found["broken"].kind == "unreadable"
    assert "Pulumi.broken.yaml, line" in capsys.readouterr().err
    assert (found["old"].kind, found["old"].state) == ("no stack file", "deployed")
    assert "destroyed" not in found
    assert found["p5-cb"].is_example
    assert found["p5-cb"].state == "not deployed"


def test_what_is_not_known_is_said(directory: Path, backend) -> None:
    backend({"name": "p5-cb", "resourceCount": 60})
    found = listing(AwsAccount())
    assert by_name(found)["p5-cb"].has_unread_block
    said = " ".join(found.notes)
    assert "`./trainyard status STACK` shows whether the last one failed" in said
    assert "`./trainyard check STACK --live` reads it from the account" in said


def test_without_a_backend_the_files_are_listed(directory: Path, backend) -> None:
    backend(error="PULUMI_ACCESS_TOKEN must be set")
    found = listing(AwsAccount())
    assert {each.state for each in found.stacks} == {"unknown"}
    assert "PULUMI_ACCESS_TOKEN must be set" in found.notes[0]


def test_an_example_of_the_same_name_as_a_stack_is_left_out(directory: Path, backend) -> None:
    (directory / "Pulumi.p5-cb.yaml").write_text("config: {}\n")
    backend()
    [found] = [each for each in listing(AwsAccount()).stacks if each.stack == "p5-cb"]
    assert not found.is_example


def test_the_tables_show_the_stacks_apart(directory: Path, backend, capsys) -> None:
    backend({"name": "prod-a", "resourceCount": 60, "lastUpdate": "2026-11-23T16:49:40Z"})
    listing(AwsAccount()).show()
    own, _, examples = capsys.readouterr().out.partition(f"Examples in {ROOT}")
    assert own.startswith(f"Stacks in {directory}")
    assert "2026-11-23 16:49 UTC" in own
    assert "h left" in own
    assert "prod-a" not in examples
    assert "not read" in examples


def test_the_json_document_has_times_as_text(directory: Path, backend) -> None:
    backend({"name": "prod-a", "resourceCount": 60, "lastUpdate": "2026-11-23T16:49:40Z"})
    content = listing(AwsAccount()).as_json()
    assert json.loads(json.dumps(content)) == content | {
        "stacks": json.loads(json.dumps(content["stacks"]))
    }
    [own] = [each for each in content["stacks"] if each["stack"] == "prod-a"]
    assert own["last_update"] == "2026-11-23T16:49:40+00:00"
    assert content["directory"] == str(directory)


def test_a_sandbox_that_does_not_run_has_no_stacks(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAINYARD_SANDBOX", str(tmp_path / "sandbox"))
    found = listing(SandboxAccount())
    assert {each.state for each in found.stacks} == {"not deployed"}
    assert found.notes == ("the sandbox is not running; start it: ./trainyard sandbox start",)
