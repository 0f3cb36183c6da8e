"""Raising a pin changes only its places; follow-up steps are run or named."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path

import pytest

from tools.pins import ROOT, Pin, PinError, Place, PyPI, Unasked, __main__, raising
from tools.pins.newest import Answer, Clients, look_up
from tools.pins.raising import Command, find, follow, mentions, plan
from tools.pins.registry import pins

PYPROJECT = 'dependencies = [\n  "boto3==1.44.5", # held\n  "other==1.44.5",\n]\n'
GO_MOD = (
    "module example.org/m\n\nrequire example.org/boto v1.44.5\n"
    "replace k8s.io/api => k8s.io/api v0.44.5\n"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository of two files in which one pin has three places."""
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "module").mkdir()
    (tmp_path / "module" / "go.mod").write_text(GO_MOD)
    return tmp_path


def place(file: str, text: str, before: str, content: str, *, staging: bool = False) -> Place:
    start = content.index(before + text) + len(before)
    return Place(file=file, line=2, start=start, text=text, staging=staging)


def boto3() -> Pin:
    places = (
        place("pyproject.toml", "1.44.5", "boto3==", PYPROJECT),
        place("module/go.mod", "v1.44.5", "boto ", GO_MOD),
        place("module/go.mod", "v0.44.5", "=> k8s.io/api ", GO_MOD, staging=True),
    )
    return Pin(name="boto3", source=PyPI(project="boto3"), places=places)


def test_every_place_is_written_as_its_file_spells_it_and_nothing_else(project: Path) -> None:
    plan(boto3(), "v1.45.10", project).write()

    assert (project / "pyproject.toml").read_text() == PYPROJECT.replace(
        "boto3==1.44.5", "boto3==1.45.10"
    )
    assert (project / "module" / "go.mod").read_text() == (
        GO_MOD.replace("boto v1.44.5", "boto v1.45.10").replace("v0.44.5", "v0.45.10")
    )


def test_the_diff_shows_the_change_and_writes_nothing(project: Path) -> None:
    change = plan(boto3(), "1.45.0", project)

    assert '-  "boto3==1.44.5", # held\n+  "boto3==1.45.0", # held\n' in change.diff()
    assert (project / "pyproject.toml").read_text() == PYPROJECT


def test_locks_and_modules_follow(project: Path) -> None:
    assert [str(command) for command in plan(boto3(), "1.45.0", project).commands] == [
        "python -m tools.lock",
        "(cd module && go mod tidy)",
        "python -I tools/environment.py requirements/dev.txt",
        "python -m tools.catalog.constraints",
    ]


def test_a_module_that_must_not_be_tidied_is_not(project: Path) -> None:
    text = "// `go mod tidy` is not for this module\n" + GO_MOD
    (project / "module" / "go.mod").write_text(text)
    pin = Pin(
        name="m",
        source=PyPI(project="m"),
        places=(place("module/go.mod", "v1.44.5", "boto ", text),),
    )

    (command,) = plan(pin, "1.45.0", project).commands
    assert str(command) == "(cd module && go list -mod=mod -deps ./...)"


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("1.44.5", r"boto3 is 1\.44\.5 already \(pyproject\.toml:2\)"),
        ("1.9.0", r"1\.9\.0 is older than 1\.44\.5, which pyproject\.toml:2 pins for boto3"),
        ("newest", "'newest' is no version for boto3 .*: give one like 1.44.5"),
    ],
)
def test_a_version_that_does_not_raise_is_refused(
    project: Path, version: str, message: str
) -> None:
    with pytest.raises(PinError, match=message):
        plan(boto3(), version, project)


def test_places_that_disagree_can_be_brought_to_the_version_of_the_first(project: Path) -> None:
    text = PYPROJECT.replace("other==1.44.5", "other==1.44.1")
    (project / "pyproject.toml").write_text(text)
    places = (
        place("pyproject.toml", "1.44.5", "boto3==", text),
        place("pyproject.toml", "1.44.1", "other==", text),
    )

    plan(Pin(name="it", source=PyPI(project="it"), places=places), "1.44.5", project).write()

    assert (project / "pyproject.toml").read_text() == PYPROJECT


def test_a_commit_is_raised_to_a_commit() -> None:
    known = pins()["slurm/neuron-samples"]

    assert plan(known, "f" * 40).diff().count("f" * 40) == 1
    with pytest.raises(PinError, match="give a commit of 40 hexadecimal digits"):
        plan(known, "v1.2")


def test_a_kubernetes_version_of_eks_is_another_entry_and_says_so() -> None:
    known = pins()
    eks = next(pin for pin in known.values() if pin.by_hand)

    with pytest.raises(PinError, match=r"not raised by a command: .*another entry of EKS_VERSIONS"):
        plan(eks, "9.99")


def test_the_default_kubernetes_version_is_one_that_is_pinned() -> None:
    with pytest.raises(PinError, match=r"can be one of .*; for 9\.99 add an entry to EKS_VERSIONS"):
        plan(pins()["eks-default"], "9.99")


