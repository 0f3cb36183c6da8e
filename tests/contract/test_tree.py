"""What is a function, and what is a module: sizes, and modules that only their neighbor imports.

A function fits on a screen, and a module is what several others need. A part of one module belongs
into it, however long it becomes within `MOST_LINES_OF_A_MODULE`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from textwrap import dedent

import pytest

from tests.contract.support.tree import (
    Tree,
    circles,
    long_functions,
    long_modules,
    measured_imports,
    name_of,
    needless_modules,
    read_tree,
)
from tests.support.tracked import ROOT, tracked
from tools.clone import COMMANDS

MOST_LINES_OF_A_FUNCTION = 60
MOST_LINES_OF_A_MODULE = 800
MOST_LINES_OF_ANOTHER_LANGUAGE = 300
FOLDERS = (
    "components",
    "examples",
    "policies",
    "sandbox",
    "src",
    "tests",
    "tools",
)
KNOWN = Path(__file__).with_name("needless_modules.txt")
"""Modules that only their neighbor imports, and that are still to be merged with it."""


@cache
def our_tree() -> Tree:
    """Return the product and its tests."""
    paths = [path for path in tracked(".py") if path.parts[0] in {*FOLDERS, "__main__.py"}]
    return read_tree(ROOT, paths)


def test_functions_fit_on_a_screen() -> None:
    assert not long_functions(our_tree(), MOST_LINES_OF_A_FUNCTION)


def test_modules_stay_readable() -> None:
    assert not long_modules(our_tree(), MOST_LINES_OF_A_MODULE)


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Neither of them could be read, tested or moved without the other ones."""
    assert not circles(our_tree())


def test_files_of_go_and_shell_stay_short() -> None:
    lines = {
        str(path): (ROOT / path).read_text("utf-8").count("\n") for path in tracked(".go", ".sh")
    }
    most = MOST_LINES_OF_ANOTHER_LANGUAGE
    assert not {path: count for path, count in lines.items() if count > most}


def test_no_further_module_is_imported_by_its_neighbor_only() -> None:
    """The list of those that exist only becomes shorter."""
    commands = {row.full_name for row in COMMANDS.values()}
    measured = measured_imports((ROOT / "docs" / "performance.md").read_text(encoding="utf-8"))
    found = needless_modules(our_tree(), commands=commands, measured=measured)
    known = KNOWN.read_text(encoding="utf-8").splitlines()
    new = [f"{path}: only {found[path]} imports it" for path in sorted(found.keys() - known)]
    assert not new, "merge each of these modules with its only importer"
    gone = sorted(set(known) - found.keys())
    assert not gone, f"remove these lines from {KNOWN.relative_to(ROOT)}"
    assert known == sorted(found)


PART, WHOLE = "a/part.py", "a/whole.py"
FOUND = {PART: WHOLE}


