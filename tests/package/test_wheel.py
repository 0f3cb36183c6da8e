"""The wheel has what a user needs, and its commands work without a clone."""

from __future__ import annotations

import json
import re
import subprocess
import zipfile
from pathlib import Path

import pytest
import yaml

from tests.package.support.user import User
from tests.support.tracked import ROOT, tracked
from trainyard.acceptance.provenance import program_facts
from trainyard.stack_files.stack_files import names_in

CORPUS = ROOT / "tests" / "trainyard" / "importing" / "corpus"


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def test_nothing_is_installed_under_another_name(names: set[str]) -> None:
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "trainyard",
        "trainyard_state.py",
    }


def test_every_module_of_the_houses_is_in_the_wheel(names: set[str]) -> None:
    folders = {"components", "policies", "sandbox"}
    linked = {f"trainyard/{path}" for path in tracked(".py") if path.parts[0] in folders}
    own = {str(path.relative_to("src")) for path in tracked(".py") if path.parts[0] == "src"}
    assert linked | own <= names


def test_it_has_the_examples_and_the_documents_that_texts_name(names: set[str]) -> None:
    examples = {f"trainyard/examples/Pulumi.{stack}.yaml" for stack in names_in(ROOT)}
    documents = {f"trainyard/docs/{name}.md" for name in ("config", "capacity", "troubleshooting")}
    assert examples | documents | {"trainyard/docs/schema/stack.schema.json"} <= names


def test_it_has_at_most_3_mb(wheel: Path) -> None:
    assert wheel.stat().st_size <= 3_000_000


def test_it_is_the_same_product_as_the_clone(user: User) -> None:
    code = "from trainyard.acceptance import provenance as p; print(p.program_facts()['sha256'])"
    command = [user.python, "-c", code]
    said = subprocess.run(
        command, env=user.environment, check=True, capture_output=True, text=True
    ).stdout
    assert said.strip() == program_facts()["sha256"]


def test_commands_are_named_as_they_are_typed(user: User) -> None:
    said = user.must("--help")
    assert said.startswith("Usage: trainyard [OPTIONS] COMMAND")
    assert "\n  test " not in said
    refused = user.run("check", "nothing-like-it").stderr
    assert "./trainyard" not in refused
    assert "there is no stack 'nothing-like-it'" in refused


def test_a_stack_file_and_one_of_another_tool_are_checked(user: User) -> None:
    assert user.must("check", "dev", "--sandbox").endswith("dev: ok\n")
    file = CORPUS / "eksctl" / "private-with-everything.yaml"
    findings = json.loads(user.run("lint", str(file), "--json").stdout)
    in_clone = subprocess.run(
        [ROOT / "trainyard", "lint", str(file), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert findings == json.loads(in_clone.stdout)


def test_init_writes_a_project_that_pins_the_package(user: User, wheel: Path) -> None:
    said = user.must("init", "prod-a", "--kind", "network", "--region", "us-west-2", "--yes")
    assert "  trainyard check prod-a" in said
    written = {
        str(path.relative_to(user.directory))
        for path in user.directory.rglob("*")
        if path.is_file()
    }
    assert written == {
        *(".gitignore", "Pulumi.yaml", "Pulumi.prod-a.yaml", "__main__.py", "requirements.txt"),
        *("policies/PulumiPolicy.yaml", "policies/__main__.py"),
    }
    project = yaml.safe_load((user.directory / "Pulumi.yaml").read_text())
    assert project["name"] == yaml.safe_load((ROOT / "Pulumi.yaml").read_text())["name"]
    assert "main" not in project
    assert project["runtime"]["options"] == {"toolchain": "pip", "virtualenv": ".venv"}
    pin = (user.directory / "requirements.txt").read_text()
    assert pin == f"trainyard @ {wheel.as_uri()}\n"
    file = (user.directory / "Pulumi.prod-a.yaml").read_text()
    assert "./trainyard" not in file
    assert user.must("check", "prod-a").endswith("prod-a: ok\n")


def test_a_directory_of_a_clone_goes_on_and_says_how_to_move(user: User) -> None:
    content = {"name": "trainyard", "main": "/srv/clone", "runtime": "python"}
    (user.directory / "Pulumi.yaml").write_text(yaml.safe_dump(content))
    (user.directory / "Pulumi.dev.yaml").write_bytes((ROOT / "Pulumi.dev.yaml").read_bytes())
    assert user.must("check", "dev", "--sandbox").endswith("dev: ok\n")


def test_a_text_names_a_document_that_its_reader_can_open(user: User) -> None:
    said = user.must("capacity", "--help").replace("\n", "").replace(" ", "")
    page = Path(re.findall(r"/[^()]*?/docs/capacity\.md", said)[0])
    assert page.read_text().startswith("# ")
