"""The part of `verify` that reads the nodes of a stack from its scheduler."""

from __future__ import annotations

from typing import Any

from kubernetes import client

from tools.cli.eks_cluster import reached_cluster
from tools.cli.slurm_submission import reached_head_node
from tools.jobs.nodes import JobNodes
from tools.verify.inventory import Inventory, no_inventory
from tools.verify.kubernetes_inventory import kubernetes_inventory, node_selector
from tools.verify.planned_nodes import PlannedTest
from tools.verify.slurm_inventory import SHOW_NODES, slurm_inventory
from tools.workspace.stack_files import StackFile

_SYSTEM = "kube-system"


def read_inventory(
    stack_file: StackFile, plan: Any, planned: PlannedTest, *, sandbox: bool
) -> Inventory:
    """Return the nodes of a test as the scheduler knows them.

    Args:
        stack_file: File of the stack.
        plan: Plan of the stack.
        planned: The test and its nodes.
        sandbox: Whether the cluster is in the sandbox.

    Raises:
        WrongUseError: there are no credentials.
        CommandError: the stack has no cluster, or the scheduler cannot be reached.
    """
    if planned.chosen is None:
        return no_inventory("AWS Batch launches the nodes for a job; there are none before it")
    if isinstance(planned.chosen, JobNodes):
        return _kubernetes(stack_file, plan, planned.chosen, sandbox=sandbox)
    with reached_head_node(plan, stack_file, sandbox=sandbox) as head_node:
        return slurm_inventory(planned.chosen, head_node.run(SHOW_NODES))


def _kubernetes(stack_file: StackFile, plan: Any, nodes: JobNodes, *, sandbox: bool) -> Inventory:
    with reached_cluster(stack_file, sandbox=sandbox) as api:
        core: Any = client.CoreV1Api(api)
        found = core.list_node(label_selector=node_selector(nodes)).items
        pods = core.list_namespaced_pod(_SYSTEM).items
        # The JSON of the API, as the documentation and `kubectl get -o json` show it.
        read: Any = api.sanitize_for_serialization([found, pods])
    return kubernetes_inventory(plan, nodes, *read)
