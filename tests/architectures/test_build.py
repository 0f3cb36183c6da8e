"""From a plan to the component that builds it."""

import subprocess
import sys
import threading
from importlib import import_module

import pulumi
import pytest

from tests.support.batch import plan as batch_plan
from tests.support.eks import eks_plan
from tests.support.network_stack import network_stack_plan
from tests.support.parallelcluster import plan as parallelcluster_plan
from tests.support.tracked import ROOT
from trainyard.components.architectures.build import Ahead, build, import_ahead
from trainyard.components.architectures.registry import ARCHITECTURES
from trainyard.components.config.given_stack import GivenStack
from trainyard.components.config.keys import kinds_of
from trainyard.stack_files.completion import completed, sandbox_completion
from trainyard.stack_files.stack_config import config_of, plan_of
from trainyard.stack_files.stack_files import find_stack_file

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
def test_what_is_imported_ahead_is_what_the_plan_of_the_stack_is_built_of(stack):
    begun: list[tuple[str, ...]] = []

    class Recorded(Ahead):
        def begin(self, modules) -> None:
            begun.append(modules)

    stack_file = completed(find_stack_file(stack), sandbox_completion(find_stack_file(stack)))
    import_ahead(config_of(stack_file), Recorded())
    ((module, *_),) = begun
    assert module == ARCHITECTURES[plan_of(stack_file).kind].resources


def test_a_stack_is_built_when_what_was_imported_ahead_is_there(deploy):
    imported: list[str] = []
    begun = threading.Event()

    def until_the_end(name: str) -> None:
        begun.set()
        ahead._building.wait(timeout=10)
        imported.append(name)

    class Recorded(Ahead):
        def end(self) -> None:
            super().end()
            imported.append("ended")

    ahead = Recorded(until_the_end)
    ahead.begin(["first"])
    begun.wait()
    deploy(lambda: build(network_stack_plan(name="other"), ahead))
    assert imported == ["first", "ended"]


def test_an_import_that_fails_is_said_where_the_stack_is_built():
    ahead = Ahead()
    ahead.begin(["trainyard.components.architectures.no_such_module"])
    ahead.end()


def test_what_is_imported_ahead_ends_with_the_module_under_way_when_the_stack_is_built():
    imported: list[str] = []
    begun = threading.Event()

    def until_the_end(name: str) -> None:
        imported.append(name)
        begun.set()
        ahead._building.wait(timeout=10)

    ahead = Ahead(until_the_end)
    ahead.begin(["first", "second"])
    begun.wait()
    ahead.end()
    assert imported == ["first"]


def test_no_component_imports_the_classes_of_kubernetes():
    code = (
        "import sys, pulumi_kubernetes as kubernetes, trainyard.components.eks.resources; "
        "kubernetes.Provider; "
        "classes = {n for n in sys.modules if n.startswith('pulumi_kubernetes.core.')}; "
        "sys.exit(str(classes) if classes else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert done.returncode == 0
