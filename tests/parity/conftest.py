"""The stacks that stand for the reference architectures, planned and registered once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from tests.support.built_stacks import BuiltStack
from tests.support.cloud import Cloud
from tests.support.stacks import prepared, program_of, stack_config

_BUILT: dict[str, BuiltStack] = {}


@pytest.fixture
def stack(deploy: Callable[..., Cloud]) -> Callable[[str], BuiltStack]:
    """Return a stack by its name; the program runs once for all tests."""

    def get(name: str) -> BuiltStack:
        if name not in _BUILT:
            _BUILT[name] = BuiltStack(
                config=stack_config(name),
                plan=prepared(name).plan,
                cloud=deploy(program_of(name), stack=name),
            )
        return _BUILT[name]

    return get


@pytest.fixture
def reference(stack: Callable[[str], BuiltStack]) -> Mapping[str, BuiltStack]:
    """Return the six stacks that the reference has manifests for, by name."""
    return {
        name: stack(name)
        for name in (
            "eks-g4dn",
            "eks-g4dn-vpc",
            "eks-p4de-odcr",
            "eks-p4de-odcr-vpc",
            "eks-p5-odcr",
            "p5-cb",
        )
    }


@pytest.fixture
def eksctl(reference: Mapping[str, BuiltStack]) -> Mapping[str, BuiltStack]:
    """Return the five whose node group eksctl made; that of p5-cb has a template of its own."""
    return {name: made for name, made in reference.items() if name != "p5-cb"}
