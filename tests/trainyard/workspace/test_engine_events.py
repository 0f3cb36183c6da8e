"""The errors that the engine displays are read from its event log."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from trainyard.engine.engine_events import EngineError, engine_errors
from trainyard.engine.engine_process import EngineResult, PulumiCommand
from trainyard.engine.listening import LOG_FLAG_VARIABLE, event_log, heard, run_listening

SOURCE = Path(__file__).parents[3] / "src" / "trainyard"
PREFIX = "urn:pulumi:p5-cb::trainyard::trainyard:eks:SelfManagedNodeGroup$"
URN = f"{PREFIX}aws:autoscaling/group:Group::p5-cb-p5-nodes"


def log(*events: dict[str, Any]) -> str:
    return "".join(f"{json.dumps({'diagnosticEvent': each})}\n" for each in events)


def error(message: str, urn: str = URN) -> dict[str, Any]:
    return {"severity": "error", "message": message, "urn": urn}


def test_errors_come_once_in_their_order_and_without_colours() -> None:
    coloured = error("<{%reset%}>VcpuLimitExceeded: no more<{%reset%}>\n")
    said = log(coloured, {"severity": "warning", "message": "no"}, coloured, error("other", ""))
    assert engine_errors(said) == (
        EngineError(URN, "VcpuLimitExceeded: no more"),
        EngineError("", "other"),
    )


def test_a_resource_is_known_by_type_and_name() -> None:
    (found,) = engine_errors(log(error("no")))
    assert (found.resource_type, found.resource_name) == (
        "aws:autoscaling/group:Group",
        "p5-cb-p5-nodes",
    )
    assert EngineError("", "no").resource_type == ""


def test_a_log_that_was_cut_off_is_read_as_far_as_it_goes() -> None:
    whole = log(error("kept"), error("lost"))
    assert [each.message for each in engine_errors(whole[: len(whole) // 2 + 40])] == ["kept"]


@pytest.fixture
def engine(tmp_path: Path) -> PulumiCommand:
    """An engine that writes an error to its event log, and ends with a given exit code."""
    script = tmp_path / "pulumi"
    script.write_text(
        f"#!{sys.executable}\n"
        "import os, sys\n"
        f"assert os.environ['{LOG_FLAG_VARIABLE}'] == 'true'\n"
        "path = sys.argv[sys.argv.index('--event-log') + 1]\n"
        "assert os.stat(os.path.dirname(path)).st_mode & 0o077 == 0\n"
        f"open(path, 'w').write({log(error('broken'))!r})\n"
        "open(sys.argv[0] + '.log', 'w').write(path)\n"
        "sys.exit(int(sys.argv[1]))\n",
        encoding="utf-8",
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return PulumiCommand(script, tmp_path, {})


def test_a_failed_command_comes_with_its_errors_and_leaves_no_log(engine: PulumiCommand) -> None:
    result = run_listening(engine, ["255"])
    assert (result.exit_code, [each.message for each in result.errors]) == (255, ["broken"])
    written = Path(f"{engine.executable}.log").read_text(encoding="utf-8")
    assert not Path(written).parent.exists()


def test_a_command_that_succeeds_has_no_errors(engine: PulumiCommand) -> None:
    assert run_listening(engine, ["0"]).errors == ()


def test_the_event_log_is_asked_for_in_one_place() -> None:
    asking = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if '"--event-log"' in path.read_text(encoding="utf-8")
    ]
    assert asking == ["engine/listening.py"]


def test_an_engine_that_never_began_has_said_nothing() -> None:
    with event_log() as log:
        assert log.text() == ""


def events(*found: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(each)}\n" for each in found)


CREATE = {"metadata": {"op": "create"}}
PREVIEWED = {"summaryEvent": {"isPreview": True, "result": "succeeded"}}
CTRL_C = {"stdoutEvent": {"message": "^C received; cancelling. If you would like to"}}


@pytest.mark.parametrize(
    ("said", "log_text", "declined"),
    [
        ("", events(PREVIEWED), True),
        ("error: confirmation cancelled, not proceeding with the update: interrupt", "", False),
        (
            "error: confirmation cancelled, not proceeding with the update: interrupt",
            events(PREVIEWED),
            True,
        ),
        ("error: the backend does not answer", events(PREVIEWED), False),
        ("", events({"summaryEvent": {"isPreview": True, "result": "failed"}}), False),
        ("", events(PREVIEWED, {"summaryEvent": {"isPreview": False}}), False),
    ],
)
def test_an_answer_of_no_ends_a_successful_preview_without_an_error(
    said: str, log_text: str, *, declined: bool
) -> None:
    failed = EngineResult(1, interrupted=False, said=said)
    assert heard(failed, log_text).declined is declined


def test_a_canceled_operation_is_interrupted_whatever_its_exit_code() -> None:
    """The engine ends a canceled `destroy` with 0 even if resources remain."""
    for exit_code in (0, 1, 255):
        assert heard(EngineResult(exit_code, interrupted=False), events(CTRL_C)).interrupted
    assert not heard(EngineResult(0, interrupted=True), events(PREVIEWED)).interrupted


def test_only_changes_of_an_update_have_begun() -> None:
    planned = {"resourcePreEvent": {**CREATE, "planning": True}}
    same = {"resourcePreEvent": {"metadata": {"op": "same"}}}
    assert not heard(EngineResult(1, interrupted=True), events(planned, same)).begun
    begun = events(planned, {"resourcePreEvent": CREATE})
    assert heard(EngineResult(1, interrupted=True), begun).begun
