"""The copies of Go modules from which `pulumi-resource-aws` is built."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from trainyard.sandbox.engine import EngineError, aws_plugin_source
from trainyard.sandbox.engine.go_source import Source, SourceModule, imports

ENGINE = Path(aws_plugin_source.__file__).parent
MODULE = SourceModule(
    path="example.com/fork",
    version="v1.0.0",
    hash="h1:x=",
    declared_path="example.com/original",
    roots=("root",),
)


@pytest.fixture
def source(tmp_path: Path) -> Source:
    directory = tmp_path / "module"
    files = {
        "go.mod": "module example.com/original\n",
        "LICENSE": "free\n",
        "root/a.go": 'package root\n\nimport (\n\t"os"\n\n\tkept "example.com/original/kept"\n)\n',
        "root/a_test.go": 'package root\n\nimport "example.com/original/tests"\n',
        "kept/k.go": "package kept\n\n//go:embed text.txt\nvar text string\n",
        "kept/text.txt": "embedded\n",
        "dropped/d.go": "package dropped\n",
    }
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Source(MODULE, directory)


def copied(source: Source, target: Path) -> set[str]:
    source.copy(target)
    return {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()}


def test_a_copy_holds_what_the_roots_need(source: Source, tmp_path: Path) -> None:
    assert copied(source, tmp_path / "copy") == {
        *("go.mod", "LICENSE", "root/a.go", "kept/k.go", "kept/text.txt")
    }


def test_an_emptied_file_is_left_out_and_an_added_one_is_copied(
    source: Source, tmp_path: Path
) -> None:
    source.write("kept/k.go", "")
    source.write("kept/new.go", 'package kept\n\nimport "example.com/original/dropped"\n')

    names = copied(source, tmp_path / "copy")

    assert "kept/k.go" not in names
    assert {"kept/new.go", "dropped/d.go"} <= names


@pytest.mark.parametrize(("old", "times"), [("nothing like this", 0), ("package", 1), ("o", 13)])
def test_an_edit_that_does_not_find_its_one_place_fails(
    source: Source, old: str, times: int
) -> None:
    if times == 1:
        source.replace("root/a.go", old, "PACKAGE")
        assert source.read("root/a.go").startswith("PACKAGE root")
        return
    with pytest.raises(
        EngineError, match=r"root/a\.go of example\.com/fork v1\.0\.0 is not as exp"
    ):
        source.replace("root/a.go", old, "x")


def test_imports_are_read_from_both_forms() -> None:
    assert imports('package a\n\nimport "os"\n') == ["os"]
    assert imports('package a\n\nimport (\n\t"os"\n\tx "b.c/d"\n)\nvar s = "no/import"\n') == [
        "os",
        "b.c/d",
    ]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ('{"Dir": "/tmp", "Sum": "h1:other="}', "is not the pinned one: its hash is h1:other="),
        ('{"Error": "403 Forbidden"}', "cannot be had: 403 Forbidden"),
        ("no JSON", "cannot be had"),
    ],
)
def test_a_module_that_is_not_the_pinned_one_is_refused(
    commands: Callable[[str, str], Path], tmp_path: Path, answer: str, words: str
) -> None:
    go = commands("go", f"echo '{answer}'")

    with pytest.raises(EngineError, match=words):
        aws_plugin_source.write_sources(tmp_path, str(go))


def required(module: str) -> dict[str, str]:
    text = (ENGINE / module / "go.mod").read_text()
    return dict(re.findall(r"^\s*(?:require )?([\w./~-]+\.[\w./~-]+) (v\S+)", text, re.MULTILINE))


@pytest.mark.parametrize("module", ["aws_plugin", "language_host"])
def test_what_the_engine_links_too_has_its_version_there(module: str) -> None:
    """Go then compiles it once for all three: a third of the time of the first command."""
    engine = required("pulumi")
    differ = {
        path: (version, engine[path])
        for path, version in required(module).items()
        if path in engine and engine[path] != version
    }

    assert differ == {}


def test_every_service_of_the_mapping_is_kept() -> None:
    mapping = (ENGINE / "aws_plugin" / "mapping.go").read_text()
    modules = set(re.findall(r'"([a-z0-9]+):[A-Z]', mapping))
    elsewhere = {"cloudwatch": "logs", "vpc": "ec2"}

    assert {elsewhere.get(name, name) for name in modules} <= aws_plugin_source.SERVICES
