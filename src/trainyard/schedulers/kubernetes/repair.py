"""`repair` for EKS: shows which nodes are bad, asks, and replaces them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.cli import console, failures
from trainyard.components.account.call_failures import explained
from trainyard.components.eks.plan import EksPlan
from trainyard.deployment.stack_outputs import deployed_cluster, outputs_of
from trainyard.jobs.nodes import JobNodes
from trainyard.repair.account import Account
from trainyard.repair.decision import Decision
from trainyard.repair.node_replacement import NodeReplacement
from trainyard.repair.nodes import Nodes, RunningPod
from trainyard.repair.repair_request import RepairRequest
from trainyard.repair.report import report
from trainyard.schedulers.job_wait import JobWait
from trainyard.schedulers.kubernetes.cluster import answering
from trainyard.schedulers.kubernetes.cluster_client import cluster_client
from trainyard.verify.planned_nodes import PlannedTest
from trainyard.workspace.session import working_alone
from trainyard.workspace.target import Target


@contextmanager
def opened(plan: EksPlan, request: RepairRequest) -> Iterator[NodeReplacement]:
    """Give the replacement of nodes of a cluster.

    Raises:
        WrongUseError: there are no credentials.
        CommandError: the stack has no cluster, or AWS or the API server refuses a request.
    """
    outputs = outputs_of(request.target, show_secrets=True)
    cluster, kubeconfig = deployed_cluster(request.target, outputs)
    with (
        request.target.access(),
        answering(cluster),
        _account(request.target, cluster) as account,
        cluster_client(kubeconfig) as api,
    ):
        yield NodeReplacement(
            nodes=Nodes(api),
            account=account,
            plans=plan.node_groups,
            outputs=outputs.get("node_groups", {}),
            named=request.node,
            journal=request.journal,
            drain_limit_minutes=request.drain_limit_minutes,
            wait=JobWait(start_limit_minutes=request.wait_limit_minutes, pause=request.pause),
        )


Opened = Callable[[EksPlan, RepairRequest], AbstractContextManager[NodeReplacement]]
"""`opened` or a replacement."""


def repair_cluster(
    plan: EksPlan,
    request: RepairRequest,
    opened: Opened = opened,
    alone: Callable[..., AbstractContextManager[None]] = working_alone,
) -> None:
    """Replace the bad nodes of a cluster, or the named one.

    Args:
        plan: The plan of the cluster.
        request: The arguments of the command.
        opened: Gives the replacement of nodes.
        alone: Locks the stack.

    Raises:
        WrongUseError: there is no such node, there are no credentials, or no terminal for the
            confirmation.
        CancelledError: the user does not confirm.
        StackLockedError: another command changes the stack.
        CommandError: the stack has no cluster, the node cannot be replaced inside its reservation,
            cannot be drained, or its replacement is not Ready in time.
    """
    # A change of the stack can replace its nodes as well.
    locked = nullcontext() if request.dry_run else alone(request.target, "repair")
    with locked, opened(plan, request) as replacement:
        _run(replacement, request)


def pods_of(replacement: NodeReplacement, decision: Decision) -> dict[str, list[RunningPod]]:
    """Return the pods that a decision evicts, by name of the node."""
    chosen = (*decision.now, *decision.later)
    return {each.node.name: replacement.nodes.pods(each.node.name) for each in chosen}


def _run(replacement: NodeReplacement, request: RepairRequest) -> None:
    stack = request.target.stack
    cluster = replacement.look()
    decision = replacement.decide(cluster)
    chosen = (*decision.now, *decision.later)
    for line in report(decision, cluster, pods_of(replacement, decision)):
        console.answer(line)
    if request.node is not None and decision.refused:
        raise failures.CommandError(f"{request.node} was not replaced; nothing was changed")
    if request.dry_run:
        console.progress(f"{stack}: {_count(len(chosen))} to replace; nothing was changed")
        return
    if chosen:
        request.confirm(
            f"Replace {_count(len(chosen))} of {stack}; their pods, and the jobs of these, end"
        )
        replacement.replace(chosen)
    elif replacement.has_work(decision):
        replacement.await_replacements(set(decision.replacing), ())
    console.progress(f"{stack}: replaced {_count(len(chosen))}; log: {replacement.journal.path}")


def _count(nodes: int) -> str:
    return "1 node" if nodes == 1 else f"{nodes} nodes"


@contextmanager
def _account(target: Target, cluster: str) -> Iterator[Account]:
    """Give the account of a cluster, and explain errors of AWS.

    Raises:
        CommandError: AWS refused a request or did not respond.
    """
    made = target.client
    try:
        yield Account(
            ec2=made("ec2"), eks=made("eks"), autoscaling=made("autoscaling"), cluster=cluster
        )
    except ClientError as error:
        raise failures.CommandError(explained(error.operation_name, error)) from error
    except BotoCoreError as error:
        raise failures.CommandError(explained("a request to AWS", error)) from error


def node_of(plan: EksPlan, target: Target, planned: PlannedTest[JobNodes]) -> str:
    """Return the name of a node of the node group of a test.

    Raises:
        CommandError: the cluster cannot be read, or the group has none.
    """
    chosen = planned.chosen
    group = chosen.group.name
    request = RepairRequest(
        target=target,
        node=None,
        dry_run=True,
        yes=False,
        drain_limit_minutes=0,
        wait_limit_minutes=0,
    )
    with opened(plan, request) as replacement:
        cluster = replacement.look()
    instances = {id_ for each in cluster.groups if each.name == group for id_ in each.instances}
    for node in cluster.nodes:
        if node.instance_id in instances:
            return node.name
    raise failures.CommandError(f"the node group {group} has no node")
