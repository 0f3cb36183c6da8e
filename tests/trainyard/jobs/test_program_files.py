"""The files of a program: one Python file, or the package of `-m`, below the working directory.

That a program can import what is copied, Python itself shows: it runs the copies.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from trainyard.jobs.nodes import JobError
from trainyard.jobs.program_files import (
    ShippedProgram,
    listed_files,
    local_program,
    shipped_program,
)
from trainyard.jobs.training import MOST_FILE_BYTES

TREE = {
    "train.py": "import json\nprint('train', __file__ and __name__)\n",
    "src/single.py": "print('single')\n",
    "src/several.py": "import model\n",
    "src/model.py": "",
    "llm/__init__.py": "",
    "llm/train.py": "from llm.parts import name\nfrom . import parts\nprint(name)\n",
    "llm/parts/__init__.py": "name = 'llm'\n",
    "llm/vocabulary.txt": "ä\n",
    "llm/.hidden": "",
    "llm/__pycache__/train.cpython-312.pyc": "compiled",
    "spaces/run.py": "print('namespace package')\n",
    "app/__main__.py": "print('main of a package')\n",
    "uses/__init__.py": "",
    "uses/run.py": "import helper\n",
    "helper.py": "print('helper')\n",
    "helper/data.txt": "a directory of that name",
    "outer.py": "from spaces import run\n",
    "conf.yaml": "lr: 1\n",
    "train.sh": "",
    "script": "print('without a suffix')\n",
    "a b.py": "",
}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A working directory, beside a directory with a secret."""
    root = tmp_path / "work"
    for name, text in TREE.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "secret.py").write_text("secret", encoding="utf-8")
    (root / "link.py").symlink_to("../out/secret.py")
    (root / "outside").symlink_to("../out")
    (root / "inside.py").symlink_to("train.py")
    (root / "loop.py").symlink_to("loop.py")
    (root / "lost.py").symlink_to("nothing.py")
    (root / "binary.py").write_bytes(b"\xff\xfe")
    (root / "full.py").write_text("#" * MOST_FILE_BYTES, encoding="utf-8")
    (root / "large.py").write_text("#" * (MOST_FILE_BYTES + 1), encoding="utf-8")
    return root


def ship(here: Path, command: str, **changes: object) -> ShippedProgram:
    given = {"given": (), "in_container": False, **changes}
    return shipped_program(shlex.split(command), here, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("command", "files", "prints"),
    [
        ("train.py --lr 1", ["train.py"], "train __main__"),
        ("./train.py", ["train.py"], "train __main__"),
        ("python -u src/single.py", ["src/single.py"], "single"),
        ("python script", ["script"], "without a suffix"),
        ("inside.py", ["inside.py"], "train __main__"),
        (
            "python -m llm.train",
            ["llm/__init__.py", "llm/parts/__init__.py", "llm/train.py", "llm/vocabulary.txt"],
            "llm",
        ),
        ("-m spaces.run", ["spaces/run.py"], "namespace package"),
        ("python -m app", ["app/__main__.py"], "main of a package"),
        ("python -m helper", ["helper.py"], "helper"),
        ("full.py", ["full.py"], ""),
    ],
)
def test_python_runs_what_is_copied(
    here: Path, tmp_path: Path, command: str, files: list[str], prints: str
) -> None:
    program = ship(here, command)
    assert sorted(program.files) == files
    for name, text in program.files.items():
        path = tmp_path / "job" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    words = [each for each in program.command if each not in ("python", "-u")]
    ran = subprocess.run(
        [sys.executable, *words], cwd=tmp_path / "job", capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == prints


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("torchrun --nproc-per-node 8 train.py", "train.py"),
        ("python -m torch.distributed.run train.py", "train.py"),
        ("accelerate launch --num_processes 8 train.py", "train.py"),
        ("/fsx/venv/bin/python train.py", "train.py"),
        ("python -X dev train.py", "train.py"),
    ],
)
def test_a_launcher_starts_the_program_after_it(here: Path, command: str, file: str) -> None:
    assert [*ship(here, command).files] == [file]


