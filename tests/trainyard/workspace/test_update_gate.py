"""The update waits for a verdict on its preview."""

import json
import os
import threading
from pathlib import Path

import pytest

from tests.support.steps import event
from trainyard.components.update_gate import (
    GRANTED,
    LAUNCHER,
    VERDICT,
    ask_early,
    granted,
    granted_early,
)
from trainyard.workspace.update_gate import update_gate

TYPE = "aws:ec2/vpc:Vpc"
URN = f"urn:pulumi:p5-cb::trainyard::{TYPE}::p5-cb-network"
END = json.dumps({"sequence": 9, "cancelEvent": {}}) + "\n"


def log_of(gate):
    flag, path = gate.arguments
    assert flag == "--event-log"
    return Path(path)


def write(path, *lines):
    with path.open("w", encoding="utf-8") as log:
        for line in lines:
            log.write(line)
            log.flush()


@pytest.mark.parametrize("answer", [True, False])
def test_the_program_gets_the_verdict_on_the_steps_of_the_preview(answer):
    judged = []

    def judge(steps):
        judged.append([step.operation for step in steps])
        return answer

    with update_gate(judge) as gate:
        line = event("delete", URN, TYPE, old={}) + "\n"
        write(log_of(gate), line[:40], line[40:], END)
        assert granted(gate.environment) is answer
    assert judged == [["delete"]]


def test_the_log_of_the_update_is_another_file():
    with update_gate(lambda _steps: True) as gate:
        write(log_of(gate), event("create", URN, TYPE, new={}) + "\n", END)
        assert granted(gate.environment)
        assert not log_of(gate).exists()
        write(log_of(gate), "the update\n")
        gate.close()
        assert gate.log() == "the update\n"


def test_a_watcher_sees_the_events_of_the_preview_and_of_the_update():
    class Watcher:
        def __init__(self):
            self.seen = []

        def see(self, line):
            self.seen.append(line)

    watcher = Watcher()
    with update_gate(lambda _steps: True, watcher=watcher) as gate:
        write(log_of(gate), "preview\n", END)
        assert granted(gate.environment)
        write(log_of(gate), "update\n", END)
        gate.close()
        assert gate.log() == f"update\n{END}"
    assert watcher.seen == ["preview", END.strip(), "update", END.strip()]


def test_a_preview_that_fails_is_judged_by_what_it_has_said():
    judged = []
    with update_gate(lambda steps: bool(judged.append(steps))) as gate:
        write(log_of(gate), event("delete", URN, TYPE, old={}) + "\n")
    assert len(judged[0]) == 1
    assert "resourcePreEvent" in gate.log()


def test_an_engine_that_never_began_leaves_nothing_to_judge():
    judged = []
    with update_gate(lambda steps: bool(judged.append(steps))):
        pass
    assert judged == [()]


def test_a_judge_that_fails_lets_nothing_begin():
    def judge(_steps):
        raise LookupError("no such key")

    with update_gate(judge) as gate:
        write(log_of(gate), END)
        assert not granted(gate.environment)
    assert isinstance(gate.failure, LookupError)


@pytest.mark.parametrize("answer", [True, False])
def test_who_asks_when_all_steps_are_made_is_answered_before_the_preview_ends(answer):
    judged = []

    def judge(steps):
        judged.append([step.operation for step in steps])
        return answer

    with update_gate(judge, fails_preview=True) as gate, log_of(gate).open("w") as log:
        log.write(event("delete", URN, TYPE, old={}) + "\n")
        log.flush()
        ask_early(gate.environment)
        assert granted_early(gate.environment) is answer
        log.write(END)
        log.flush()
        assert granted(gate.environment) is answer
    # A refusal is final; a permission is checked again, because the log may have lagged.
    assert judged == [["delete"], ["delete"]][: 2 if answer else 1]


def test_what_the_log_says_after_an_early_answer_still_keeps_the_update_from_beginning():
    with update_gate(lambda steps: not steps, fails_preview=True) as gate:
        with log_of(gate).open("w") as log:
            ask_early(gate.environment)
            assert granted_early(gate.environment)
            log.write(event("delete", URN, TYPE, old={}) + "\n" + END)
        assert not granted(gate.environment)


def test_a_preview_alone_is_never_failed():
    """`preview` warns of changes that `up` would refuse, but shows everything."""
    with update_gate(lambda _steps: False) as gate:
        ask_early(gate.environment)
        assert granted_early(gate.environment)


def test_a_judge_that_fails_early_fails_the_preview():
    def judge(_steps):
        raise LookupError("no such key")

    with update_gate(judge, fails_preview=True) as gate:
        write(log_of(gate), "{}\n")
        ask_early(gate.environment)
        assert not granted_early(gate.environment)
    assert isinstance(gate.failure, LookupError)


def test_a_program_whose_launcher_is_gone_does_not_begin(tmp_path):
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    environment = {VERDICT: str(tmp_path / "verdict"), LAUNCHER: str(child)}
    assert not granted(environment)


def test_a_verdict_that_comes_later_is_waited_for(tmp_path):
    path = tmp_path / "verdict"
    environment = {VERDICT: str(path), LAUNCHER: str(os.getpid())}
    answers = []
    program = threading.Thread(target=lambda: answers.append(granted(environment)))
    program.start()
    assert not answers
    late = tmp_path / "new"
    late.write_text(GRANTED, encoding="utf-8")
    late.replace(path)
    program.join()
    assert answers == [True]
