"""Stack files are found, and read as the engine reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.stack_files.installation import Installation
from trainyard.stack_files.stack_files import (
    StackFile,
    StackFileError,
    find_stack_file,
    read_yaml,
    stack_names,
)
from trainyard.stack_files.stacks_directory import VARIABLE, choose, create
from trainyard.workspace.accounts import target_of


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    """A checkout with two examples, which is in use."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    (tmp_path / "Pulumi.p5-cb.yaml").write_text(
        "config:\n  aws:region: us-east-1\n  trainyard:cluster: {name: p5-cb}\n"
    )
    (tmp_path / "Pulumi.p5-odcr.yaml").write_text("config: {}\n")
    return Installation(tmp_path)


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("yes", "yes", id="yes-is-text"),
        pytest.param("on", "on", id="on-is-text"),
        pytest.param("true", True, id="true-is-boolean"),
        pytest.param("12:30", "12:30", id="a-time-of-day-is-text"),
        pytest.param("8", 8, id="integer"),
        pytest.param("-3", -3, id="negative-integer"),
        pytest.param('"8"', "8", id="quoted-number-is-text"),
        pytest.param("1.35", 1.35, id="version-without-quotes-is-a-number"),
        pytest.param("10.0.0.0/16", "10.0.0.0/16", id="network-is-text"),
        pytest.param(
            "2026-12-01T11:30:00Z", "2026-12-01 11:30:00 +0000 UTC", id="time-as-go-prints-it"
        ),
        pytest.param("2026-12-01", "2026-12-01 00:00:00 +0000 UTC", id="date-as-go-prints-it"),
        pytest.param("2026-02-30", "2026-02-30", id="a-day-that-is-none-is-text"),
        pytest.param("1e3", 1000, id="exponent"),
        pytest.param("8.0", 8, id="whole-float-is-an-integer"),
        pytest.param("1_000", 1000, id="digits-in-groups"),
        pytest.param("0o17", 15, id="octal"),
        pytest.param("190:20:30.15", "190:20:30.15", id="base-sixty-is-text"),
        pytest.param("1e999", "1e999", id="beyond-what-a-number-can-be-is-text"),
        pytest.param("!!str 8", "8", id="number-that-is-said-to-be-text"),
        pytest.param("0x_", "0x_", id="a-number-without-digits-is-text"),
        pytest.param('"2026-12-01T11:30:00Z"', "2026-12-01T11:30:00Z", id="quoted-time-is-text"),
    ],
)
def test_plain_scalars_are_read_as_the_engine_reads_them(
    tmp_path: Path, text: str, value: object
) -> None:
    assert read_yaml(write(tmp_path / "a.yaml", f"key: {text}\n")) == {"key": value}


def test_a_stack_is_found_by_its_name(installation: Installation) -> None:
    found = find_stack_file("p5-cb", installation=installation)
    assert found.path == installation.clone / "Pulumi.p5-cb.yaml"
    assert found.name == "Pulumi.p5-cb.yaml"
    assert found.region == "us-east-1"
    assert found.cluster == {"name": "p5-cb"}


def test_an_unknown_stack_is_answered_with_the_nearest_names(installation: Installation) -> None:
    with pytest.raises(StackFileError, match=r"did you mean p5-cb or p5-odcr\?"):
        find_stack_file("p5cb", installation=installation)


def test_a_stack_file_from_elsewhere_keeps_the_name_of_the_stack(
    installation: Installation, tmp_path: Path
) -> None:
    other = write(tmp_path / "copy.yaml", "config:\n  trainyard:cluster: {name: other}\n")
    found = find_stack_file("p5-cb", path=other, installation=installation)
    assert (found.stack, found.name) == ("p5-cb", str(other))
    assert found.cluster == {"name": "other"}


def test_a_missing_stack_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StackFileError, match=r"nowhere\.yaml: no such stack file"):
        find_stack_file("p5-cb", path=tmp_path / "nowhere.yaml")


@pytest.mark.parametrize("text", ["- a list\n", "config: text\n"])
def test_a_file_of_another_shape_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(StackFileError, match="is not a stack file"):
        find_stack_file("p5-cb", path=write(tmp_path / "a.yaml", text))


def test_broken_yaml_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(StackFileError, match=r"(?s)is not valid YAML.*line 2"):
        find_stack_file("p5-cb", path=write(tmp_path / "a.yaml", "config:\n  a: [1\n"))


def test_an_empty_file_is_a_stack_without_configuration(tmp_path: Path) -> None:
    found = find_stack_file("p5-cb", path=write(tmp_path / "a.yaml", ""))
    assert (found.cluster, found.stray_keys) == ({}, ())


def test_keys_that_a_forgotten_path_made_are_stray(tmp_path: Path) -> None:
    text = "config:\n  aws:region: us-west-2\n  trainyard:cluster: {}\n  trainyard:name: x\n"
    found = find_stack_file("p5-cb", path=write(tmp_path / "a.yaml", text))
    assert found.stray_keys == ("trainyard:name",)


@pytest.mark.parametrize(
    ("cluster", "kind"),
    [
        pytest.param({"architecture": {"kind": "parallelcluster"}}, "parallelcluster", id="named"),
        pytest.param({"architecture": {}}, "", id="no-kind"),
        pytest.param({"architecture": "eks"}, "", id="no-mapping"),
        pytest.param([], "", id="no-cluster"),
        pytest.param(None, "", id="empty"),
    ],
)
def test_the_kind_of_the_architecture_is_read_from_any_file(cluster, kind: str) -> None:
    """`destroy` and `outputs` work even if the configuration has become invalid."""
    file = StackFile("dev", Path("Pulumi.dev.yaml"), {"config": {"trainyard:cluster": cluster}})
    assert file.architecture == kind


