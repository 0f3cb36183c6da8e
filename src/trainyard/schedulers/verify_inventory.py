"""The part of `verify` that reads the nodes of a stack from its scheduler."""

from __future__ import annotations

from typing import Any

from kubernetes import client

from trainyard.jobs.nodes import JobNodes
from trainyard.schedulers.deployed_stack import DeployedStack
from trainyard.schedulers.kubernetes.cluster import reached_cluster
from trainyard.verify.inventory import (
    SHOW_NODES,
    Inventory,
    kubernetes_inventory,
    no_inventory,
    node_selector,
    slurm_inventory,
)
from trainyard.verify.planned_nodes import PlannedTest

_SYSTEM = "kube-system"


def read_inventory(deployed: DeployedStack, plan: Any, planned: PlannedTest) -> Inventory:
    """Return the nodes of a test as the scheduler knows them.

    Args:
        deployed: The stack.
        plan: Plan of the stack.
        planned: The test and its nodes.

    Raises:
        WrongUseError: there are no credentials.
        CommandError: the stack has no cluster, or the scheduler cannot be reached.
    """
    if planned.chosen is None:
        return no_inventory("AWS Batch launches the nodes for a job; there are none before it")
    if isinstance(planned.chosen, JobNodes):
        return _kubernetes(deployed, plan, planned.chosen)
    return slurm_inventory(planned.chosen, deployed.run_on_head_node(plan, SHOW_NODES))


def _kubernetes(deployed: DeployedStack, plan: Any, nodes: JobNodes) -> Inventory:
    with reached_cluster(deployed.target) as api:
        core: Any = client.CoreV1Api(api)
        found = core.list_node(label_selector=node_selector(nodes)).items
        pods = core.list_namespaced_pod(_SYSTEM).items
        # The JSON of the API, as the documentation and `kubectl get -o json` show it.
        read: Any = api.sanitize_for_serialization([found, pods])
    return kubernetes_inventory(plan, nodes, *read)
