"""The stacks that correspond to the reference architectures, planned and registered once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pulumi
import pytest

from tests.support.batch import BatchStack
from tests.support.cloud import Cloud
from tests.support.eks import BuiltStack
from tests.support.network_stack import NetworkStack
from tests.support.parallelcluster import SlurmStack
from tests.support.stacks import prepared, program_of, stack_config, stack_plan
from trainyard.components.architectures.build import build
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.eks.plan import EksPlan
from trainyard.components.network_stack.plan import NetworkStackPlan
from trainyard.components.parallelcluster.plan import ParallelClusterPlan

_BUILT: dict[str, BuiltStack] = {}
_SLURM: dict[str, SlurmStack] = {}
_BATCH: dict[str, BatchStack] = {}
_NETWORKS: dict[str, NetworkStack] = {}


@pytest.fixture
def stack(deploy: Callable[..., Cloud]) -> Callable[[str], BuiltStack]:
    """Return a stack by its name; the program runs once for all tests."""

    def get(name: str) -> BuiltStack:
        if name not in _BUILT:
            plan = prepared(name).plan
            assert isinstance(plan, EksPlan)
            _BUILT[name] = BuiltStack(
                config=stack_config(name),
                plan=plan,
                cloud=deploy(program_of(name), stack=name),
            )
        return _BUILT[name]

    return get


@pytest.fixture
def reference(stack: Callable[[str], BuiltStack]) -> Mapping[str, BuiltStack]:
    """Return the six stacks for which the reference has manifests, by name."""
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
    """Return the five whose node group eksctl created; that of p5-cb has a separate template."""
    return {name: made for name, made in reference.items() if name != "p5-cb"}


@pytest.fixture
def slurm(deploy: Callable[..., Cloud]) -> Callable[[str], SlurmStack]:
    """Return a ParallelCluster stack by its name; the program runs once for all tests."""

    def get(name: str) -> SlurmStack:
        if name not in _SLURM:
            plan = prepared(name).plan
            assert isinstance(plan, ParallelClusterPlan)
            _SLURM[name] = SlurmStack(
                config=stack_config(name),
                plan=plan,
                cloud=deploy(program_of(name), stack=name),
            )
        return _SLURM[name]

    return get


@pytest.fixture
def templates(slurm: Callable[[str], SlurmStack]) -> Mapping[str, SlurmStack]:
    """Return the stacks of the five ParallelCluster templates, by name."""
    return {
        name: slurm(name)
        for name in ("pc-gpu", "pc-p4de-ami", "pc-p4de-postinstall", "pc-p4de-g5", "pc-trn1-ami")
    }


@pytest.fixture
def batch(deploy: Callable[..., Cloud]) -> Callable[[str], BatchStack]:
    """Return a Batch stack by its name; the program runs once for all tests."""

    def get(name: str) -> BatchStack:
        if name not in _BATCH:
            plan = prepared(name).plan
            assert isinstance(plan, BatchPlan)
            cloud = deploy(program_of(name), stack=name)
            _BATCH[name] = BatchStack(plan=plan, cloud=cloud)
        return _BATCH[name]

    return get


@pytest.fixture
def changed_batch(deploy: Callable[..., Cloud]) -> Callable[..., BatchStack]:
    """Return the Batch stack of a stack file with changed keys."""

    def run(stack: str, **changes: Any) -> BatchStack:
        plan = stack_plan(stack, **changes)
        assert isinstance(plan, BatchPlan)
        return BatchStack(plan=plan, cloud=deploy(_program(plan), stack=stack))

    return run


@pytest.fixture
def network(deploy: Callable[..., Cloud]) -> Callable[[str], NetworkStack]:
    """Return a network stack by its name; the program runs once for all tests."""

    def get(name: str) -> NetworkStack:
        if name not in _NETWORKS:
            plan = prepared(name).plan
            assert isinstance(plan, NetworkStackPlan)
            cloud = deploy(program_of(name), stack=name)
            _NETWORKS[name] = NetworkStack(plan=plan, cloud=cloud)
        return _NETWORKS[name]

    return get


@pytest.fixture
def changed_network(deploy: Callable[..., Cloud]) -> Callable[..., NetworkStack]:
    """Return the network stack of a stack file with changed keys."""

    def run(stack: str, **changes: Any) -> NetworkStack:
        plan = stack_plan(stack, **changes)
        assert isinstance(plan, NetworkStackPlan)
        return NetworkStack(plan=plan, cloud=deploy(_program(plan), stack=stack))

    return run


@pytest.fixture
def registered(deploy: Callable[..., Cloud]) -> Callable[..., Cloud]:
    """Return the ParallelCluster stack of a stack file with changed keys."""

    def run(stack: str, **changes: Any) -> Cloud:
        return deploy(_program(stack_plan(stack, **changes)), stack=stack)

    return run


def _program(plan: ParallelClusterPlan | BatchPlan | NetworkStackPlan) -> Callable[[], None]:
    def program() -> None:
        for name, value in build(plan).items():
            pulumi.export(name, value)

    return program
