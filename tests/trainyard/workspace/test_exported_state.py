"""The state of a stack is exported in one place, with secrets only if they are needed."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import trainyard_state
from tests.support.tracked import ROOT
from trainyard.workspace.exported_state import (
    STATE_NAMES,
    NewerStateError,
    content_of,
    exported_state,
    newer_state,
    refuse_newer_state,
    resources_of,
)

VPC = {"urn": "urn:pulumi:p5-cb::trainyard::aws:ec2/vpc:Vpc::p5-cb-vpc", "id": "vpc-1"}


class Engine:
    """A command that returns its arguments as the state."""

    def output(self, arguments: Sequence[str]) -> str:
        return json.dumps({"deployment": {"resources": [VPC], "asked": arguments}})


@pytest.mark.parametrize(("show_secrets", "flags"), [(False, []), (True, ["--show-secrets"])])
def test_the_state_comes_with_secrets_only_where_they_are_asked_for(
    show_secrets: bool, flags: list[str]
) -> None:
    engine: Any = Engine()
    found = exported_state(engine, "p5-cb", show_secrets=show_secrets)
    assert content_of(found)["asked"] == ["stack", "export", *flags, "--stack", "p5-cb"]
    assert resources_of(found) == [VPC]


@pytest.mark.parametrize("empty", [{}, {"deployment": None}, {"deployment": {"resources": None}}])
def test_a_stack_that_was_never_deployed_has_no_resources(empty: dict[str, Any]) -> None:
    assert resources_of(empty) == []


def test_no_other_module_exports_a_state() -> None:
    asking = [
        path.relative_to(ROOT).as_posix()
        for path in Path(ROOT, "src").rglob("*.py")
        if '"export"' in path.read_text(encoding="utf-8")
    ]
    assert asking == ["src/trainyard/workspace/exported_state.py"]


def state_with(name: str) -> dict[str, Any]:
    """Return a state whose entry in `aws-auth` has the provider of that name."""
    provider = base64.b64encode(f"\x80\x04 trainyard_state:{name}\x94".encode("latin-1")).decode()
    entry = {"urn": "urn:entry", "outputs": {"__provider": provider}}
    return {"deployment": {"resources": [VPC, entry]}}


def test_a_state_of_a_newer_version_is_refused_before_anything_is_deleted() -> None:
    refuse_newer_state(state_with("AWS_AUTH"), "p5-cb")
    with pytest.raises(NewerStateError, match=r"p5-cb: it names LATER, .*Nothing was deleted"):
        refuse_newer_state(state_with("LATER"), "p5-cb")


def test_the_module_of_states_refuses_what_it_does_not_have_with_the_same_words() -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(trainyard_state, "LATER")  # noqa: B009 - the type checker knows that it is missing
    assert str(caught.value) == newer_state("this stack", "LATER")
    assert "a newer version of trainyard has written the state of this stack" in str(caught.value)


def test_the_names_of_states_are_those_of_their_module() -> None:
    ours = {name for name, value in vars(trainyard_state).items() if name.isupper() and value}
    assert ours - {"_SOURCE"} == STATE_NAMES