@pytest.mark.parametrize(
    "command",
    [
        *("nothing.py", "/fsx/train.py", "python -m torch.distributed.run /fsx/train.py"),
        *("bash -c 'python train.py'", "nvidia-smi", "python -c 'import train'", "bash fsx.sh"),
        "bin/tool train.py",
    ],
)
def test_what_is_not_here_stays_on_the_cluster(here: Path, command: str) -> None:
    program = ship(here, command)
    assert (program.files, shlex.join(program.command)) == ({}, command)


def test_an_absolute_path_of_this_machine_becomes_relative(here: Path) -> None:
    program = ship(here, f"python {here}/src/single.py --lr 1")
    assert program.command == ["python", "src/single.py", "--lr", "1"]
    assert [*program.files] == ["src/single.py"]
    assert not ship(here, f"{here}/train.py", in_container=True).files


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("large.py", "1.0 MiB, and a job copies 1 MiB at most; .* the image or on shared storage"),
        ("binary.py", "no text in UTF-8"),
        ("link.py", "is a link, or is below one, to .*/out/secret.py"),
        ("outside/secret.py", "is a link, or is below one"),
        ("-m outside.secret", "outside is a link to a directory"),
        ("loop.py", "loop.py cannot be read"),
        ("lost.py", "lost.py cannot be read"),
        ("../out/secret.py", r"its path has `\.\.`, and only files below the working directory"),
        ("'a b.py'", "rename it"),
        ("train.sh", "only Python programs are copied .*`files` of a job file"),
        ("bash ./train.sh x", "only Python programs are copied"),
        ("python -m llm.trian", r"the package llm of the working directory has no module llm\.t"),
        ("src/several.py", r"not src/model\.py .* imports; .*`files: \[src/several\.py, src/model"),
        ("-m uses.run", r"not helper\.py of this machine, which it imports"),
        ("outer.py", r"not spaces/run\.py of this machine, which it imports"),
        ("train.py --config conf.yaml", r"not conf\.yaml of this machine, which it gets as an arg"),
        ("train.py --config=conf.yaml", r"`files: \[train\.py, conf\.yaml\]`"),
        ("train.py +conf=conf.yaml", "not conf.yaml"),
        ("train.py --vocabulary ./llm/vocabulary.txt", "not llm/vocabulary.txt"),
    ],
)
def test_what_cannot_be_copied_is_refused_with_the_way_that_works(
    here: Path, command: str, says: str
) -> None:
    with pytest.raises(JobError, match=says):
        ship(here, command)


def test_a_file_of_the_job_file_is_not_missing(here: Path) -> None:
    assert [*ship(here, "train.py conf.yaml", given=["conf.yaml"]).files] == ["train.py"]
    assert not ship(here, "bash train.sh", given=["train.sh"]).files
    assert not ship(here, "src/several.py", given=["src/several.py"]).files


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("python -m llm.train", "llm/train.py"),
        ("./train.py", "train.py"),
        ("/train.py", ""),
        ("x.py", ""),
    ],
)
def test_a_program_that_is_not_copied_is_known(here: Path, command: str, name: str) -> None:
    assert local_program(shlex.split(command), here) == name


def test_files_of_a_job_file_are_read_below_its_directory(here: Path) -> None:
    names = ["train.py", "llm/vocabulary.txt", "inside.py"]
    assert listed_files(here / "job.yaml", names) == {
        "train.py": TREE["train.py"],
        "llm/vocabulary.txt": "ä\n",
        "inside.py": TREE["train.py"],
    }


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("link.py", "is a link, or is below one, to .*/out/secret.py, which is not in"),
        ("outside/secret.py", "is a link, or is below one"),
        ("loop.py", "cannot be read"),
        ("../out/secret.py", r"without `\.\.`"),
        ("/etc/passwd", "is not a path below"),
        ("llm", "name each file of a directory"),
        ("binary.py", "no text in UTF-8"),
        ("large.py", "1 MiB at most"),
        ("nothing", "cannot be read"),
    ],
)
def test_other_files_of_a_job_file_are_refused(here: Path, name: str, says: str) -> None:
    with pytest.raises(JobError, match=says) as refused:
        listed_files(here / "job.yaml", [name])
    assert str(refused.value).startswith(f"`files` of {here}/job.yaml: ")
