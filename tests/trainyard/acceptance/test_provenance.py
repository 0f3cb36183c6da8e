"""With which program an acceptance was made, and how its commands are shown."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.accepted_report import accepted
from tests.support.tracked import ROOT, tracked_files
from tools.lock import PROGRAM
from trainyard.acceptance.plan import steps_of
from trainyard.acceptance.provenance import (
    COMMITTED,
    begin_run,
    product_files,
    product_sha256,
    program_facts,
    programs_in,
    runs_in,
    sha256_of,
    shown_command,
)
from trainyard.stack_files.stack_files import find_stack_file

PYTHON = "components/a.py"


HOUSES = ("components", "policies", "sandbox")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A small product."""
    root = tmp_path / "checkout"
    for name in (PYTHON, "src/trainyard/cli/b.py", "tools/c.yaml", "docs/page.md", "Pulumi.a.yaml"):
        write(root / name, f"# {name}\n")
    (root / "src" / "trainyard" / "components").symlink_to("../../components")
    for name in COMMITTED:
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, root / name)
    return root


def package_of(root: Path) -> Path:
    return root / "src" / "trainyard"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def git(root: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    command = ("git", *identity, *arguments)
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout


def committed(root: Path) -> str:
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "a")
    return git(root, "rev-parse", "HEAD").strip()


def test_the_product_is_what_git_tracks_of_the_houses() -> None:
    tracked = [each.as_posix() for each in tracked_files()]
    in_houses = [f"trainyard/{each}" for each in tracked if each.split("/")[0] in HOUSES]
    own = [each.removeprefix("src/") for each in tracked if each.startswith("src/trainyard/")]
    links = {f"trainyard/{each}" for each in (*HOUSES, "requirements")}
    ours = {each for each in (*in_houses, *own) if "/." not in each} - links
    assert product_files(package_of(ROOT)) == sorted(ours)
    assert str(PROGRAM.path) in COMMITTED


def test_an_installed_package_is_the_same_product(checkout: Path, tmp_path: Path) -> None:
    commit = committed(checkout)
    package = tmp_path / "lib" / "site-packages" / "trainyard"
    shutil.copytree(package_of(checkout), package)
    for name in ("docs/page.md", "examples/Pulumi.a.yaml", "requirements/parallelcluster.txt"):
        write(package / name, "")
    clone, installed = program_facts(package_of(checkout)), program_facts(package)
    assert (clone["commit"], installed["commit"]) == (commit, None)
    assert (clone["lock_sha256"], installed["lock_sha256"]) == (
        sha256_of(ROOT / PROGRAM.path),
        None,
    )
    assert clone["sha256"] == installed["sha256"]


