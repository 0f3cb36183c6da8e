"""Files that a kill during a write leaves next to the state are removed; the state is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.workspace.locks import remove_broken_sidecars


@pytest.fixture
def state_file(tmp_path: Path) -> Path:
    path = tmp_path / "p5-cb.json"
    path.write_text("{}")
    return path


@pytest.mark.parametrize("left", ["", '{"user.cache_control":""', '"md5"'])
def test_attributes_that_no_engine_can_read_go(state_file: Path, left: str) -> None:
    attributes = state_file.with_name("p5-cb.json.attrs")
    attributes.write_text(left)
    assert remove_broken_sidecars(state_file) == [attributes]
    assert sorted(state_file.parent.iterdir()) == [state_file]


def test_whole_attributes_and_a_stack_without_a_state_stay_as_they_are(state_file: Path) -> None:
    attributes = state_file.with_name("p5-cb.json.attrs")
    attributes.write_text('{"user.cache_control":"","md5":"OLsFH0z74Pp+TC9IFOptNg=="}')
    assert remove_broken_sidecars(state_file) == []
    assert remove_broken_sidecars(state_file.with_name("dev.json")) == []
    assert attributes.exists()


def test_the_copy_of_the_state_before_is_looked_at_too(state_file: Path) -> None:
    backup = state_file.with_name("p5-cb.json.bak.attrs")
    backup.touch()
    assert remove_broken_sidecars(state_file) == [backup]
