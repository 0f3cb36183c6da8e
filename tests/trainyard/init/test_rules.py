"""A new EKS cluster satisfies the two rules that its example breaks, and no file disables a rule.

`tests/stacks/test_new_stack.py` and `tests/stacks/test_preview_findings.py` see the same in a
preview.
"""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.support.account import BLOCK, VPC
from tests.support.policy import Declared, check
from tests.support.stack_files import EXISTING_NETWORK, plan_from, with_values
from tests.support.tracked import ROOT
from tests.trainyard.init.support.new_stacks import cluster
from trainyard.components.architectures.build import build
from trainyard.init.examples import examples
from trainyard.policies.resources.types import EKS_CLUSTER
from trainyard.policies.rules.security import eks_audit_log, eks_public_endpoint_restricted

RULES = (eks_public_endpoint_restricted.POLICY, eks_audit_log.POLICY)
OPEN, SILENT = (rule.name for rule in RULES)
EKS = [each.stack for each in examples().values() if each.kind == "eks"]


@pytest.fixture
def broken(deploy):
    """Return which of the two rules the cluster of a stack file breaks.

    The cluster itself is made by the package, with these arguments.
    """

    def run(raw: dict[str, Any]) -> set[str]:
        made = deploy(lambda: build(plan_from(raw))).one(f"{raw['name']}-eks").inputs
        network = {
            "endpointPublicAccess": made["endpointPublicAccess"],
            "publicAccessCidrs": made.get("publicAccessCidrs"),
        }
        logs = made.get("enabledClusterLogTypes")
        given = Declared(EKS_CLUSTER, "it", {"vpcConfig": network, "enabledClusterLogTypes": logs})
        return {rule.name for rule in RULES if check(rule, given).messages}

    return run


def written(stack: str) -> dict[str, Any]:
    text = (ROOT / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)["config"]["trainyard:cluster"]


@pytest.mark.parametrize("networks", [("203.0.113.0/24",), ("private",)], ids="-".join)
def test_a_new_eks_cluster_breaks_neither_rule(broken, networks) -> None:
    raw = cluster(kind="eks", reservations=(BLOCK,), vpc=VPC, api_networks=networks)
    assert broken(raw) == set()
    assert "policies" not in raw


def test_a_new_cluster_that_everybody_reaches_keeps_the_warning(broken) -> None:
    raw = cluster(kind="eks", reservations=(BLOCK,), vpc=VPC, api_networks=("0.0.0.0/0",))
    assert broken(raw) == {OPEN}
    assert raw["policies"] == {OPEN: {"enforcement_level": "advisory"}}


def test_an_example_breaks_the_rules_that_its_comments_name(broken) -> None:
    ids = {"network": EXISTING_NETWORK, "reservations.block.reservation_id": BLOCK}
    assert broken(with_values(written("p5-cb"), ids)) == {OPEN, SILENT}


@pytest.mark.parametrize("stack", examples())
def test_no_shipped_stack_disables_a_rule(stack: str) -> None:
    levels = {
        name: rule.get("enforcement_level")
        for name, rule in written(stack).get("policies", {}).items()
    }
    assert levels == (dict.fromkeys((OPEN, SILENT), "advisory") if stack in EKS else {})
