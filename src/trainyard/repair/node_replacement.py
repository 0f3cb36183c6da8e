"""The replacement of nodes of an EKS cluster: cordon, drain, terminate, wait for the new node.

A repair can be interrupted at any step. An annotation marks the nodes whose repair has begun, and a
terminated instance is missing from its group, so the next `repair` continues with what it finds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from trainyard.cli import console, failures
from trainyard.components import clock
from trainyard.components.account.call_failures import is_transient
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.repair.account import Account
from trainyard.repair.decision import (
    IN_SERVICE,
    Cluster,
    Decision,
    Group,
    Node,
    Repair,
    decide,
    missing,
    names,
)
from trainyard.repair.journal import TERMINATED, Journal
from trainyard.repair.nodes import BEGUN, Nodes
from trainyard.schedulers.job_wait import POLL_SECONDS, JobWait, look_again
from trainyard.schedulers.kubernetes.job_wait import transient

_CONTINUE = "run the same command again to continue"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReplacement:
    """Replaces nodes of a cluster."""

    nodes: Nodes
    account: Account
    plans: Sequence[NodeGroupPlan]
    """Node groups in the plan of the stack."""
    outputs: Mapping[str, Mapping[str, Any]]
    """Node groups in the outputs of the stack, by name."""
    named: str | None
    """Name of the only node to replace; None for all bad nodes."""
    journal: Journal
    drain_limit_minutes: float
    wait: JobWait
    """Limit of the wait for replacements, and the clock."""

    def look(self) -> Cluster:
        """Return the state of the cluster, also if the API server or AWS is not available now."""

        def read() -> Cluster:
            nodes = self.nodes.all(now=clock.now())
            groups = self.account.groups(self.plans, self.outputs)
            return Cluster(
                nodes=nodes, groups=groups, reservations=self.account.reservations(groups)
            )

        return look_again(read, self.wait, _transient)

    def decide(self, cluster: Cluster) -> Decision:
        """Return which nodes are replaced.

        Raises:
            WrongUseError: the cluster has no node of the name, or it is in no node group.
        """
        decision = decide(cluster, now=clock.now(), named=self.named)
        if self.named is None or decision.replacing:
            # If nodes are missing, the named one can be the one that an interrupted repair ended.
            return decision
        found = [each for each in cluster.nodes if each.name == self.named]
        if not found:
            listed = ", ".join(each.name for each in cluster.nodes)
            raise failures.WrongUseError(f"there is no node {self.named}; nodes: {listed}")
        if not any(found[0].instance_id in each.instances for each in cluster.groups):
            raise failures.WrongUseError(f"the node {self.named} is in no node group of the stack")
        return decision

    def has_work(self, decision: Decision) -> bool:
        """Return whether nodes are to be replaced, or an interrupted repair has terminated some."""
        interrupted = decision.replacing and self.journal.last_step() == TERMINATED
        return bool(decision.now or decision.later or interrupted)

    def replace(self, repairs: Sequence[Repair]) -> None:
        """Replace nodes, at most as many at the same time as their groups allow.

        Raises:
            CommandError: a node cannot be drained, or its replacement is not Ready in time.
        """
        left = {each.node.name for each in repairs}
        while left:
            # The previous nodes took a while: the reservation may be another one now.
            decision = decide(self.look(), now=clock.now(), named=self.named)
            refused = [each for each in decision.refused if each.node.name in left]
            if refused:
                raise failures.CommandError(
                    "; ".join(f"{each.node.name}: {each.obstacle}" for each in refused)
                )
            begin = [each for each in decision.now if each.node.name in left]
            waiting = [each for each in decision.later if each.node.name in left]
            if begin:
                self._replace_together(begin)
                left -= {each.node.name for each in begin}
            elif waiting:
                self.await_replacements({each.group.name for each in waiting}, ())
            else:
                console.progress(f"no longer bad: {', '.join(sorted(left))}")
                return

    def _replace_together(self, repairs: Sequence[Repair]) -> None:
        before = {each.group.name: set(each.group.instances) for each in repairs}
        for each in repairs:
            self.nodes.begin(each.node.name, clock.now())
            self._record(each, "RepairBegan", f"cordoned, because {each.because}", bad=True)
        self._drain(repairs)
        for each in repairs:
            self.account.terminate(each.node.instance_id)
            self._record(
                each,
                TERMINATED,
                f"terminated {each.node.instance_id}; the Auto Scaling group "
                f"{each.group.scaling_group} launches its replacement",
            )
        leaving = [each.node.instance_id for each in repairs]
        cluster = self.await_replacements(set(before), leaving)
        for group in cluster.groups:
            new = set(group.instances) - before.get(group.name, set(group.instances))
            self._welcome(group, [each for each in cluster.nodes if each.instance_id in new])

    def _welcome(self, group: Group, nodes: Sequence[Node]) -> None:
        for node in nodes:
            inside = group.reservation_of.get(node.instance_id)
            if group.is_reserved and inside is None:
                raise failures.CommandError(
                    f"{node.name} ({node.instance_id}) is Ready, but runs outside of the "
                    "reservation"
                )
            where = f" in {inside}" if inside else ""
            ready = Repair(node=node, group=group, because="")
            self._record(ready, "RepairReplaced", f"Ready as a replacement{where}")

    def _drain(self, repairs: Sequence[Repair]) -> None:
        began = self.wait.now()
        left = {each.node.name: each for each in repairs}
        while True:
            blocked = {
                name: look_again(lambda each=each: self._evict(each), self.wait, _transient)
                for name, each in left.items()
            }
            for name in [each for each in left if not blocked[each]]:
                self._record(left.pop(name), "RepairDrained", "drained")
            if not left:
                return
            if self.wait.now() - began >= self.drain_limit_minutes * 60:
                self._give_up([*left.values()], blocked)
            self.wait.pause(POLL_SECONDS)

    def _evict(self, repair: Repair) -> list[str]:
        """Evict the pods of a node, and return what is left on it.

        The kubelet of a node that is not Ready does not confirm the end of its pods.
        """
        pods = self.nodes.pods(repair.node.name)
        blocked = [(pod, self.nodes.evict(pod)) for pod in pods]
        return [
            f"{pod.described}: {why or 'it is still ending'}"
            for pod, why in blocked
            if why or repair.node.is_ready
        ]

    def _give_up(self, repairs: Sequence[Repair], blocked: Mapping[str, Sequence[str]]) -> None:
        for each in repairs:
            said = "; ".join(blocked[each.node.name])
            self._record(each, "RepairStopped", f"not drained, not terminated: {said}", bad=True)
        raise failures.CommandError(
            f"{names(repairs)}: not drained after {self.drain_limit_minutes:g} minutes, cordoned, "
            f"and not terminated. End these pods, or wait longer with --drain-minutes, and "
            f"{_CONTINUE}. To give up: `kubectl uncordon NODE` and `kubectl annotate node NODE "
            f"{BEGUN}-`"
        )

    def await_replacements(self, groups: set[str], leaving: Sequence[str]) -> Cluster:
        """Wait until groups lack no node, and return the state of the cluster then.

        Args:
            groups: Names of the groups.
            leaving: Ids of instances that must have left them.

        Raises:
            CommandError: they still lack a node at the limit of the wait.
        """
        began, told = self.wait.now(), ""
        while True:
            cluster = self.look()
            own = [each for each in cluster.groups if each.name in groups]
            lacking = [self._state(each, cluster, leaving) for each in own]
            said = "; ".join(filter(None, lacking))
            if not said:
                return cluster
            if self.wait.now() - began >= self.wait.start_limit_minutes * 60:
                raise failures.CommandError(
                    f"after {self.wait.start_limit_minutes:g} minutes, {said}. Auto Scaling "
                    f"continues; {_CONTINUE}, or wait longer with --wait-minutes"
                )
            if said != told:
                console.progress(f"waiting: {said}")
                told = said
            self.wait.pause(POLL_SECONDS)

    def _state(self, group: Group, cluster: Cluster, leaving: Sequence[str]) -> str:
        """Return what a group waits for; empty for nothing."""
        ending = [each for each in leaving if each in group.instances]
        lacks = missing(group, cluster, named=self.named)
        if ending:
            return f"node group {group.name}: {', '.join(ending)} is terminating"
        if not lacks:
            return ""
        refusal = self.account.refusal(group)
        states = sorted(state for state in group.instances.values() if state != IN_SERVICE)
        why = refusal or ", ".join(states) or "its instances launch or join"
        return f"node group {group.name} lacks {lacks} of {group.desired} nodes: {why}"

    def _record(self, repair: Repair, reason: str, message: str, *, bad: bool = False) -> None:
        node, now = repair.node, clock.now()
        console.progress(f"{node.name}: {message}")
        self.journal.add(
            now,
            node=node.name,
            instance_id=node.instance_id,
            node_group=repair.group.name,
            step=reason,
            message=message,
        )
        try:
            self.nodes.record(node, reason, message, now, bad=bad)
        except (ApiException, HTTPError) as error:
            why = getattr(error, "reason", None) or type(error).__name__
            console.progress(f"{node.name}: the cluster did not take the event {reason}: {why}")


def _transient(error: Exception) -> str:
    if isinstance(error, ClientError | BotoCoreError):
        return str(error) if is_transient(error) else ""
    return transient(error)
