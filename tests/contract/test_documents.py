"""Paths and commands in the documents exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.tracked import ROOT, tracked
from tools.clone import COMMANDS
from trainyard.components.catalog.versions import (
    DEFAULT_KUBERNETES_VERSION,
    EKS_VERSIONS,
    STANDARD_SUPPORT_ENDS,
)
from trainyard.sandbox.engine import pins
from trainyard.sandbox.kubernetes.emulation import EMULATED_VERSIONS
from trainyard.stack_files.stack_files import stack_names

DOCUMENTS = [path for path in tracked(".md") if "goldens" not in path.parts]
# A link target without a scheme, and inline code that looks like a path of this repository.
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)")
FOLDERS = "components|policies|sandbox|tools|tests|docs|src"
CODE_PATH = re.compile(rf"`((?:{FOLDERS})/[A-Za-z0-9_./-]+)`")
COMMAND = re.compile(r"\./trainyard ([a-z]+)")


def text(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_links_lead_to_files_that_exist(path: Path) -> None:
    targets = LINK.findall(text(path))
    assert not [t for t in targets if not (ROOT / path.parent / t).exists()]


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_paths_in_inline_code_exist(path: Path) -> None:
    named = {name.rstrip(".") for name in CODE_PATH.findall(text(path))}
    found = {name for name in named if (ROOT / name).exists() or (ROOT / f"{name}.py").exists()}
    assert not named - found


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_commands_in_the_documents_exist(path: Path) -> None:
    assert not set(COMMAND.findall(text(path))) - set(COMMANDS)


def test_every_picture_is_in_a_document() -> None:
    shown = "".join(text(path) for path in DOCUMENTS)
    pictures = (ROOT / "docs/pictures").iterdir()
    assert not [path.name for path in pictures if f"pictures/{path.name}" not in shown]


def test_every_pinned_kubernetes_version_is_in_the_page_on_upgrades() -> None:
    page = text(ROOT / "docs/upgrades.md")
    for minor, version in EKS_VERSIONS.items():
        row = f"| {minor} | {STANDARD_SUPPORT_ENDS[minor]} | {version.ami_release_version} |"
        assert row in page
    assert f"kubernetes_version' {DEFAULT_KUBERNETES_VERSION}\n" in page


def test_the_versions_of_the_sandboxs_kubernetes_are_in_its_page() -> None:
    row = (
        f"version {pins.KUBERNETES_VERSION}, which emulates {EMULATED_VERSIONS[0]} to "
        f"{EMULATED_VERSIONS[-1]}"
    )
    assert row in text(ROOT / "docs/sandbox.md")


def test_every_stack_stands_in_the_readme() -> None:
    assert not [stack for stack in stack_names() if f"`{stack}`" not in text(Path("README.md"))]
