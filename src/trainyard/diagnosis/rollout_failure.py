"""Messages for a cluster that is deployed without all of its nodes or plugins."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from trainyard.components.account.call_failures import CLIENT
from trainyard.components.plain_text import shell_word
from trainyard.diagnosis.node_groups import GroupFacts, Place, read_group, what_it_lacks
from trainyard.diagnosis.rollout import ClusterState
from trainyard.diagnosis.rollout_expectation import GroupExpectation
from trainyard.workspace.session import account_access

if TYPE_CHECKING:
    from trainyard.diagnosis.pods import PodState
    from trainyard.stack_files.stack_files import StackFile


def reasons(
    outputs: Mapping[str, Any],
    expected: Sequence[GroupExpectation],
    state: ClusterState,
    *,
    stack_file: StackFile,
    sandbox: bool,
    kubectl: str,
) -> list[str]:
    """Return why nodes and plugins are missing, and commands that show more.

    Args:
        outputs: Outputs of the stack.
        expected: The node groups that the outputs describe.
        state: The observed state.
        stack_file: The stack, for its account.
        sandbox: Whether the account is the sandbox's.
        kubectl: The command with its kubeconfig.
    """
    promised = dict.fromkeys(name for group in expected for name in group.daemon_sets)
    found = [*nodes_not_ready(state, kubectl), *plugins_not_ready(promised, state, kubectl)]
    if any(len(state.ready_nodes(group)) < group.nodes for group in expected):
        found += _groups(outputs, state, stack_file, sandbox=sandbox)
    return found


def nodes_not_ready(state: ClusterState, kubectl: str) -> list[str]:
    """Return the kubelets' messages of nodes that joined but are not Ready."""
    return [
        f"{node.name} has joined and is not Ready: {node.not_ready_because}; more: "
        f"{kubectl} describe node {shell_word(node.name)}"
        for node in state.nodes
        if not node.ready and node.not_ready_because
    ]


def plugins_not_ready(daemon_sets: Iterable[str], state: ClusterState, kubectl: str) -> list[str]:
    """Return why pods of some DaemonSets do not run, with commands to inspect them."""
    return [
        sentence
        for name in daemon_sets
        for pod in state.pods.get(name, ())
        if not pod.ready
        for sentence in _pod(name, pod, kubectl)
    ]


def _pod(daemon_set: str, pod: PodState, kubectl: str) -> list[str]:
    namespaced = f"{kubectl} --namespace {shell_word(pod.namespace)}"
    name = shell_word(pod.name)
    return [
        f"{daemon_set} on {pod.node or 'no node'}: pod {pod.name} does not run: {pod.reason}",
        f"  {namespaced} describe pod {name}",
        f"  {namespaced} logs {name} --previous",
    ]


def _groups(
    outputs: Mapping[str, Any], state: ClusterState, stack_file: StackFile, *, sandbox: bool
) -> list[str]:
    joined = {node.instance_id for node in state.nodes}
    place = Place(region=stack_file.region, cluster=outputs["cluster_name"], sandbox=sandbox)
    try:
        with account_access(sandbox=sandbox, profile=stack_file.profile):
            eks, autoscaling = (
                boto3.client(service, region_name=stack_file.region, config=CLIENT)
                for service in ("eks", "autoscaling")
            )

            def read(name: str, output: Mapping[str, Any]) -> GroupFacts:
                return read_group(
                    eks,
                    autoscaling,
                    cluster=place.cluster,
                    name=name,
                    output=output,
                    mapped_roles=state.aws_auth_roles,
                )

            return [
                sentence
                for name, output in outputs.get("node_groups", {}).items()
                for sentence in _group(lambda n=name, o=output: read(n, o), name, joined, place)
            ]
    except BotoCoreError as error:
        return [f"the reason cannot be read from the account: {error}"]


def _group(
    read: Callable[[], GroupFacts], name: str, joined: Collection[str], place: Place
) -> list[str]:
    """Return what a node group lacks. If it cannot be read, the others are still explained."""
    try:
        return what_it_lacks(read(), joined, place)
    except ClientError as error:
        why = str(error)
    except (LookupError, TypeError) as error:  # an answer that does not match the API
        why = f"a response has no {error}"
    return [f"node group {name}: the reason cannot be read from the account: {why}"]