def test_the_sum_is_that_of_the_list_of_sha256sum(checkout: Path) -> None:
    names = "\n".join(product_files(package_of(checkout))) + "\n"
    listed = subprocess.run(
        ["xargs", "sha256sum"],
        input=names,
        cwd=checkout / "src",
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    summed = hashlib.sha256(listed.encode()).hexdigest()
    assert product_sha256(package_of(checkout)) == summed


def test_the_documentation_has_the_command_that_prints_the_sum() -> None:
    text = (ROOT / "docs" / "acceptance.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"```bash\n(find -L [^`]+)```", text)
    printed = subprocess.run(
        ["bash", "-c", command], cwd=ROOT / "src", check=True, capture_output=True, text=True
    ).stdout
    assert printed.split()[0] == product_sha256(package_of(ROOT))


@pytest.mark.parametrize("name", [PYTHON, "components/new.py", "src/trainyard/cli/b.py"])
def test_another_product_has_no_commit_and_another_sum(checkout: Path, name: str) -> None:
    committed(checkout)
    before = program_facts(package_of(checkout))
    (checkout / name).write_text("# other\n", encoding="utf-8")
    after = program_facts(package_of(checkout))
    assert after["commit"] is None
    assert after["sha256"] != before["sha256"]


@pytest.mark.parametrize("name", ["trainyard", "requirements.txt", "__main__.py"])
def test_what_starts_the_product_has_the_commit(checkout: Path, name: str) -> None:
    committed(checkout)
    before = program_facts(package_of(checkout))
    (checkout / name).write_text("# other\n", encoding="utf-8")
    after = program_facts(package_of(checkout))
    assert after["commit"] is None
    assert after["sha256"] == before["sha256"]
    changed = after["lock_sha256"] != before["lock_sha256"]
    assert changed == (name == "requirements.txt")


def test_what_is_no_product_changes_neither(checkout: Path) -> None:
    committed(checkout)
    before = program_facts(package_of(checkout))
    for name in ("docs/page.md", "Pulumi.mine.yaml", "src/__pycache__/c.pyc", "src/.hidden"):
        write(checkout / name, "other")
    write(checkout / ".gitignore", "__pycache__/\n.hidden\n")
    assert program_facts(package_of(checkout)) == before


def test_the_commit_of_another_repository_is_not_ours(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as that of the user, in which a package lies, or that of a git hook."""
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    committed(tmp_path)
    assert program_facts(package_of(checkout))["commit"] is None
    commit = committed(checkout)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / ".git"))
    assert program_facts(package_of(checkout))["commit"] == commit


def test_without_git_there_is_no_commit(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    committed(checkout)
    monkeypatch.setenv("PATH", str(checkout))
    assert program_facts(package_of(checkout))["commit"] is None


def test_each_run_is_kept(tmp_path: Path) -> None:
    stack_file = find_stack_file("dev")
    steps = steps_of(accepted(tmp_path))
    for number in (1, 2):
        begin_run(tmp_path, stack_file, steps)
        assert len(runs_in(tmp_path)) == number
    first, second = runs_in(tmp_path)
    assert {**first, "began": ""} == {**second, "began": ""}
    assert first["stack_file"] == {"name": "Pulumi.dev.yaml", "sha256": sha256_of(stack_file.path)}
    assert first["plan"] == [each.name for each in steps]
    assert first["region"] == "us-west-2"
    assert first["instance_types"]
    assert (tmp_path / "runs.json").stat().st_mode & 0o077 == 0


def test_facts_that_cannot_be_written_do_not_prevent_a_run(tmp_path: Path) -> None:
    (tmp_path / "runs.json").mkdir()
    begin_run(tmp_path, find_stack_file("dev"), ())
    assert runs_in(tmp_path) == []


@pytest.mark.parametrize("text", ["", "{", "3", "[3]", "{}", "[" * 100_000])
def test_runs_that_cannot_be_read_are_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "runs.json").write_text(text, encoding="utf-8")
    assert runs_in(tmp_path) == []


STATE: dict[str, Any] = {
    "deployment": {
        "manifest": {"version": "v3.260.0"},
        "resources": [
            {"type": "pulumi:providers:aws", "inputs": {"version": "7.51.1"}},
            {"type": "pulumi:providers:kubernetes", "inputs": {"version": "4.34.2"}},
            {"type": "pulumi:providers:kubernetes", "inputs": {"version": "4.34.2"}},
            {"type": "pulumi:providers:pulumi"},
            {"type": "aws:ec2/vpc:Vpc", "inputs": {"version": "1"}},
        ],
    }
}


def test_engine_and_plugins_are_those_of_the_state(tmp_path: Path) -> None:
    (tmp_path / "diagnosis").mkdir()
    (tmp_path / "diagnosis" / "state.json").write_text(json.dumps(STATE), encoding="utf-8")
    plugins = [("aws", "7.51.1"), ("kubernetes", "4.34.2")]
    assert programs_in(tmp_path) == {
        "engine": "3.260.0",
        "plugins": [{"name": name, "version": version} for name, version in plugins],
    }


@pytest.mark.parametrize(
    "state", ["", "3", "{}", "[]", '{"deployment": 3}', '{"deployment": null}']
)
def test_a_state_without_its_form_says_nothing(tmp_path: Path, state: str) -> None:
    assert programs_in(tmp_path) == {"engine": None, "plugins": []}
    (tmp_path / "diagnosis").mkdir()
    (tmp_path / "diagnosis" / "state.json").write_text(state, encoding="utf-8")
    assert programs_in(tmp_path) == {"engine": None, "plugins": []}


def test_a_command_is_shown_without_the_paths_of_the_machine(tmp_path: Path) -> None:
    changed = str(tmp_path / "changed.yaml")
    assert shown_command(("up", "--sandbox", "dev", "--stack-file", changed), tmp_path) == (
        "./trainyard up --sandbox dev --stack-file changed.yaml"
    )
    home = str(Path.home() / "stacks" / "a.yaml")
    assert shown_command(("up", home), tmp_path) == "./trainyard up '~/stacks/a.yaml'"
    assert shown_command(("run", "dev", "--", "sh", "-c", "a b"), tmp_path).endswith("sh -c 'a b'")


def test_only_a_regular_file_has_a_sum(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    # https://csrc.nist.gov/projects/cryptographic-standards-and-guidelines/example-values
    assert sha256_of(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    (tmp_path / "link").symlink_to(path)
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "none", ".", "a\0b"):
        assert sha256_of(tmp_path / name) is None
    assert sha256_of(path, most_bytes=2) is None
