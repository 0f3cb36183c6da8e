"""Stacks and accounts with the objects that the stacks name."""

from __future__ import annotations

from typing import Any

from components.account.facts import AccountFacts
from components.account.named_facts import NamedFacts
from components.architectures.prepare import Examined, examine
from components.config.load import load_stack_config
from components.config.problems import ROOT, Problem
from tests.account.conftest import NOW
from tests.support.parallelcluster_accounts import account, odcr
from tests.support.stack_files import RESERVATION


def judged(raw: object, facts: AccountFacts, *, stack_file: str = "Pulumi.p5-cb.yaml") -> Examined:
    """Return the checks of a stack file in an account."""
    config = load_stack_config(raw, stack_file=stack_file)
    return examine(config, facts, stack_file=stack_file, region="us-west-2", now=NOW)


def refused(found: Examined, check: str = "names") -> dict[str, Problem]:
    """Return the problems of one check, by key."""
    return {
        problem.path.removeprefix(f"{ROOT}."): problem
        for each in found.checks
        if each.name == check
        for problem in each.problems
    }


def in_slurm(raw: object, named: NamedFacts, **changes: Any) -> Examined:
    """Return the checks of a ParallelCluster stack."""
    facts = account(named=named, **changes)
    return judged(raw, facts, stack_file="Pulumi.pc-p4de.yaml")


def in_batch(raw: object, named: NamedFacts) -> Examined:
    """Return the checks of an AWS Batch stack."""
    facts = account(
        named=named,
        reservations={RESERVATION: odcr(instance_type="p4d.24xlarge", instance_count=2)},
        offered_zone_ids={"p4d.24xlarge": frozenset({"usw2-az1", "usw2-az2"})},
        images={},
    )
    return judged(raw, facts, stack_file="Pulumi.batch-p4d.yaml")