def test_a_key_that_is_a_number_is_none_of_the_programs() -> None:
    found = StackFile("x", Path("Pulumi.x.yaml"), {"config": {5: "a", "trainyard:vpc_id": "b"}})
    assert found.stray_keys == ("trainyard:vpc_id",)


@pytest.mark.parametrize("sandbox", [True, False])
def test_commands_name_a_stack_file_that_is_none_of_the_tracked_ones(
    installation: Installation, sandbox: bool
) -> None:
    flag = " --sandbox" if sandbox else ""
    tracked = StackFile("p5-cb", installation.clone / "Pulumi.p5-cb.yaml", {}, installation)
    assert target_of(tracked, sandbox=sandbox).options == flag
    copy = StackFile("p5-cb", installation.clone / "my copy.yaml", {}, installation)
    assert target_of(copy, sandbox=sandbox).options == f"{flag} --stack-file '{copy.path}'"


def test_look_alikes_in_a_line_that_is_no_yaml_are_named(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.a.yaml"
    path.write_text("config:\n  a: \u201cx\u201d: 1\n", encoding="utf-8")
    with pytest.raises(StackFileError, match=r"line 2: .* U\+201C \(LEFT DOUBLE QUOTATION MARK\)"):
        find_stack_file("a", path=path)


@pytest.fixture
def own(
    installation: Installation,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A stacks directory with `prod-a` and its own `p5-cb`, which is in use."""
    directory = tmp_path_factory.mktemp("stacks")
    create(directory, installation)
    for stack in ("prod-a", "p5-cb"):
        (directory / f"Pulumi.{stack}.yaml").write_text("config: {}\n")
    monkeypatch.setenv(VARIABLE, str(directory))
    return directory


def test_a_file_of_the_user_is_found_before_an_example(
    own: Path, installation: Installation
) -> None:
    paths = {
        "p5-cb": own / "Pulumi.p5-cb.yaml",
        "prod-a": own / "Pulumi.prod-a.yaml",
        "p5-odcr": installation.clone / "Pulumi.p5-odcr.yaml",
    }
    assert {name: find_stack_file(name, installation=installation).path for name in paths} == paths
    assert stack_names(installation) == ["p5-cb", "p5-odcr", "prod-a"]


def test_the_engine_of_a_stack_runs_next_to_its_file(own: Path, installation: Installation) -> None:
    elsewhere = write(installation.clone / "other.yaml", "config: {}\n")
    files = [
        find_stack_file("prod-a", installation=installation),
        find_stack_file("p5-odcr", installation=installation),
        find_stack_file("prod-a", path=elsewhere, installation=installation),
        find_stack_file("p5-odcr", path=own / "Pulumi.prod-a.yaml", installation=installation),
    ]
    assert [file.project_directory for file in files] == [own, installation.clone, own, own]
    assert files[1].own_files == installation.clone / ".trainyard"
    assert [file.is_project_file for file in files] == [True, True, False, False]


def test_a_file_is_named_alone_only_where_pulumi_finds_it(
    own: Path, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {
        own: ("Pulumi.prod-a.yaml", str(installation.clone / "Pulumi.p5-odcr.yaml")),
        installation.clone: (str(own / "Pulumi.prod-a.yaml"), "Pulumi.p5-odcr.yaml"),
        Path("/"): (str(own / "Pulumi.prod-a.yaml"), "Pulumi.p5-odcr.yaml"),
    }
    for directory, (of_user, of_example) in names.items():
        monkeypatch.chdir(directory)
        assert find_stack_file("prod-a", installation=installation).name == of_user
        assert find_stack_file("p5-odcr", installation=installation).name == of_example


def test_a_command_names_the_file_if_another_run_would_not_find_it(
    own: Path, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = find_stack_file("prod-a", installation=installation)
    assert target_of(found, sandbox=True).command("up") == "./trainyard up prod-a --sandbox"
    # The option --stacks is not part of the printed command.
    monkeypatch.setenv(VARIABLE, str(installation.clone))
    choose(own)
    try:
        printed = target_of(found, sandbox=False).command("up")
    finally:
        choose(None)
    assert printed == f"./trainyard up prod-a --stack-file {found.path}"


def test_an_unknown_stack_lists_the_users_and_the_examples(
    own: Path, installation: Installation
) -> None:
    with pytest.raises(StackFileError) as refused:
        find_stack_file("prod-b", installation=installation)
    assert f"no Pulumi.prod-b.yaml in {own} or {installation.clone}" in str(refused.value)
    assert "did you mean prod-a" in str(refused.value)
    assert "stacks: p5-cb, prod-a; examples: p5-cb, p5-odcr;" in str(refused.value)


def test_a_stacks_directory_that_is_gone_is_named(
    installation: Installation,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(VARIABLE)
    monkeypatch.chdir(installation.clone)
    stacks = tmp_path_factory.mktemp("stacks")
    create(stacks, installation)
    moved = stacks.rename(stacks.with_name("moved"))
    with pytest.raises(StackFileError, match=f"stacks directory {stacks}, .* is not there"):
        find_stack_file("prod-a", installation=installation)
    moved.rename(stacks)
    with pytest.raises(StackFileError) as refused:
        find_stack_file("prod-a", installation=installation)
    assert "is not there" not in str(refused.value)