def test_a_tag_that_begins_with_a_word_is_raised_too() -> None:
    runner = pins()["ci/runner"]

    assert plan(runner, "ubuntu-99.04").diff().count("+    runs-on: ubuntu-99.04\n") == 2
    with pytest.raises(PinError, match=f"give one like {runner.version}"):
        plan(runner, "latest")


def test_a_raised_addon_changes_one_line_of_the_catalog() -> None:
    name = next(name for name in pins() if name.endswith("/coredns"))
    change = plan(pins()[name], "v99.1.0-eksbuild.1")
    changed = [line for line in change.diff().splitlines() if line[0] in "+-"][2:]

    assert list(change.files) == ["components/catalog/versions.py"]
    assert [line[0] for line in changed] == ["-", "+"]
    assert changed[1].strip("+ ") == 'coredns="v99.1.0-eksbuild.1",'
    assert change.commands == ()
    assert change.tests == ("./trainyard test tests/catalog tests/stacks",)


@pytest.mark.parametrize(
    ("name", "follows"),
    [
        ("moto", "python -m tools.catalog.generate"),
        ("aws-parallelcluster", "python -m tools.parallelcluster.update_policies"),
    ],
)
def test_what_is_generated_from_a_package_follows_its_lock(name: str, follows: str) -> None:
    commands = [str(command) for command in plan(pins()[name], "99.0.0").commands]

    assert commands[0] == "python -m tools.lock"
    assert commands[-1] == follows


def test_what_links_the_engine_follows_its_module() -> None:
    """The AWS provider of the plugin lies in no directory of the repository."""
    commands = [str(command) for command in plan(pins()["pulumi"], "99.0.0").commands]

    assert commands == [
        "python -m tools.lock",
        "(cd sandbox/engine/language_host && go mod tidy)",
        "(cd sandbox/engine/pulumi && go mod tidy)",
        "python -m trainyard.sandbox.engine.linked_modules",
    ]


def test_every_file_that_holds_a_pin_has_its_tests() -> None:
    for pin in pins().values():
        for at in pin.places:
            assert any(at.file.startswith(prefix) for prefix in raising._TESTS), at.file


def test_every_test_path_that_is_named_exists() -> None:
    for line in raising._TESTS.values():
        for path in line.split()[2:]:
            assert (ROOT / path).is_dir()


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(PinError, match="there is no pin 'pulumi-aw'; did you mean pulumi-aws"):
        find("pulumi-aw", pins())
    with pytest.raises(PinError, match=r"did you mean .*go\.etcd\.io/etcd/server/v3"):
        find("etcd", pins())


def test_lines_that_still_name_the_old_version_are_listed(project: Path) -> None:
    (project / "notes.md").write_text("boto3 1.44.5 is fine\n11.44.5\n1.44.50\nv1.44.5.\n")
    (project / "requirements.txt").write_text("boto3==1.44.5\n")
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *command], cwd=project, check=True)

    raised = plan(boto3(), "1.45.0", project).files
    assert mentions(boto3(), raised, project) == [
        "notes.md:1:boto3 1.44.5 is fine",
        "notes.md:4:v1.44.5.",
    ]


def test_a_command_that_fails_leaves_the_rest_to_be_run(project: Path) -> None:
    commands = [
        Command(words=("python", "-c", "")),
        Command(words=("python", "-c", "raise SystemExit(3)")),
        Command(words=("go", "mod", "tidy"), directory="module"),
    ]
    said: list[str] = []

    with pytest.raises(PinError) as refused:
        follow(commands, said.append, project)

    assert said == ["python -c ''", "python -c 'raise SystemExit(3)'"]
    assert "failed (exit code 3)" in str(refused.value)
    assert "  (cd module && go mod tidy)" in str(refused.value)


def test_a_dry_run_shows_diff_commands_and_tests(capsys: pytest.CaptureFixture[str]) -> None:
    before = (ROOT / "pyproject.toml").read_bytes()

    code = __main__.main(["raise", "boto3", "999.0.0", "--dry-run"])

    shown = capsys.readouterr()
    assert code == 0
    assert '+  "boto3==999.0.0",' in shown.out
    assert "  python -m tools.lock\n" in shown.out
    assert "  ./trainyard test\n" in shown.out
    assert "nothing is written" in shown.err
    assert (ROOT / "pyproject.toml").read_bytes() == before


def test_the_newest_is_taken_where_no_version_is_given(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def ask(*_: object) -> dict[str, Answer]:
        return {"boto3": Answer(newest="999.1.0")}

    assert __main__.main(["raise", "boto3", "--dry-run"], ask) == 0
    assert "boto3==999.1.0" in capsys.readouterr().out


def test_a_newest_that_is_not_known_has_to_be_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def ask(asked: Iterable[Pin], _: object) -> Mapping[str, Answer]:
        return look_up(asked, Clients(today=date(2026, 11, 22)))

    unasked = [name for name, pin in pins().items() if isinstance(pin.source, Unasked)]

    assert __main__.main(["raise", unasked[0], "--dry-run"], ask) == 1
    assert f"python -m tools.pins raise {unasked[0]} VERSION" in capsys.readouterr().err
