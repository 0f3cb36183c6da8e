"""`check`, compared with the validation of ParallelCluster.

`./trainyard check <stack> --sandbox`, from start to end, and `pcluster create-cluster --dryrun
true` for the stack's cluster file against the sandbox's account. Requires a running sandbox
(`./trainyard sandbox start`), which it only reads.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

import yaml

from tools.benchmarks.measuring import Comparison, Run, alternate, run_call, run_process
from tools.parallelcluster.dryrun import create_cluster_dryrun
from tools.repository import ROOT
from trainyard.components.architectures.lookup import look_up
from trainyard.components.architectures.prepare import prepare
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.components.parallelcluster.references import Reference, resolve
from trainyard.components.parallelcluster.rendering import render_cluster, to_yaml
from trainyard.sandbox.access import Endpoint
from trainyard.sandboxes.session import running_sandbox
from trainyard.stack_files.completion import completed, sandbox_completion
from trainyard.stack_files.stack_config import config_of
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.session import account_access

BUDGET = 0.2
REGION = "us-west-2"
STACK = "pc-p4de-ami"
STAND_INS = {"public": "subnet-0d000000000000001", "private": "subnet-0d000000000000002"}
"""Subnets of the sandbox's account, in place of those of a VPC that a stack has not created."""


def measure(rounds: int) -> list[Comparison]:
    """Return the line of the table."""
    account = running_sandbox().status.endpoint
    with account_access(sandbox=True):
        configuration = _configuration(STACK)
    of, against = f"check of {STACK}", "pcluster create-cluster --dryrun"
    sides: dict[str, Run] = {
        of: lambda: run_process([ROOT / "trainyard", "check", STACK, "--sandbox"]),
        against: _dryrun(configuration, account),
    }
    runs = alternate(sides, rounds)
    return [
        Comparison(
            name="parallelcluster",
            of=of,
            against=against,
            budget=BUDGET,
            runs=runs,
        )
    ]


def _dryrun(configuration: dict[str, Any], account: Endpoint) -> Run:
    return lambda: run_call(
        lambda: create_cluster_dryrun(configuration, account=account, region=REGION)
    )


def _configuration(stack: str) -> dict[str, Any]:
    """Return the cluster file of a stack, its subnets chosen by the account."""
    stack_file = completed(find_stack_file(stack), sandbox_completion(find_stack_file(stack)))
    config = config_of(stack_file)
    prepared = prepare(
        config,
        look_up(config, region=REGION),
        stack_file=stack_file.name,
        region=REGION,
        now=datetime.now(UTC),
    )
    plan = cast("ParallelClusterPlan", prepared.plan)
    # As plain text, like a user's file.
    return yaml.safe_load(to_yaml(resolve(render_cluster(plan), _id_of)))


def _id_of(reference: Reference) -> str:
    if reference.name.startswith("subnet-"):
        return reference.name
    return STAND_INS[reference.name.partition("-")[0]]
