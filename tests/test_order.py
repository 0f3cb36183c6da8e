"""The processes of the suite run the slowest files first."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import group_of, pytest_collection_modifyitems
from tests.support.tracked import ROOT
from tools.suite import LEFT_OUT, UNIT


def item(path, *marks):
    named = [SimpleNamespace(name=mark) for mark in marks]
    return SimpleNamespace(path=Path(path), nodeid=f"{path}::test", iter_markers=lambda: named)


def test_whole_stacks_come_first_then_the_engine_then_the_files_with_most_tests():
    items = [
        *[item("small.py")] * 2,
        *[item("large.py")] * 5,
        item("engine.py", "engine"),
        item("stack.py"),
        item("stack.py", "engine", "sandbox"),
    ]
    pytest_collection_modifyitems(items)
    files = list(dict.fromkeys(each.path.name for each in items))
    assert files == ["stack.py", "engine.py", "large.py", "small.py"]
    assert len(items) == 10


@pytest.mark.parametrize(
    ("nodeid", "group"),
    [
        ("tests/a/test_b.py::test_c", "tests/a/test_b.py"),
        ("tests/a/test_b.py::test_c[dev-again]", "tests/a/test_b.py"),
        ("tests/a/test_b.py::test_c[@dev@]", "tests/a/test_b.py@dev@"),
        ("tests/a/test_b.py::test_c[@dev@-again]", "tests/a/test_b.py@dev@"),
        ("tests/a/test_b.py::test_c[again-@eks-p5@]", "tests/a/test_b.py@eks-p5@"),
        ("tests/a/test_b.py::test_c[me@home]", "tests/a/test_b.py"),
        ("tests/a/test_b.py::test_c[arn:aws:iam::1:role/me@home]", "tests/a/test_b.py"),
    ],
)
def test_a_file_is_a_group_unless_a_parameter_names_a_group_of_its_own(nodeid, group):
    assert group_of(nodeid) == group


def test_what_runs_an_account_a_plugin_or_every_stack_is_no_unit_test(request):
    """This one is a unit test; the suite gives its first result after all unit tests."""
    marked = {
        item.path.relative_to(ROOT).parts[1]: UNIT in item.keywords
        for item in request.session.items
    }
    assert marked["test_order.py"]
    assert not any(marked.get(directory) for directory in LEFT_OUT)
