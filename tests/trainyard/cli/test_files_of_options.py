"""Every option that names a file is tried before its command begins: one line, and exit code 2."""

from __future__ import annotations

import os
import typing
from collections.abc import Callable, Iterator
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.models import ArgumentInfo, OptionInfo

from trainyard.cli import options
from trainyard.cli.command_line import COMMANDS

READ = {options.input_file, options.input_path}
WRITTEN = {options.output_file, options.output_directory}
NO_PARSER = {
    ("lint", "files"): "a file that cannot be read is a finding about it, among those of others",
}


class Named(NamedTuple):
    """An option or argument that names a file."""

    command: tuple[str, ...]
    parameter: str
    option: str
    """Empty for an argument."""
    parser: Any


def functions() -> Iterator[tuple[tuple[str, ...], Callable[..., Any]]]:
    """Yield each command with the function that implements it."""
    for name, row in COMMANDS.items():
        module = import_module(row.full_name)
        if row.is_group:
            for each in module.app.registered_commands:
                yield (name, each.name or each.callback.__name__.rstrip("_")), each.callback
        else:
            yield (name,), getattr(module, name, None) or getattr(module, f"{name}_")


def named_files() -> Iterator[Named]:
    for command, function in functions():
        for name, hint in typing.get_type_hints(function, include_extras=True).items():
            if typing.get_origin(hint) is not typing.Annotated or "Path" not in str(hint):
                continue
            (info,) = hint.__metadata__
            assert isinstance(info, ArgumentInfo | OptionInfo)
            option = ""
            if isinstance(info, OptionInfo):
                # In `Annotated`, the first name of an option stands where its default was.
                names = [each for each in (info.default, *info.param_decls) if each is not ...]
                option = next(iter(names), f"--{name}")
            yield Named(command, name, option, info.parser)


FILES = [*named_files()]
OUTPUTS = [each for each in FILES if each.parser in WRITTEN]
INPUTS = [each for each in FILES if each.parser in READ]


def arguments(named: Named, path: Path) -> list[str]:
    """Return a command line with the path, and something for each argument that is required."""
    function = dict(functions())[named.command]
    hints = typing.get_type_hints(function, include_extras=True)
    required = [
        "dev"
        for name, parameter in signature(function).parameters.items()
        if parameter.default is parameter.empty
        and isinstance(getattr(hints[name], "__metadata__", (None,))[0], ArgumentInfo)
    ]
    given = [named.option, str(path)] if named.option else [str(path)]
    return [*named.command, *given, *required]


def name_of(named: Named) -> str:
    return " ".join((*named.command, named.option or named.parameter))


def test_every_option_that_names_a_file_is_tried() -> None:
    untried = {(" ".join(each.command), each.parameter) for each in FILES if each.parser is None}
    assert untried == set(NO_PARSER)
    assert {each.parser for each in FILES} - {None} == READ | WRITTEN
    assert len(OUTPUTS) >= 9
    assert len(INPUTS) >= 25


def refused(run: Callable[..., Any], named: Named, path: Path) -> str:
    """Return the line with which a command refuses a path."""
    result = run(*arguments(named, path))
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: "), line
    assert str(path) in line
    return line


@pytest.mark.parametrize("named", OUTPUTS, ids=name_of)
def test_a_place_that_cannot_be_written_is_refused_first(
    named: Named, trainyard: Callable[..., Any], tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("kept")
    below = refused(trainyard, named, file / "x.svg")
    assert "below a file" in below or f"{file} is not a directory" in below
    # As root, nothing else refuses a new file.
    assert "no file can be created in /proc" in refused(trainyard, named, Path("/proc/x.svg"))
    if named.parser is options.output_file:
        said = refused(trainyard, named, tmp_path / "none" / "x.svg")
        assert f"the directory {tmp_path}/none does not exist" in said
        assert "it is a directory" in refused(trainyard, named, tmp_path)
        loop = tmp_path / "loop.svg"
        loop.symlink_to(loop)
        refused(trainyard, named, loop)
        loop.unlink()
    else:
        assert "is not a directory" in refused(trainyard, named, file)
    assert [*tmp_path.iterdir()] == [file]
    assert file.read_text() == "kept"


@pytest.mark.parametrize("named", INPUTS, ids=name_of)
def test_a_file_that_cannot_be_read_is_refused_first(
    named: Named, trainyard: Callable[..., Any], tmp_path: Path
) -> None:
    assert "does not exist" in refused(trainyard, named, tmp_path / "none.yaml")
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    assert "it is a pipe, not a regular file" in refused(trainyard, named, pipe)
    assert "it is a device, not a regular file" in refused(trainyard, named, Path("/dev/zero"))
    if named.parser is options.input_file:
        assert "it is a directory" in refused(trainyard, named, tmp_path)


def test_lint_says_of_each_file_why_it_is_not_read(
    trainyard: Callable[..., Any], tmp_path: Path
) -> None:
    pipe, good = tmp_path / "pipe.yaml", tmp_path / "latin.yaml"
    os.mkfifo(pipe)
    good.write_bytes("a: é".encode("latin-1"))
    result = trainyard("lint", pipe, "/dev/zero", tmp_path / "none.yaml", good)
    assert result.exit_code == 2
    for said in (
        f"{pipe} cannot be read: it is a pipe, not a regular file",
        "/dev/zero cannot be read: it is a device, not a regular file",
        f"{tmp_path}/none.yaml does not exist",
        "it is not UTF-8",
    ):
        assert said in result.output
    assert "YAML: " not in result.output.replace("valid YAML: it is not UTF-8", "")
