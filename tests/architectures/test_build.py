"""From a plan to the component that builds it."""

import subprocess
import sys
import threading
from importlib import import_module

import pulumi
import pytest

from components.architectures import build as build_module
from components.architectures.build import build, import_ahead
from components.architectures.registry import ARCHITECTURES
from components.config.given_stack import GivenStack
from components.config.keys import kinds_of
from sandbox.account.stacks import completion
from tests.support.batch import plan as batch_plan
from tests.support.eks import eks_plan
from tests.support.network_stack import network_stack_plan
from tests.support.parallelcluster import plan as parallelcluster_plan
from tools.cli.stack_config import config_of, plan_of
from tools.workspace.checkout import ROOT
from tools.workspace.completion import completed
from tools.workspace.stack_files import find_stack_file

KINDS = kinds_of(GivenStack.model_fields["architecture"].annotation)


def test_every_architecture_of_the_schema_has_a_row_and_what_the_row_names():
    assert list(ARCHITECTURES) == KINDS
    for kind, architecture in ARCHITECTURES.items():
        assert architecture.planner()
        account = import_module(f"{architecture.package}.account")
        assert getattr(account, architecture.account_part)().needs
        component = getattr(import_module(architecture.resources), architecture.component)
        assert issubclass(component, pulumi.ComponentResource), kind


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
    imported: list[tuple[str, ...]] = []
    monkeypatch.setattr(build_module, "_import", imported.append)
    stack_file = completed(find_stack_file(stack), completion(find_stack_file(stack)))
    monkeypatch.setattr(build_module, "_importing", [])
    import_ahead(config_of(stack_file))
    (thread,) = build_module._importing
    thread.join()
    ((module, *_),) = imported
    assert module == ARCHITECTURES[plan_of(stack_file).kind].resources


def test_a_stack_is_built_when_what_was_imported_ahead_is_there(deploy, monkeypatch):
    waited: list[str] = []

    class Importing:
        def join(self) -> None:
            waited.append("joined")

    monkeypatch.setattr(build_module, "_importing", [Importing()])
    deploy(lambda: build(network_stack_plan(name="other")))
    assert waited == ["joined"]


def test_an_import_that_fails_is_said_where_the_stack_is_built():
    build_module._import(["components.architectures.no_such_module"])


def test_what_is_imported_ahead_ends_with_the_module_under_way_when_the_stack_is_built(monkeypatch):
    imported: list[str] = []

    def import_module(name: str) -> object:
        imported.append(name)
        build_module._building.set()
        return object()

    monkeypatch.setattr(build_module, "import_module", import_module)
    monkeypatch.setattr(build_module, "_building", threading.Event())
    build_module._import(["first", "second"])
    assert imported == ["first"]


def test_no_component_imports_the_classes_of_kubernetes():
    code = (
        "import sys, pulumi_kubernetes as kubernetes, components.eks.resources; "
        "kubernetes.Provider; "
        "classes = {n for n in sys.modules if n.startswith('pulumi_kubernetes.core.')}; "
        "sys.exit(str(classes) if classes else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert done.returncode == 0
