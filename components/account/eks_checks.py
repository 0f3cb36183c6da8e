"""Account checks that are specific to EKS stacks."""

from __future__ import annotations

from collections.abc import Iterator

from components.account.addon_version_check import addon_version_problems, look_up_addon_offers
from components.account.authorization_check import (
    authorization_problems,
    authorization_warnings,
    needs_aws_auth,
)
from components.account.check import Check
from components.account.cluster_lookup import look_up_cluster
from components.account.control_plane_check import control_plane_problems
from components.account.eks_egress_check import egress_problems
from components.account.facts import AccountFacts
from components.account.file_system_check import file_system_plan_problems, file_system_warnings
from components.account.key_pair_check import missing_key_problems
from components.account.lookup import AccountReader
from components.account.pool_check import address_problems
from components.account.readings import Reading
from components.account.version_check import version_problems, version_warnings
from components.config.eks_stack import EksStackConfig
from components.config.network import ExistingVpc
from components.config.problems import ROOT, Problem
from components.eks.address_capacity import addresses_by_subnet
from components.eks.plan import EksPlan


def eks_readings(reader: AccountReader, config: EksStackConfig) -> Iterator[Reading]:
    """Yield the readings for an EKS stack."""
    yield lambda: {
        "cluster": look_up_cluster(reader, config.name, with_aws_auth=needs_aws_auth(config))
    }
    yield lambda: {"addon_offers": look_up_addon_offers(reader, config)}


def eks_checks(config: EksStackConfig, facts: AccountFacts, *, stack_file: str) -> Iterator[Check]:
    """Yield the checks of a completed configuration."""
    if isinstance(config.network, ExistingVpc):
        yield Check("control plane subnets", control_plane_problems(config.network, facts))
    yield Check("key pairs", _key_problems(config, facts))
    yield Check("authorization", authorization_problems(config, facts, stack_file=stack_file))
    yield Check("Kubernetes version", version_problems(config, facts, stack_file=stack_file))
    yield Check("add-on versions", addon_version_problems(config, facts, stack_file=stack_file))


def eks_plan_checks(plan: EksPlan, facts: AccountFacts, *, stack_file: str) -> Iterator[Check]:
    """Yield the checks of a plan."""
    rooms = address_problems(
        addresses_by_subnet(plan.node_groups),
        plan.network,
        facts,
        takers="interfaces and pods",
        remedy="fewer nodes, or interface_layout: efa-only, which takes one address a node",
    )
    yield Check("addresses", rooms)
    yield Check("images of pods", egress_problems(plan, facts))
    yield Check("file systems", file_system_plan_problems(plan, facts, stack_file=stack_file))


def _key_problems(config: EksStackConfig, facts: AccountFacts) -> Iterator[Problem]:
    for name, group in config.architecture.node_groups.items():
        yield from missing_key_problems(
            f"{ROOT}.architecture.node_groups.{name}.ssh_key_name",
            group.ssh_key_name,
            facts,
            loss="no node would launch",
            remedy="remove ssh_key_name",
        )


def eks_warnings(config: EksStackConfig, plan: EksPlan, facts: AccountFacts) -> Iterator[str]:
    """Yield warnings to show before any change."""
    yield from authorization_warnings(config, facts)
    yield from version_warnings(config, facts)
    yield from file_system_warnings(plan, facts)
