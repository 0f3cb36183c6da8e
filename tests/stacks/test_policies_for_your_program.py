"""docs/policies-for-your-program.md, as its reader follows it.

The files are those of the page, the commands run as they are printed, in the real engine. Only two
things are not those of a reader: the account is the sandbox's, and the index of Python packages is
a folder, because tests use no network.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.stacks.support.foreign_program import account_environment
from tests.support.sandbox import Sandbox
from tests.support.tracked import ROOT
from tools.repository import copy_repository

pytestmark = pytest.mark.sandbox

PAGE = (ROOT / "docs" / "policies-for-your-program.md").read_text(encoding="utf-8")
FILES = re.compile(r"`(training/[^`]+)`:\n\n```\w+\n(.*?)```", flags=re.DOTALL)
BLOCKS = re.compile(r"```(sh|text|diff)\n(.*?)```", flags=re.DOTALL)


def test_the_example_of_the_page_works_as_printed(sandbox: Sandbox, tmp_path: Path) -> None:
    before = sandbox.inventory()
    place = tmp_path / "work"
    (place / "training").mkdir(parents=True)
    copy_repository(ROOT, place / "trainyard", without={"sandbox", "tests", "docs"})
    for name, text in FILES.findall(PAGE):
        (place / name).write_text(text, encoding="utf-8")
    environment = account_environment(sandbox, tmp_path) | index_of_packages(tmp_path)
    # The Python of the reader's program, which has pulumi-aws.
    environment["PATH"] = f"{sys.prefix}/bin{os.pathsep}{environment['PATH']}"
    done, directory = None, place / "trainyard"
    for kind, text in BLOCKS.findall(PAGE):
        if kind == "diff":
            apply(place / "training" / "__main__.py", text)
        elif kind == "sh":
            assert done is None or done.returncode == 0, done.stdout
            done, directory = run(text, directory, environment)
            if "tools.policies.package" in text:
                prepare_environment(place / "trainyard-pack" / "venv")
        else:
            assert done is not None
            for line in text.splitlines():
                assert line.strip() in done.stdout, done.stdout
            assert ("error:" in text) == (done.returncode != 0)
            done = None
    assert sandbox.inventory() == before


def run(
    script: str, directory: Path, environment: dict[str, str]
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Run commands in a shell; return their result, and the directory at their end."""
    end = directory.parent / "directory"
    done = subprocess.run(
        ["bash", "-c", f"trap 'pwd > {end}' EXIT\nset -e\n{script}"],
        cwd=directory,
        env=environment | {"PWD": str(directory)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done, Path(end.read_text(encoding="utf-8").strip())


def apply(path: Path, diff: str) -> None:
    """Replace the `-` lines of the page by its `+` lines."""
    text = path.read_text(encoding="utf-8")
    for hunk in re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)*)", diff, flags=re.MULTILINE):
        old, new = ("".join(f"{line[1:]}\n" for line in part.splitlines()) for part in hunk)
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


def index_of_packages(directory: Path) -> dict[str, str]:
    """Return the variables of pip with a folder as its index.

    It has `wheel`, which the engine asks for in every environment, and which nothing here uses.
    """
    index = directory / "index"
    index.mkdir()
    described = {
        "METADATA": "Metadata-Version: 2.1\nName: wheel\nVersion: 1.0\n",
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    with zipfile.ZipFile(index / "wheel-1.0-py3-none-any.whl", "w") as wheel:
        for name, text in described.items():
            wheel.writestr(f"wheel-1.0.dist-info/{name}", text)
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index)}


def prepare_environment(venv: Path) -> None:
    """Create an environment with the dependencies of this one: pip checks their pinned versions."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    pth = venv / "lib" / version / "site-packages" / "dependencies.pth"
    pth.write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
