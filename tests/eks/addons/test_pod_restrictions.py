"""What the pods of every workload may do, and the table of the documents with the reasons.

The table has a row for each workload, so that a new one needs a decision.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.kubernetes import DEFAULT
from tests.support.stacks import EKS_STACKS
from tests.support.tracked import ROOT
from trainyard.components.eks.addons import registry
from trainyard.components.eks.addons.addon import AddonTarget, SelfManagedAddon
from trainyard.components.runtime.workload_plan import WorkloadPlan

PAGE = ROOT / "docs" / "security.md"
HEADING = "## What the pods of add-ons may do"
GOLDENS = sorted((ROOT / "tests" / "goldens" / "stacks").glob("*.yaml"))
COLUMNS = (
    "Workload",
    "Requests",
    "Limits",
    "System calls",
    "Capabilities",
    "Root directory",
    "User",
    "Token",
    "Why not less",
)
LEAST = {
    "System calls": "filtered",
    "Capabilities": "none",
    "Root directory": "read-only",
    "User": "not root",
}


def documented() -> dict[str, dict[str, str]]:
    """Return the rows of the table, by workload and column."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n{HEADING}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    head, _, *rows = ([cell.strip() for cell in line[1:-1].split("|")] for line in lines)
    assert tuple(head) == COLUMNS
    found = {cells[0].strip("`"): dict(zip(head[1:], cells[1:], strict=True)) for cells in rows}
    assert len(found) == len(rows)
    return found


def plans_of(addon: SelfManagedAddon) -> list[WorkloadPlan]:
    target = AddonTarget(
        region="us-west-2", kubernetes_version=DEFAULT, instance_types=["p5.48xlarge"], taints=[]
    )
    return list(addon.workloads(target))


PLANS = [plan for addon in registry.SELF_MANAGED_ADDONS.values() for plan in plans_of(addon)]


def name_of(plan: WorkloadPlan) -> str:
    return plan.controller["metadata"]["name"]


def rendered(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every object with a pod template in a document."""
    match value:
        case {"kind": str(), "spec": {"template": {"spec": {"containers": _}}}}:
            yield value
        case {}:
            for each in value.values():
                yield from rendered(each)
        case list():
            for each in value:
                yield from rendered(each)


def quantities(container: Mapping[str, Any], kind: str) -> str:
    found = container.get("resources", {}).get(kind, {})
    return ", ".join(f"{name} {amount}" for name, amount in sorted(found.items())) or "none"


def capabilities(context: Mapping[str, Any]) -> str:
    """Return what a container may do, where dropping without closing the way back is nothing."""
    if context.get("privileged"):
        return "privileged"
    held = context.get("capabilities", {})
    if held.get("drop") != ["ALL"] or context.get("allowPrivilegeEscalation") is not False:
        return "the runtime's"
    return ", ".join(held.get("add", [])) or "none"


def user(context: Mapping[str, Any]) -> str:
    if context.get("runAsNonRoot"):
        return "not root"
    return "root" if context.get("runAsUser") == 0 else "the image's"


def restrictions(controller: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns of a workload, as Kubernetes applies its fields.

    https://kubernetes.io/docs/tasks/configure-pod-container/security-context/: fields of a
    container override those of the pod.
    """
    pod = controller["spec"]["template"]["spec"]
    found = []
    for container in (*pod.get("initContainers", ()), *pod["containers"]):
        context = {**pod.get("securityContext", {}), **container.get("securityContext", {})}
        profile = context.get("seccompProfile", {}).get("type")
        # Kubernetes does not filter the system calls of a privileged container.
        filtered = profile == "RuntimeDefault" and not context.get("privileged")
        found.append(
            {
                "Requests": quantities(container, "requests"),
                "Limits": quantities(container, "limits"),
                "System calls": "filtered" if filtered else "all",
                "Capabilities": capabilities(context),
                "Root directory": (
                    "read-only" if context.get("readOnlyRootFilesystem") else "writable"
                ),
                "User": user(context),
                "Token": "no" if pod.get("automountServiceAccountToken") is False else "yes",
            }
        )
    assert all(each == found[0] for each in found), "containers differ: each needs a row"
    return found[0]


def without_reason(row: Mapping[str, str]) -> dict[str, str]:
    return {column: cell for column, cell in row.items() if column != "Why not less"}


@pytest.mark.parametrize("plan", PLANS, ids=name_of)
def test_the_table_says_what_the_pods_of_a_workload_may_do(plan: WorkloadPlan) -> None:
    row = documented().get(name_of(plan))
    assert row is not None, f"{name_of(plan)} has no row below {HEADING!r} in docs/security.md"
    assert without_reason(row) == restrictions(plan.controller)


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: path.stem)
def test_every_workload_of_a_stack_is_in_the_table(golden: Path) -> None:
    rows = documented()
    made = list(rendered(yaml.safe_load(golden.read_text(encoding="utf-8"))))
    found = {each["metadata"]["name"]: restrictions(each) for each in made}
    assert found == {name: without_reason(rows.get(name, {})) for name in found}
    assert bool(found) is (golden.stem in EKS_STACKS)


def test_the_table_has_no_other_workloads() -> None:
    assert set(documented()) == {name_of(plan) for plan in PLANS}


@pytest.mark.parametrize("name", [name_of(plan) for plan in PLANS])
def test_what_a_workload_may_do_beyond_the_least_has_a_reason(name: str) -> None:
    row = documented()[name]
    beyond = [column for column, least in LEAST.items() if row[column] != least]
    lacks_requests = not re.search(r"cpu .*memory ", row["Requests"])
    assert bool(beyond or lacks_requests) == (row["Why not less"] != "")


@pytest.mark.parametrize("plan", PLANS, ids=name_of)
def test_only_pods_with_a_service_account_of_their_own_get_a_token(plan: WorkloadPlan) -> None:
    """The account named `default` has no permissions, and its token is of no use."""
    named = plan.controller["spec"]["template"]["spec"].get("serviceAccountName")
    own = plan.account is not None or named is not None
    assert restrictions(plan.controller)["Token"] == ("yes" if own else "no")