def made_up(root: Path, files: Mapping[str, str]) -> Tree:
    """Write files, and return the tree of them."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    return read_tree(root, map(Path, files))


def needless(
    root: Path,
    files: Mapping[str, str],
    *,
    commands: Collection[str] = (),
    measured: Collection[str] = (),
) -> dict[str, str]:
    """Return the needless modules of a tree of these files."""
    return needless_modules(made_up(root, files), commands=commands, measured=measured)


@pytest.mark.parametrize(
    ("statement", "is_circle"),
    [
        ("from a.whole import name", True),
        ("def f():\n    from a.whole import name", True),
        ("if TYPE_CHECKING:\n    from a.whole import name", False),
        ("from a.other import name", False),
    ],
)
def test_a_circle_of_imports_is_found(tmp_path: Path, statement: str, is_circle: bool) -> None:
    tree = made_up(tmp_path, {PART: statement, WHOLE: "import a.part", "a/other.py": ""})
    assert [sorted(each) for each in circles(tree)] == [["a.part", "a.part", "a.whole"]] * is_circle


@pytest.mark.parametrize(
    "statement",
    [
        "import a.part",
        "from a import part",
        "from a.part import name",
        "def f():\n    from a.part import name",
        "def f():\n    # It takes long.\n    from a.part import name",
        "if True:\n    import a.part",
    ],
)
def test_a_module_that_only_its_neighbor_imports_is_found(tmp_path: Path, statement: str) -> None:
    assert needless(tmp_path, {PART: "", WHOLE: statement}) == FOUND


def test_a_module_of_tests_is_found_too(tmp_path: Path) -> None:
    part, whole = "tests/support/part.py", "tests/support/whole.py"
    files = {part: "", whole: "import tests.support.part"}
    assert needless(tmp_path, files) == {part: whole}


def test_a_test_is_no_second_importer(tmp_path: Path) -> None:
    files = {PART: "", WHOLE: "import a.part", "tests/a/test_part.py": "import a.part"}
    assert needless(tmp_path, files) == FOUND


@pytest.mark.parametrize(
    "importers",
    [
        pytest.param([WHOLE, "a/other.py"], id="two of the folder"),
        pytest.param(["b/whole.py"], id="one of another folder"),
        pytest.param(["a/b/whole.py"], id="one of a folder below"),
        pytest.param(["whole.py"], id="one of the folder above"),
        pytest.param([], id="none"),
        pytest.param(["tests/a/test_part.py"], id="only its test"),
        pytest.param(["a/registry.py"], id="a registry"),
    ],
)
def test_a_module_with_other_importers_is_no_part(tmp_path: Path, importers: list[str]) -> None:
    assert not needless(tmp_path, {PART: "", **dict.fromkeys(importers, "import a.part")})


@pytest.mark.parametrize(
    "path",
    [
        "a/__init__.py",
        "a/__main__.py",
        "a/conftest.py",
        "tests/test_part.py",
        "policies/rules/topic/part.py",
    ],
)
def test_what_is_reached_by_its_name_or_its_folder_is_exempt(tmp_path: Path, path: str) -> None:
    module = name_of(Path(path))
    tree = made_up(tmp_path, {path: "", f"{Path(path).parent}/whole.py": f"import {module}"})
    assert [each.module for file in tree.values() for each in file.imports] == [module]
    assert not needless_modules(tree, commands=(), measured=())


def test_what_rules_share_is_not_exempt(tmp_path: Path) -> None:
    part, whole = "policies/rules/part.py", "policies/rules/whole.py"
    assert needless(tmp_path, {part: "", whole: "import trainyard.policies.rules.part"}) == {
        part: whole
    }


def test_a_program_is_exempt(tmp_path: Path) -> None:
    program = 'if __name__ == "__main__":\n    print()\n'
    assert not needless(tmp_path, {PART: program, WHOLE: "import a.part"})


def test_a_command_is_exempt(tmp_path: Path) -> None:
    assert not needless(tmp_path, {PART: "", WHOLE: "import a.part"}, commands={"a.part"})


LATE = "def f():\n    from a.part import name"


@pytest.mark.parametrize(
    "text",
    [
        f"{LATE}  # 30 ms\n",
        "def f():\n    # Only failures need it,\n    # 0.3 s.\n    import a.part",
        "def f():\n    from a.part import (  # 30 ms\n        name,\n    )",
    ],
)
def test_a_late_import_with_its_duration_is_exempt(tmp_path: Path, text: str) -> None:
    assert not needless(tmp_path, {PART: "", WHOLE: text})


def test_a_late_import_in_the_table_of_performance_is_exempt(tmp_path: Path) -> None:
    assert not needless(tmp_path, {PART: "", WHOLE: LATE}, measured={"a.part"})


def test_an_import_for_type_checkers_takes_no_time(tmp_path: Path) -> None:
    for_types = "if TYPE_CHECKING:\n    import a.part\n"
    assert not needless(tmp_path, {PART: "", WHOLE: f"{for_types}{LATE}  # 30 ms\n"})
    assert needless(tmp_path, {PART: "", WHOLE: for_types}) == FOUND


def test_a_duration_exempts_no_import_at_the_top(tmp_path: Path) -> None:
    files = {PART: "", WHOLE: f"import a.part  # 30 ms\n{LATE}  # 30 ms\n"}
    assert needless(tmp_path, files, measured={"a.part"}) == FOUND


def test_the_first_column_of_the_table_names_late_imports() -> None:
    text = """
    | `x.other` | it is another table |

    ## Imports inside functions

    | Import | Where | Saves |
    |---|---|---|
    | `a.part`: boto3 | `f` in `a.whole` | 30 ms |
    | `a.one`, `a.two` | `f` | 1 ms |
    | boto3 | `main` | 0.1 s |

    ## Known costs

    | `x.third` | |
    """
    assert measured_imports(dedent(text)) == {"a.part", "a.one", "a.two"}


def test_long_functions_are_found_without_their_decorators(tmp_path: Path) -> None:
    text = """
    class A:
        @property
        def three(self):
            def two():
                return 1
            return two()


    async def one(): ...
    """
    tree = made_up(tmp_path, {PART: text})
    assert long_functions(tree, 1) == ["a/part.py:4: three, 4 lines", "a/part.py:5: two, 2 lines"]
    assert not long_functions(tree, 4)


def test_long_modules_are_found(tmp_path: Path) -> None:
    tree = made_up(tmp_path, {PART: "1\n2\n3\n", WHOLE: "1\n2\n"})
    assert long_modules(tree, 2) == ["a/part.py: 3 lines"]
