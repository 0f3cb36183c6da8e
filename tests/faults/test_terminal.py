"""Text from outside is displayed in terminals, CI logs and code scanning, and never interpreted."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from kubernetes.client import ApiException

from tests.support.text_fields import COMMANDS, MARKUP, TEMPLATES, TERMINAL
from trainyard.checks.preflight_table import print_preflight
from trainyard.cli import console
from trainyard.cli.panel import FactsTable, print_panel
from trainyard.components.account.check import Row
from trainyard.components.architectures.preflight import Preflight
from trainyard.components.config.problems import ConfigError, Problem
from trainyard.components.plain_text import legible, printable, shell_word
from trainyard.diagnosis.rollout import observe
from trainyard.findings.finding import Finding
from trainyard.findings.sarif import Run, sarif

HOSTILE = [text for text in (*TERMINAL, *MARKUP, *TEMPLATES) if text not in ("\r", "\xa0")]
OBEYED = ("\x1b", "\x9b", "\x00", "\x07", "\u202e", "\u200f", "\u2028", "\n::error", "##[error]")


def is_obeyed(shown: str) -> bool:
    return any(mark in f"\n{shown}" for mark in OBEYED)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_message_a_problem_and_an_answer_obey_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    # As at a terminal, where click does not strip anything.
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_: False)
    for write in (console.answer, console.progress, console.problem):
        write(f"a\n{text}")
    captured = capsys.readouterr()
    told = captured.out + captured.err.replace("\x1b[2m", "").replace("\x1b[0m", "")
    for style in ("\x1b[31m", "\x1b[1m"):
        told = told.replace(style, "")
    assert not is_obeyed(told)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_refused_value_is_shown_and_not_obeyed(text: str) -> None:
    problem = Problem(path=f"x{text}", problem=f"\n{text}", found=text, remedy=text, allowed=text)
    assert not is_obeyed(str(ConfigError([problem], stack_file="Pulumi.x.yaml")))


@pytest.mark.parametrize("text", HOSTILE)
def test_a_panel_shows_markup_as_it_is(capsys: pytest.CaptureFixture[str], text: str) -> None:
    table = FactsTable()
    table.add_fact(f"name {text}", f"fact {text}")
    print_panel(f"title {text}", table, changes={}, commands=[f"do {text}"])
    shown = capsys.readouterr().out
    assert not is_obeyed(shown)
    assert shown.count(legible(f"x {text}")[1:]) == 4


@pytest.mark.parametrize("text", HOSTILE)
def test_a_preflight_shows_an_answer_as_it_is(
    capsys: pytest.CaptureFixture[str], text: str
) -> None:
    row = Row(subject=f"s {text}", asked=f"a {text}", verdict="ok", found=f"f {text}")
    found = Preflight(
        account_id="1",
        caller_arn=f"arn {text}",
        region="us-west-2",
        plan=None,
        rows=(row,),
        problems=(),
        warnings=(),
    )
    print_preflight("x", found)
    shown = capsys.readouterr().out
    assert not is_obeyed(shown)
    assert shown.count(legible(f"x {text}")[1:]) == 4


def test_code_scanning_is_given_no_link_that_a_file_made() -> None:
    """SARIF 2.1.0, section 3.11.6: `[text](target)` in a message is a link."""
    finding = Finding(
        rule="schema/name",
        stage="schema",
        level="error",
        message="see [this](https://evil.example) and node_groups[0]",
        stack="x",
        file=Path("/x/Pulumi.x.yaml"),
    )
    run = Run(category="check", findings=[finding], succeeded=True, root=Path("/x"))
    (result,) = json.loads(json.dumps(sarif(run)))["runs"][0]["results"]
    assert result["message"]["text"] == "see \\[this](https://evil.example) and node_groups[0]"


@pytest.mark.parametrize("text", [*COMMANDS, *TERMINAL, "", "a b", "~x", "*"])
def test_a_word_that_a_shell_would_obey_is_in_quotes(text: str) -> None:
    assert shell_word(text).startswith("'")


@pytest.mark.parametrize("text", ["us-west-2", "Pulumi.x.yaml", "cr-…", "a@b:c=d,e%f+g/h"])
def test_a_word_that_needs_no_quotes_has_none(text: str) -> None:
    assert shell_word(text) == text


def test_letters_of_every_language_are_shown() -> None:
    assert printable("größe 東京") == legible("größe 東京") == "größe 東京"


def test_a_cluster_on_this_machine_is_not_asked_through_a_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(403)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
            """Write nothing for each request."""

    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://me:secret@127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        with pytest.raises(ApiException, match="403"):
            observe(kubeconfig(f"http://127.0.0.1:{server.server_port}"))
    finally:
        server.shutdown()
        server.server_close()


def kubeconfig(address: str) -> str:
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "x",
            "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
            "clusters": [{"name": "x", "cluster": {"server": address}}],
            "users": [{"name": "x", "user": {}}],
        }
    )
