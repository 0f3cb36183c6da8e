"""From a plan to the component that builds it."""

from typing import get_args, get_type_hints

import pytest

from components.architectures import build as build_module
from components.architectures.build import ARCHITECTURES, build, import_ahead
from components.parallelcluster.plan import ParallelClusterPlan
from sandbox.account.stacks import completion
from tests.support.batch_plans import network_stack_plan
from tests.support.batch_plans import plan as batch_plan
from tests.support.eks_plans import eks_plan
from tests.support.parallelcluster_plans import plan as parallelcluster_plan
from tools.cli.checks import config_of, plan_of
from tools.workspace.stack_files import completed, find_stack_file


def test_every_plan_has_a_component():
    assert set(get_args(get_type_hints(build)["plan"])) == ARCHITECTURES.keys()
    assert ParallelClusterPlan in ARCHITECTURES


@pytest.mark.parametrize(
    ("plan", "component", "named"),
    [
        (eks_plan(name="other"), "EksArchitecture", ("other-eks", "name")),
        (
            parallelcluster_plan(name="other"),
            "ParallelClusterArchitecture",
            ("other-deployment", "templateBody"),
        ),
        (batch_plan(name="other"), "BatchArchitecture", ("other-g4dn-queue", "name")),
        (network_stack_plan(name="other"), "NetworkArchitecture", ("other-network-vpc", "tags")),
    ],
)
def test_the_stack_is_named_after_its_cluster(deploy, plan, component, named):
    cloud = deploy(lambda: build(plan))
    (architecture,) = (made for made in cloud.components() if made.type.endswith(component))
    assert architecture.name == "other"
    resource, property_ = named
    assert "other" in str(cloud.one(resource).inputs[property_])


@pytest.mark.parametrize("stack", ["p5-cb", "pc-gpu", "batch-p5", "vpc-one-az"])
def test_what_is_imported_ahead_is_what_the_plan_of_the_stack_is_built_of(monkeypatch, stack):
    imported: list[str] = []
    monkeypatch.setattr(build_module, "_import", imported.append)
    stack_file = completed(find_stack_file(stack), completion(stack))
    monkeypatch.setattr(build_module, "_importing", [])
    import_ahead(config_of(stack_file))
    (thread,) = build_module._importing
    thread.join()
    assert imported == [ARCHITECTURES[type(plan_of(stack_file))][0]]


def test_a_stack_is_built_when_what_was_imported_ahead_is_there(deploy, monkeypatch):
    waited: list[str] = []

    class Importing:
        def join(self) -> None:
            waited.append("joined")

    monkeypatch.setattr(build_module, "_importing", [Importing()])
    deploy(lambda: build(network_stack_plan(name="other")))
    assert waited == ["joined"]


def test_an_import_that_fails_is_said_where_the_stack_is_built():
    build_module._import("components.architectures.no_such_module")
