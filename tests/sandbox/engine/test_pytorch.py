"""The environment of PyTorch gets a file for each library of CUDA that it was installed without."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.programs.pytorch import _do_without_cuda

# What glibc's ldd prints: a line is repeated for each library that needs the missing one.
LDD = """\
\tlinux-vdso.so.1 (0x00007ffd2b5f2000)
\tlibtorch_cuda.so => /x/torch/lib/libtorch_cuda.so (0x00007f2b50000000)
\tlibcudnn.so.9 => not found
\tlibcublas.so.13 => not found
\tlibcudnn.so.9 => not found
\t/lib64/ld-linux-x86-64.so.2 (0x00007f2b5f000000)
"""


@pytest.fixture
def libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The libraries of PyTorch in an environment, on a machine with this `ldd`."""
    directory = tmp_path / "environment/lib/python3.11/site-packages/torch/lib"
    directory.mkdir(parents=True)
    (directory / "libtorch_global_deps.so").write_text("no code")
    ldd = tmp_path / "ldd"
    ldd.write_text(f"#!/bin/sh\nprintf '%s' '{LDD}'\n")
    ldd.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    return directory


def test_missing_libraries_are_links_to_one_without_code(tmp_path: Path, libraries: Path) -> None:
    (libraries / "libtorch_python.so").touch()
    _do_without_cuda(tmp_path / "environment")
    links = {path.name: path.read_text() for path in libraries.iterdir() if path.is_symlink()}
    assert links == {"libcublas.so.13": "no code", "libcudnn.so.9": "no code"}


def test_functions_are_looked_up_when_they_are_called(tmp_path: Path, libraries: Path) -> None:
    """A `.pth` file, which Python runs when it starts (documentation of the module `site`)."""
    _do_without_cuda(tmp_path / "environment")
    assert "RTLD_LAZY" in (libraries.parents[1] / "lazy_symbols.pth").read_text()


def test_on_macos_nothing_is_missing(tmp_path: Path, libraries: Path) -> None:
    _do_without_cuda(tmp_path / "environment")
    assert [path.name for path in libraries.iterdir()] == ["libtorch_global_deps.so"]
