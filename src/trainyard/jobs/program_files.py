"""The files of a program on this machine, which a job takes with it.

A job has the text files that its job file lists, and where the scheduler copies programs, also the
program itself: one Python file, or the package of `-m`, below the working directory. What else the
program needs cannot be found in every program; what is found (modules beside it, files among its
arguments) is refused before a node starts.

Sources:
    https://docs.python.org/3/using/cmdline.html: with a script, its directory is the first entry of
        `sys.path`; with `-m`, the working directory; `__main__.py` of a package is its program
    https://docs.python.org/3/reference/import.html#regular-packages: a directory with `__init__.py`
    https://docs.pytorch.org/docs/stable/elastic/run.html: torchrun runs a script, or with `-m` a
        module, and its own `python -m torch.distributed.run`
"""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from trainyard.jobs.nodes import JobError
from trainyard.jobs.training import FILE_PATH, MOST_FILE_BYTES
from trainyard.stack_files.files import file_bytes

_SHELLS = frozenset({"bash", "sh", "dash", "zsh", "ksh"})
_PYTHON = re.compile(r"python[0-9.]*")
_MODULE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_MODULE_OPTIONS = ("-m", "--module")
_OTHER_WAYS = "list it in `files` of a job file, or put it into the image or on shared storage"


@dataclass(frozen=True, slots=True)
class PythonProgram:
    """The Python program that a command starts."""

    index: int
    """Of its word in the command."""
    name: str
    """The path of a file, or the name of a module."""
    is_module: bool = False


def python_programs(command: Sequence[str]) -> Iterator[PythonProgram]:
    """Yield what the words of a command may start: modules after `-m` up to the first file.

    A module such as `torch.distributed.run` starts the program that follows.
    """
    if _own_script(command):
        return  # whose arguments are not known
    is_module = after_python = False
    for index, word in enumerate(command):
        if is_module:
            yield PythonProgram(index, word, is_module=True)
            is_module = False
        elif word in _MODULE_OPTIONS:
            is_module = True
        elif word == "-c":
            return
        elif word.endswith(".py") and not word.startswith("-"):
            yield PythonProgram(index, word)
            return
        elif after_python and not word.startswith("-"):
            yield PythonProgram(index, word)  # a script without a suffix, or the value of an option
            after_python = False
        else:
            is_option = word.startswith("-") and after_python
            after_python = is_option or bool(_PYTHON.fullmatch(PurePosixPath(word).name))


def named_file(command: Sequence[str]) -> str:
    """Return the Python file that a command starts; empty for a module or another program."""
    names = (each.name for each in python_programs(command) if not each.is_module)
    return next((each for each in names if each.endswith(".py")), "")


