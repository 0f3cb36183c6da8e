"""The architectures, one row each.

Only the modules of a stack's architecture are imported, so that `check` takes a fraction of a
second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from trainyard.components.account_part import AccountPart
    from trainyard.components.any_plan import AnyPlan
    from trainyard.components.config.problems import Review
    from trainyard.components.config.stack import StackConfig
    from trainyard.components.network.pool_place import PlanContext


class Planner(Protocol):
    """The function `plan_stack` in the module `planner` of an architecture."""

    def __call__(self, context: PlanContext[Any], review: Review) -> AnyPlan:
        """Return the plan of a stack.

        Raises:
            ConfigError: every problem that the configuration has.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchitectureFacts:
    """What commands know of the stacks of an architecture, whether their files are valid or not."""

    has_kubernetes: bool = False
    """Whether a stack has a Kubernetes cluster, with a provider that can lose it."""
    needs_aws_cli: bool = False
    """Whether its preview runs `aws`:
    https://github.com/pulumi/pulumi-eks/blob/v4.3.0/nodejs/eks/dependencies.ts"""
    made_by_parallelcluster: bool = False
    """Whether AWS ParallelCluster makes the cluster, with a CloudFormation stack of its own."""
    holds_other_stacks: bool = False
    """Whether other stacks have their nodes in what a stack creates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchitecturePackage:
    """The package of one architecture, with the modules `planner`, `account` and `resources`."""

    package: str
    account_part: str
    """Class in `account`."""
    component: str
    """Class in `resources`, a `pulumi.ComponentResource` with `outputs()`."""
    public_subnet_tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of the subnets of a new VPC."""
    private_subnet_tags: Mapping[str, str] = field(default_factory=dict[str, str])
    facts: ArchitectureFacts = ArchitectureFacts()

    @property
    def resources(self) -> str:
        """Name of the module with the component."""
        return f"{self.package}.resources"

    def planner(self) -> Planner:
        """Import and return the planner."""
        return import_module(f"{self.package}.planner").plan_stack


ARCHITECTURES: Mapping[str, ArchitecturePackage] = {
    "eks": ArchitecturePackage(
        package="trainyard.components.eks",
        account_part="EksAccount",
        component="EksArchitecture",
        # Load balancers of the cluster find their subnets by these tags:
        # https://docs.aws.amazon.com/eks/latest/userguide/network-load-balancing.html
        public_subnet_tags={"kubernetes.io/role/elb": "1"},
        private_subnet_tags={"kubernetes.io/role/internal-elb": "1"},
        facts=ArchitectureFacts(has_kubernetes=True, needs_aws_cli=True),
    ),
    "parallelcluster": ArchitecturePackage(
        package="trainyard.components.parallelcluster",
        account_part="ParallelClusterAccount",
        component="ParallelClusterArchitecture",
        facts=ArchitectureFacts(made_by_parallelcluster=True),
    ),
    "batch": ArchitecturePackage(
        package="trainyard.components.batch",
        account_part="BatchAccount",
        component="BatchArchitecture",
    ),
    "network": ArchitecturePackage(
        package="trainyard.components.network_stack",
        account_part="NetworkAccount",
        component="NetworkArchitecture",
        facts=ArchitectureFacts(holds_other_stacks=True),
    ),
}
"""By `architecture.kind` of the stack file."""


def facts_of(kind: str) -> ArchitectureFacts:
    """Return the facts of an architecture; none holds of a kind that does not exist."""
    found = ARCHITECTURES.get(kind)
    return found.facts if found else ArchitectureFacts()


def account_of(config: StackConfig) -> AccountPart[Any, Any]:
    """Return the readings and checks of the account for a stack's architecture."""
    architecture = ARCHITECTURES[config.architecture.kind]
    module = import_module(f"{architecture.package}.account")
    return getattr(module, architecture.account_part)()
