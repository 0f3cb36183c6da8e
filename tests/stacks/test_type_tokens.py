"""Type tokens are in the state of every stack permanently: a changed one replaces resources."""

import ast

import pytest

from tests.support.stacks import ROOT
from trainyard.components.eks.addons.registry import SELF_MANAGED_ADDONS

FIRST_FOLDERS = {
    "BatchArchitecture": "architectures",
    "ClusterServices": "architectures",
    "ClusterStorage": "architectures",
    "DevicePlugins": "architectures",
    "EksArchitecture": "architectures",
    "NetworkArchitecture": "architectures",
    "ParallelClusterArchitecture": "architectures",
}
"""Folders of components that were elsewhere when the first stack was created."""


def components():
    return list(_components())


def with_one_token():
    return [case for case in _components() if case.values[1].name != "AddonWorkloads"]


def _components():
    for path in sorted((ROOT / "components").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and "ComponentResource" in ast.unparse(
                ast.Tuple(elts=node.bases, ctx=ast.Load())
            ):
                yield pytest.param(path, node, id=node.name)


def token(component):
    (call,) = (
        node
        for node in ast.walk(component)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "super().__init__"
    )
    return ast.literal_eval(call.args[0])


def addon_tokens():
    """Return the tokens of `AddonWorkloads`, one for each add-on."""
    return [f"trainyard:runtime:{addon.component}" for addon in SELF_MANAGED_ADDONS.values()]


@pytest.mark.parametrize(("path", "component"), with_one_token())
def test_a_token_is_the_first_folder_and_the_class(path, component):
    folder = FIRST_FOLDERS.get(component.name, path.parent.name)
    assert token(component) == f"trainyard:{folder}:{component.name}"


@pytest.mark.parametrize(("path", "component"), components())
def test_a_component_closes_itself_once(path, component):
    closed = [
        node
        for node in ast.walk(component)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "self.register_outputs"
    ]
    assert len(closed) == 1, path


def test_no_token_was_lost_or_renamed(golden):
    tokens = sorted([*(token(case.values[1]) for case in with_one_token()), *addon_tokens()])
    golden("type_tokens.txt", "\n".join(tokens) + "\n")
