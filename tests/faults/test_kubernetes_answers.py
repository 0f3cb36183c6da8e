"""Any answers instead of the API server's lead to the state, or to a message that it is unknown.

Run it manually with more examples: `TRAINYARD_FUZZ_EXAMPLES=5000 pytest
tests/faults/test_kubernetes_answers.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.faults.support.fuzzing import (
    DROPPED,
    ODD,
    examples,
    paths,
    put,
)
from tests.support.api_server import EXPECTED, PLUGIN, ROLE, ApiServer, answers, api_server
from tests.support.text_fields import COMMANDS, MARKUP, TERMINAL
from trainyard.cli import console
from trainyard.components.runtime.aws_auth_config_map import AwsAuthConfigMap, AwsAuthError
from trainyard.components.runtime.aws_auth_plan import MapRolesError
from trainyard.diagnosis.rollout import ClusterState, look_at, nodes_not_ready, plugins_not_ready

SOUND = answers()
PLACES = [path for path in paths(SOUND) if path]
ENDED = "its last run ended with 1"
LONGEST = 2000
"""Maximum number of characters of one sentence, whatever text from outside it quotes."""


@pytest.fixture(scope="module")
def server() -> Iterator[ApiServer]:
    with api_server() as running:
        yield running


def sentences(state: ClusterState) -> list[str]:
    """Return all messages about a cluster with missing parts."""
    return [
        *state.missing(EXPECTED),
        *nodes_not_ready(state, "kubectl"),
        *plugins_not_ready([PLUGIN], state, "kubectl"),
    ]


def changed(path: tuple[Any, ...], value: Any) -> Any:
    return {**SOUND, **put(SOUND, path, value)} if value is not DROPPED else put(SOUND, path, value)


def test_what_is_there_is_seen(server: ApiServer) -> None:
    """Otherwise every state would be unknown, and the other tests would prove little."""
    server.said = SOUND
    state, silence = look_at(server.kubeconfig)
    assert state is not None
    assert silence == ""
    assert state.missing(EXPECTED) == []
    assert state.aws_auth_roles == (ROLE,)
    assert [line.partition(";")[0] for line in sentences(state)] == [
        "broken has joined and is not Ready: Kubelet: words",
        f"{PLUGIN} on broken: pod plugin-broken does not run: CrashLoopBackOff: words, {ENDED}",
        "  kubectl --namespace kube-system describe pod plugin-broken",
        "  kubectl --namespace kube-system logs plugin-broken --previous",
    ]


def test_one_odd_answer_is_a_state_or_a_silence(
    server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    @settings(max_examples=examples(100))
    @given(st.sampled_from(PLACES), st.sampled_from(ODD))
    def judged(path: tuple[Any, ...], value: Any) -> None:
        server.said = changed(path, value)
        state, silence = look_at(server.kubeconfig)
        for sentence in [silence] if state is None else sentences(state):
            assert len(sentence) < LONGEST
            console.progress(sentence)
        assert "\x1b[2J" not in capsys.readouterr().err

    judged()


def test_an_object_without_its_status_hides_no_other(server: ApiServer) -> None:
    """A pod or a node that was created a moment ago."""
    for kind in ("nodes", "pods", "daemonsets"):
        for key in ("status", "spec"):
            if key in SOUND[kind]["items"][-1]:
                server.said = changed((kind, "items", len(SOUND[kind]["items"]) - 1, key), DROPPED)
                state, _ = look_at(server.kubeconfig)
                assert state is not None
                assert state.missing(EXPECTED) == []


@pytest.mark.parametrize("text", [*TERMINAL, *MARKUP, *COMMANDS])
def test_what_a_kubelet_says_is_shown_and_not_obeyed(
    server: ApiServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    text: str,
) -> None:
    # As at a terminal, where click does not strip anything.
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_: False)
    server.said = answers(f"a{text}")
    state, _ = look_at(server.kubeconfig)
    assert state is not None
    console.answer("\n".join(sentences(state)))
    shown = capsys.readouterr().out
    assert "CrashLoopBackOff" in shown
    assert all(line.isprintable() for line in shown.replace("\xa0", " ").split("\n"))
    assert "\n::" not in shown


def test_a_message_without_end_is_shown_from_its_beginning(server: ApiServer) -> None:
    server.said = answers("words " * 100_000)
    state, _ = look_at(server.kubeconfig)
    assert state is not None
    found = sentences(state)
    assert "Kubelet: words words" in found[0]
    assert max(map(len, found)) < LONGEST


@pytest.mark.parametrize("count", ["1k", "8", "8000m", "1e1"])
def test_a_number_of_devices_may_have_a_suffix(server: ApiServer, count: str) -> None:
    path = ("nodes", "items", 0, "status", "allocatable", "nvidia.com/gpu")
    server.said = changed(path, count)
    state, _ = look_at(server.kubeconfig)
    assert state is not None
    assert state.missing(EXPECTED) == []


@pytest.mark.parametrize(
    "text", ["", "x", "{", "- x", "- []", "- rolearn: null", "a: b", "!!python/name:x", "- *a"]
)
def test_an_aws_auth_that_somebody_broke_names_no_role(server: ApiServer, text: str) -> None:
    server.said = changed(("configmaps", "items", 0, "data", "mapRoles"), text)
    state, _ = look_at(server.kubeconfig)
    assert state is not None
    assert state.aws_auth_roles == ()


def test_one_odd_config_map_is_an_entry_or_an_error_in_words(server: ApiServer) -> None:
    """The object that the program reads before it writes."""
    (sound,) = SOUND["configmaps"]["items"]
    places = [path for path in paths(sound) if path]

    @settings(max_examples=examples(40))
    @given(st.sampled_from(places), st.sampled_from(ODD))
    def judged(path: tuple[Any, ...], value: Any) -> None:
        server.said = {"aws-auth": put(sound, path, value)}
        assert all(line.isprintable() for line in words_of(server).splitlines())

    judged()
    server.said = {"aws-auth": "<html>"}
    assert "what is no ConfigMap" in words_of(server)


def words_of(server: ApiServer) -> str:
    """Return why the entry of a role cannot be read; empty if it can."""
    try:
        AwsAuthConfigMap(server.kubeconfig, give_up_seconds=0).find(ROLE)
    except (AwsAuthError, MapRolesError) as error:
        return str(error)
    return ""