def listed_files(job_file: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the text files that a job file lists, content by name.

    Args:
        job_file: The job file.
        names: Paths below its directory.

    Raises:
        JobError: one is outside of the directory, is no text file, or cannot be read.
    """
    tree = _Tree(job_file.parent.resolve())
    try:
        return {name: tree.text(name) for name in names}
    except JobError as error:
        raise JobError(f"`files` of {job_file}: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedProgram:
    """A command, and the files of its program that the job takes with it."""

    command: Sequence[str]
    files: Mapping[str, str]
    """Content by path below the working directory; empty if the program is not on this machine."""


def shipped_program(
    command: Sequence[str], directory: Path, *, given: Collection[str], in_container: bool
) -> ShippedProgram:
    """Return the program of a command with its files, if it is below a directory of this machine.

    Args:
        command: The program and its arguments.
        directory: The working directory.
        given: Files that the job has anyway.
        in_container: Whether absolute paths are those of an image.

    Raises:
        JobError: the program is there, but cannot be copied, or needs more than that.
    """
    tree = _Tree(directory.resolve())
    _refuse_own_script(command, tree, given)
    for program in python_programs(command):
        if program.is_module:
            files = _module_files(program.name, tree, given)
            base = PurePosixPath()
        else:
            name = tree.below(program.name, absolute=not in_container)
            if name is None or name in given:
                continue
            files, base = {name: tree.text(name)}, PurePosixPath(name).parent
            if PurePosixPath(program.name).is_absolute():
                command = [*command[: program.index], name, *command[program.index + 1 :]]
        if files:
            _refuse_missing(command, program, files, base=base, tree=tree, given=given)
            return ShippedProgram(command=command, files=files)
    return ShippedProgram(command=command, files={})


def local_program(command: Sequence[str], directory: Path) -> str:
    """Return the Python program of a command that is also below a directory; empty if none is.

    Args:
        command: The program and its arguments.
        directory: The working directory.
    """
    for program in python_programs(command):
        forms = [program.name]
        if program.is_module:
            forms = _module_forms(program.name) if _MODULE.fullmatch(program.name) else []
        for each in forms:
            if not each.startswith("/") and _exists(directory / each):
                return PurePosixPath(each).as_posix()
    return ""


@dataclass(slots=True)
class _Tree:
    """The files below a directory, whose links may not leave it."""

    root: Path
    """Without links."""
    size: int = 0
    """Bytes of the files that were read."""

    def below(self, word: str, *, absolute: bool = False) -> str | None:
        """Return the path of an existing file below the directory; None if there is none.

        Args:
            word: A path, relative to the directory, or absolute.
            absolute: Whether an absolute path may be meant.

        Raises:
            JobError: it is above the directory.
        """
        path = PurePosixPath(word)
        if path.is_absolute():
            place = Path(os.path.normpath(word))
            place = place.parent.resolve() / place.name
            here = absolute and place.is_relative_to(self.root) and _exists(place)
            return place.relative_to(self.root).as_posix() if here else None
        if not _exists(self.root / path):
            return None
        if ".." in path.parts:
            raise JobError(
                f"{word} is a file on this machine, but its path has `..`, and only files below "
                "the working directory are copied to the job; change to a directory above it, or "
                f"{_OTHER_WAYS}"
            )
        return path.as_posix()

    def text(self, name: str) -> str:
        """Return the content of a file.

        Args:
            name: Its path below the directory.

        Raises:
            JobError: it leaves the directory, is too large, or no text.
        """
        if not FILE_PATH.fullmatch(name):
            raise JobError(
                f"{name!r} is not a path below {self.root} of letters, digits, `.`, `-`, `_` and "
                "`/`, without `..`, and cannot be copied to the job; rename it, or put it into the "
                "image or on shared storage"
            )
        try:
            real = (self.root / name).resolve(strict=True)
            if not real.is_relative_to(self.root):
                raise JobError(
                    f"{name} is a link, or is below one, to {real}, which is not in {self.root}; "
                    "replace the link with a copy of the file"
                )
            if not real.is_file():
                raise JobError(f"{name} is not a file; name each file of a directory")
            self._count(real.stat().st_size, name)
            return file_bytes(real).decode("utf-8")
        except UnicodeDecodeError as error:
            raise JobError(
                f"{name} is no text in UTF-8, and a job copies text only; put it into the image or "
                "on shared storage"
            ) from error
        except (OSError, RuntimeError) as error:  # RuntimeError: links that form a loop
            raise JobError(f"{name} cannot be read: {error}") from error

    def _count(self, size: int, name: str) -> None:
        self.size += size
        if self.size > MOST_FILE_BYTES:
            raise JobError(
                f"with {name}, the files of the job have {self.size / 2**20:.1f} MiB, and a job "
                f"copies {MOST_FILE_BYTES >> 20} MiB at most; list only those that it needs in "
                "`files` of a job file, or put the program into the image or on shared storage"
            )

    def package(self, name: str) -> dict[str, str]:
        """Return the files below a directory, without hidden and compiled ones.

        Raises:
            JobError: one cannot be copied.
        """
        found = dict[str, str]()
        self._refuse_linked(self.root / name)
        for directory, below, files in os.walk(self.root / name, onerror=_unreadable):
            below[:] = sorted(each for each in below if not _is_left_out(each))
            for each in below:
                self._refuse_linked(Path(directory) / each)
            for each in sorted(files):
                if not _is_left_out(each):
                    path = (Path(directory) / each).relative_to(self.root).as_posix()
                    found[path] = self.text(path)
        return found

    def _refuse_linked(self, directory: Path) -> None:
        if directory.is_symlink():
            raise JobError(
                f"{directory.relative_to(self.root).as_posix()} is a link to a directory, and a "
                "job copies files only; replace the link with a copy, or list the files that the "
                "program needs in `files` of a job file"
            )


def _unreadable(error: OSError) -> None:
    raise JobError(f"the program cannot be copied: {error}") from error


def _exists(path: Path) -> bool:
    """Return whether there is a file, or a link that leads nowhere."""
    try:
        return path.is_file() or (path.is_symlink() and not path.is_dir())
    except OSError:  # a path that no file system has
        return False


def _is_left_out(name: str) -> bool:
    return name.startswith(".") or name == "__pycache__" or name.endswith((".pyc", ".pyo"))


def _module_files(name: str, tree: _Tree, given: Collection[str]) -> dict[str, str]:
    """Return the files of a module and of the package that it is in; empty if it is not here.

    Raises:
        JobError: they cannot be copied, or the package has no such module.
    """
    if not _MODULE.fullmatch(name):
        return {}
    path, forms = PurePosixPath(*name.split(".")), _module_forms(name)
    if any(each in given for each in forms):
        return {}
    top = path.parts[0]
    if not any(_exists(tree.root / each) for each in forms):
        if _exists(tree.root / top / "__init__.py") and len(path.parts) > 1:
            raise JobError(
                f"the package {top} of the working directory has no module {name}; correct the "
                "name, or change to another directory"
            )
        return {}
    is_package = len(path.parts) > 1 or _exists(tree.root / top / "__init__.py")
    if is_package or not _exists(tree.root / f"{top}.py"):
        return tree.package(top)
    return {f"{top}.py": tree.text(f"{top}.py")}


def _module_forms(name: str) -> list[str]:
    """Return the files that a module can be."""
    path = PurePosixPath(*name.split("."))
    return [f"{path}.py", f"{path}/__main__.py"]


def _own_script(command: Sequence[str]) -> str:
    """Return the script or executable that a command starts by its path; empty for Python.

    `bash -c` has no script.
    """
    first = PurePosixPath(command[0]) if command else PurePosixPath()
    if first.name in _SHELLS:
        words = [each for each in command[1:] if not each.startswith("-")]
        return command[0] if "-c" in command or not words else words[0]
    is_path = (len(first.parts) > 1 and not first.is_absolute()) or first.suffix == ".sh"
    is_launcher = _PYTHON.fullmatch(first.name) or first.name == "torchrun"
    return command[0] if is_path and not is_launcher and first.suffix != ".py" else ""


def _refuse_own_script(command: Sequence[str], tree: _Tree, given: Collection[str]) -> None:
    """Refuse a script of this machine that is no Python program.

    Raises:
        JobError: the command starts one that the job does not have.
    """
    word = _own_script(command)
    if word and PurePosixPath(word).as_posix() not in given and tree.below(word) is not None:
        raise JobError(
            f"{word} is a file on this machine, and only Python programs are copied to the job by "
            f"themselves; {_OTHER_WAYS}"
        )


def _refuse_missing(
    command: Sequence[str],
    program: PythonProgram,
    files: Mapping[str, str],
    *,
    base: PurePosixPath,
    tree: _Tree,
    given: Collection[str],
) -> None:
    """Refuse a program that needs other files of this machine.

    Args:
        command: The program and its arguments.
        program: The program.
        files: What is copied of it.
        base: The directory from which it imports its own modules.
        tree: The working directory.
        given: Files that the job has anyway.

    Raises:
        JobError: modules or arguments that would be missing.
    """
    has = {*files, *given}
    modules = [each for each in _own_modules(files, base, tree) if each not in has]
    words = [each for index, each in enumerate(command) if index not in (0, program.index)]
    values = [value for each in words for value in (each, each.partition("=")[2]) if value]
    arguments = [PurePosixPath(each).as_posix() for each in values if _is_missing(each, tree, has)]
    missing = dict.fromkeys([*modules, *arguments])
    if missing:
        listed = ", ".join(each for each in [*files, *missing] if ".." not in each)
        raise JobError(
            f"{program.name} is copied to the job, but not {', '.join(missing)} of this machine, "
            f"which it {'imports' if modules else 'gets as an argument'}; list them in a job file "
            f"(`files: [{listed}]`), or put them into the image or on shared storage, and name "
            "them with an absolute path"
        )


def _is_missing(argument: str, tree: _Tree, has: Collection[str]) -> bool:
    path = PurePosixPath(argument)
    if path.is_absolute() or path.as_posix() in has:
        return False
    return _exists(tree.root / path)


def _own_modules(files: Mapping[str, str], base: PurePosixPath, tree: _Tree) -> Iterator[str]:
    """Yield the modules below a directory that files import."""
    names = {each for path, text in files.items() for each in _imports(path, text)}
    for name in sorted(names):
        parts = name.split(".")
        top = base / parts[0]
        for form in (f"{top}.py", f"{top}/__init__.py", f"{base.joinpath(*parts[:2])}.py"):
            if _exists(tree.root / form):
                yield PurePosixPath(form).as_posix()
                break


def _imports(path: str, text: str) -> Iterator[str]:
    """Yield the modules that a Python file imports absolutely; none if it cannot be parsed."""
    if not path.endswith(".py"):
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SyntaxWarning, which the program itself shows
            tree = ast.parse(text)
    except (
        SyntaxError,
        ValueError,
        RecursionError,
        MemoryError,
    ):  # nested too deeply: the last two
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)
