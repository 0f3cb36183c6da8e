"""Time a real `up` of a new stack, and compare it with the longest chain of waits."""

from __future__ import annotations

import heapq
import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pulumi

from tests.support import provider_answers
from tests.support.cloud import Cloud, Registered
from tests.support.stacks import program_of
from tools.benchmarks.projects import Project, project
from tools.repository import ROOT
from trainyard.engine.engine_process import PARALLEL_OPERATIONS
from trainyard.sandbox.latency.model import LatencyModel, latency_model, takes_time_in_sandbox
from trainyard.sandbox.providers._protocol.values import UNKNOWN
from trainyard.sandbox.providers.eks.arguments import TOKEN as CONTROL_PLANE_COMPONENT
from trainyard.sandbox.providers.eks.cluster import Cluster
from trainyard.sandboxes.session import started_sandbox
from trainyard.stack_files.stack_files import stack_names

# The dependencies between resources in a cold `up` of a stack, as the engine sees them.
#
# The program runs under the recording monitor of the tests, which responds at once, so all outputs
# and dependencies are known, including those inside an `apply`. The children of the component
# `eks:index:Cluster`, which the package's own plugin registers, are those of its emulation.


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One resource of an `up`."""

    urn: str
    type: str
    name: str
    inputs: Mapping[str, Any]
    seconds: float
    """Typical time to create it; 0 for components."""
    waits_for: frozenset[str]
    """URNs of the resources that it waits for: dependencies, its provider, its parent."""
    ends_with: frozenset[str] = frozenset()
    """URNs of children that are complete before it is: those of a packaged component, whose
    registration the engine answers when all of them exist."""


def stack_graph(stack: str, *, changes: Mapping[str, Any] | None = None) -> list[Step]:
    """Return the steps of a stack of this repository, in the order of their registration.

    `changes` are merged into `trainyard:cluster` of its stack file.
    """
    return graph_of(program_of(stack, changes=changes), latency_model())


def graph_of(program: Callable[[], object], model: LatencyModel) -> list[Step]:
    """Return the steps of a program, in the order of their registration."""
    steps: list[Step] = []
    for made in recorded(program).registered:
        if made.type == CONTROL_PLANE_COMPONENT:
            children = _control_plane(made)
            steps += [_step(child, model, also=_waits_for(made)) for child in children]
            steps.append(_step(made, model, ends_with=[child.urn for child in children]))
        else:
            steps.append(_step(made, model))
    return steps


class _Silent(pulumi.runtime.Mocks):
    """Responds to registrations with the inputs only."""

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        # EKS adds to the network of a control plane, so that a preview does not know it.
        later = {"vpcConfig": UNKNOWN} if args.typ == "aws:eks/cluster:Cluster" else {}
        return f"{args.name}-id", {**args.inputs, **later}

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[str, Any], list[Any]]:
        return dict(provider_answers.CALLS[args.token]), []


def recorded(program: Callable[[], object], *, preview: bool = False) -> Cloud:
    """Return the registrations of a program; in a preview, outputs of resources are unknown."""
    cloud = Cloud()
    if preview:
        cloud.mocks = _Silent()
    settings: Any = pulumi.runtime.settings
    # A separate stack, because the previous one has other outputs.
    settings.set_root_resource(None)
    pulumi.runtime.set_mocks(
        cloud.mocks, project="trainyard", stack="bench", preview=preview, monitor=cloud
    )
    settings.SETTINGS.callbacks = cloud.callbacks
    pulumi.runtime.test(program)()
    return cloud


def _control_plane(made: Registered) -> list[Registered]:
    """Return the registrations of the package's component, from its emulation."""

    def program() -> None:
        Cluster(made.name, made.inputs, pulumi.ResourceOptions())

    inside = recorded(program, preview=True)
    return [child for child in inside.registered if child.type != CONTROL_PLANE_COMPONENT]


def _step(
    made: Registered,
    model: LatencyModel,
    *,
    also: Iterable[str] = (),
    ends_with: Iterable[str] = (),
) -> Step:
    return Step(
        urn=made.urn,
        type=made.type,
        name=made.name,
        inputs=made.inputs,
        seconds=model.seconds(made.type, made.inputs),
        waits_for=_waits_for(made) | frozenset(also),
        ends_with=frozenset(ends_with),
    )


def _waits_for(made: Registered) -> frozenset[str]:
    provider, _, _ = made.provider.rpartition("::")
    return made.dependencies | {urn for urn in (made.parent, provider) if urn}


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A step with its time."""

    step: Step
    begins: float
    """Seconds from the start of the update."""
    ends: float
    last_wait: str | None
    """URN of the last step that it waited for; None if it waited for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """All steps of an update."""

    timed: Sequence[Timed]
    """In the order of their start."""

    @property
    def seconds(self) -> float:
        """How long the update takes."""
        return max((each.ends for each in self.timed), default=0.0)

    @property
    def critical_path(self) -> list[Timed]:
        """The chain of waits that ends last, from its first step; components are left out."""
        by_urn = {each.step.urn: each for each in self.timed}
        chain: list[Timed] = []
        current = max(self.timed, key=lambda each: each.ends, default=None)
        while current is not None:
            chain.append(current)
            current = by_urn.get(current.last_wait or "")
        return [each for each in reversed(chain) if each.step.seconds]


def schedule(steps: Iterable[Step], *, parallel: int | None = None) -> Schedule:
    """Return the times of the steps; each starts as soon as its dependencies are done.

    `parallel` limits the number of concurrent steps; waiting steps start in the order of their
    registration. Steps without a duration do not count towards the limit.

    Raises:
        ValueError: the dependencies of the steps form a cycle.
    """
    return _Scheduler(list(steps), parallel).run()


class _Scheduler:
    def __init__(self, steps: Sequence[Step], parallel: int | None) -> None:
        self._steps = {step.urn: step for step in steps}
        self._order = {step.urn: index for index, step in enumerate(steps)}
        self._places = parallel or len(steps) or 1
        self._waits = {step.urn: self._needed(step) for step in steps}
        self._done: dict[str, Timed] = {}
        self._under_way: list[tuple[float, int, str]] = []
        self._begun: dict[str, tuple[float, str | None]] = {}

    def _needed(self, step: Step) -> set[str]:
        return {urn for urn in step.waits_for | step.ends_with if urn in self._steps}

    def run(self) -> Schedule:
        now, ready = 0.0, self._ready(set(self._steps))
        while ready or self._under_way:
            ready = self._begin(ready, now)
            if self._under_way:
                now, _, urn = heapq.heappop(self._under_way)
                ready += self._end(urn, now)
        if len(self._done) < len(self._steps):
            left = sorted(set(self._steps) - set(self._done))
            raise ValueError(f"these wait for one another: {', '.join(left)}")
        timed = sorted(self._done.values(), key=lambda each: (each.begins, each.ends))
        return Schedule(timed=timed)

    def _ready(self, candidates: set[str]) -> list[str]:
        return [urn for urn in candidates if not self._waits[urn]]

    def _begin(self, ready: list[str], now: float) -> list[str]:
        """Start as many steps as the limit allows and return the rest."""
        waiting: list[str] = []
        for urn in sorted(ready, key=self._order.__getitem__):
            seconds = self._steps[urn].seconds
            if seconds and self._places == 0:
                waiting.append(urn)
                continue
            self._places -= bool(seconds)
            self._begun[urn] = (now, self._last_of(urn))
            heapq.heappush(self._under_way, (now + seconds, self._order[urn], urn))
        return waiting

    def _last_of(self, urn: str) -> str | None:
        ended = [self._done[other] for other in self._needed(self._steps[urn])]
        # If several end together, the one with a duration; a component only waits for others.
        last = max(ended, key=lambda each: (each.ends, each.step.seconds), default=None)
        return last.step.urn if last else None

    def _end(self, urn: str, now: float) -> list[str]:
        """Record the end of a step and return the steps that can start now."""
        begins, last_wait = self._begun[urn]
        step = self._steps[urn]
        self._places += bool(step.seconds)
        self._done[urn] = Timed(step=step, begins=begins, ends=now, last_wait=last_wait)
        followers = [other for other, waits in self._waits.items() if urn in waits]
        for other in followers:
            self._waits[other].discard(urn)
        return self._ready(set(followers))


# The chain of waits that no program can shorten, by architecture.
#
# EKS: the network, the control plane in it, nodes that join it and are Ready; then the driver of a
# file system that pods mount, whose controllers need a node. Lustre and its link to S3 are created
# in parallel. The NAT gateway and the roles are not part of the chain.
#
# ParallelCluster and Batch: the network with its egress, because nodes start as soon as their
# cluster or compute environment exists, and a node that reaches no AWS service ends; for
# ParallelCluster also the file systems that the cluster file names by id. A network stack: its
# network.


Link = Callable[[Step], bool]


def _of_type(*types: str) -> Link:
    return lambda step: step.type in types


def _is_subnet(*, public: bool) -> Link:
    subnet = _of_type("aws:ec2/subnet:Subnet")
    return lambda step: subnet(step) and step.inputs.get("mapPublicIpOnLaunch", False) is public


def _is_driver(step: Step) -> bool:
    named = str(step.inputs.get("addonName", ""))
    return step.type == "aws:eks/addon:Addon" and named.endswith("-csi-driver")


VPC = _of_type("aws:ec2/vpc:Vpc")
FURTHER_NETWORK = _of_type("aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation")
PRIVATE_SUBNET = _is_subnet(public=False)
PUBLIC_SUBNET = _is_subnet(public=True)
NAT_GATEWAY = _of_type("aws:ec2/natGateway:NatGateway")
ENDPOINT = _of_type("aws:ec2/vpcEndpoint:VpcEndpoint")
CONTROL_PLANE = _of_type("aws:eks/cluster:Cluster")
NODES = _of_type("aws:eks/nodeGroup:NodeGroup", "aws:autoscaling/group:Group")
LUSTRE_CREATION = _of_type("aws:fsx/lustreFileSystem:LustreFileSystem")
DATA_REPOSITORY = _of_type("aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation")
OPEN_ZFS_CREATION = _of_type("aws:fsx/openZfsFileSystem:OpenZfsFileSystem")
SLURM_CLUSTER = _of_type("aws:cloudformation/stack:Stack")
ROLE = _of_type("aws:iam/role:Role")
INSTANCE_PROFILE = _of_type("aws:iam/instanceProfile:InstanceProfile")
COMPUTE_ENVIRONMENT = _of_type("aws:batch/computeEnvironment:ComputeEnvironment")
JOB_QUEUE = _of_type("aws:batch/jobQueue:JobQueue")

NETWORK = (VPC, FURTHER_NETWORK, PRIVATE_SUBNET)
WAY_OUT = (VPC, FURTHER_NETWORK, PUBLIC_SUBNET, NAT_GATEWAY)
"""A NAT gateway is in a public subnet."""
CHAINS: Sequence[tuple[Link, Sequence[Sequence[Link]]]] = (
    (
        CONTROL_PLANE,
        [
            (*NETWORK, CONTROL_PLANE, NODES, _is_driver),
            (*NETWORK, LUSTRE_CREATION, DATA_REPOSITORY),
        ],
    ),
    (
        SLURM_CLUSTER,
        [(*WAY_OUT, SLURM_CLUSTER), (*NETWORK, OPEN_ZFS_CREATION, SLURM_CLUSTER)],
    ),
    (
        COMPUTE_ENVIRONMENT,
        [
            (*WAY_OUT, COMPUTE_ENVIRONMENT, JOB_QUEUE),
            (ROLE, INSTANCE_PROFILE, COMPUTE_ENVIRONMENT, JOB_QUEUE),
        ],
    ),
    (VPC, [WAY_OUT, (*NETWORK, ENDPOINT)]),
)
"""How an architecture is identified, and its chains; the longest of them counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """The unavoidable chain of one stack."""

    links: tuple[Step, ...]
    """The slowest of each kind; kinds that the stack does not have are left out."""

    @property
    def seconds(self) -> float:
        """The sum along the chain."""
        return sum(step.seconds for step in self.links)


def unavoidable_chain(steps: Iterable[Step]) -> Chain:
    """Return the longest unavoidable chain of a stack.

    Raises:
        ValueError: no architecture has these steps.
    """
    known = list(steps)
    for sign, chains in CHAINS:
        if any(map(sign, known)):
            return max((_chain(known, links) for links in chains), key=lambda c: c.seconds)
    raise ValueError("no control plane, cluster, compute environment or network among the steps")


def _chain(steps: Sequence[Step], links: Sequence[Link]) -> Chain:
    slowest = [
        max((step for step in steps if link(step)), key=lambda step: step.seconds, default=None)
        for link in links
    ]
    return Chain(links=tuple(step for step in slowest if step is not None))


# Compare the longest chain of waits of a cold `up` with the unavoidable chain.
#
# Nothing is timed: the graph of a stack follows from its program, and the durations are those of
# `sandbox/latency/latencies.yaml`. `tools.benchmarks.cold_up` times a real `up` against it.


BUDGET = 1.10

LUSTRE = {
    "kind": "fsx-lustre",
    "deployment_type": "PERSISTENT_2",
    "per_unit_storage_throughput": 125,
    "storage_capacity_gib": 2400,
    "data_repositories": [{"file_system_path": "/a", "s3_path": "s3://training-data/a/"}],
}
OPEN_ZFS = {"kind": "fsx-openzfs", "mount_directory": "/zfs"}
VARIANTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "eks-g4dn with Lustre": ("eks-g4dn", {"storage": {"data": LUSTRE}}),
    "pc-trn1 with OpenZFS": ("pc-trn1", {"storage": {"zfs": OPEN_ZFS}}),
}
"""Variants that no stack file has, by name: the stack, and the configuration merged into it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalPath:
    """One stack's line of the table."""

    stack: str
    times: Schedule
    chain: Chain

    @property
    def ratio(self) -> float:
        """The duration of the `up` as a multiple of the unavoidable chain."""
        return self.times.seconds / self.chain.seconds

    @property
    def within_budget(self) -> bool:
        """Whether the ratio is at most the budget."""
        return self.ratio <= BUDGET

    def as_json(self) -> dict[str, Any]:
        """Return both chains, for programs."""
        return {
            "stack": self.stack,
            "seconds": self.times.seconds,
            "unavoidable_seconds": self.chain.seconds,
            "ratio": round(self.ratio, 3),
            "budget": BUDGET,
            "within_budget": self.within_budget,
            "critical_path": [_link(each.step) for each in self.times.critical_path],
            "unavoidable": [_link(step) for step in self.chain.links],
        }


def _link(step: Step) -> dict[str, Any]:
    return {"name": step.name, "type": step.type, "seconds": step.seconds}


def cases() -> list[str]:
    """Return every stack, and every variant of one."""
    return [*stack_names(), *VARIANTS]


def critical_path(case: str) -> CriticalPath:
    """Return the line of a stack or of a variant."""
    stack, changes = VARIANTS.get(case, (case, {}))
    return of_steps(case, stack_graph(stack, changes=changes))


def of_steps(name: str, steps: Sequence[Step]) -> CriticalPath:
    """Return the line of a graph."""
    times = schedule(steps, parallel=PARALLEL_OPERATIONS)
    return CriticalPath(stack=name, times=times, chain=unavoidable_chain(steps))


def measure_critical_paths() -> list[CriticalPath]:
    """Return the line of every case."""
    return [critical_path(case) for case in cases()]


# Draw an `up`: one bar per resource, from its start to its end; the longest chain is red.
#
# The output is plain SVG for browsers and Markdown pages; its colours are legible on white and on
# black. Source: https://www.w3.org/TR/SVG11/


WIDTH, ROW, TOP, BOTTOM = 980, 17, 66, 30
NAMES = 330
"""Width of the names."""
RIGHT = 66
FEWEST_SECONDS = 5
"""Shorter steps (roles, rules, routes) are omitted unless they are on the longest chain."""
CHAIN, BESIDE, GRID, INK = "#d1495b", "#7a9cc6", "#c9ced6", "#22272e"
TICKS = (10, 30, 60, 120)
MOST_TICKS = 12


def gantt(path: CriticalPath) -> str:
    """Return the SVG of one stack's `up`."""
    chain = {each.step.urn for each in path.times.critical_path}
    rows = _rows(path.times.timed, chain)
    height = TOP + ROW * len(rows) + BOTTOM
    seconds = path.times.seconds
    across = (WIDTH - NAMES - RIGHT) / seconds
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11" fill="{INK}">'
        ),
        f"<title>{escape(path.stack)}: cold up with typical latencies</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        *_heading(path, hidden=_taking_time(path.times.timed) - len(rows)),
        *_grid(seconds, across, height),
    ]
    for index, each in enumerate(rows):
        on_chain = each.step.urn in chain
        lines += _bar(each, TOP + ROW * index, across, on_chain=on_chain, prefix=_prefix(rows))
    return "\n".join([*lines, "</svg>"]) + "\n"


def _rows(timed: Sequence[Timed], chain: set[str]) -> list[Timed]:
    return [
        each
        for each in timed
        if each.step.seconds >= FEWEST_SECONDS or (each.step.seconds and each.step.urn in chain)
    ]


def _taking_time(timed: Iterable[Timed]) -> int:
    return sum(1 for each in timed if each.step.seconds)


def _prefix(rows: Sequence[Timed]) -> str:
    """Return the prefix that all names share, up to a hyphen: the stack's name."""
    names = [each.step.name for each in rows]
    shared = 0
    while all(len(n) > shared and n[shared] == names[0][shared] for n in names):
        shared += 1
    return names[0][:shared].rpartition("-")[0] + "-" if "-" in names[0][:shared] else ""


def _heading(path: CriticalPath, *, hidden: int) -> list[str]:
    over = (
        f"{_clock(path.times.seconds)} in all; unavoidable {_clock(path.chain.seconds)}; "
        f"ratio {path.ratio:.2f}"
    )
    beside = f"; {hidden} short steps are not drawn" if hidden else ""
    return [
        f'<text x="10" y="20" font-size="15" font-weight="bold">{escape(path.stack)}</text>',
        f'<text x="10" y="38">{over}{beside}</text>',
        f'<rect x="{WIDTH - 290}" y="10" width="12" height="11" fill="{CHAIN}"/>',
        f'<text x="{WIDTH - 272}" y="20">the longest chain</text>',
        f'<rect x="{WIDTH - 150}" y="10" width="12" height="11" fill="{BESIDE}"/>',
        f'<text x="{WIDTH - 132}" y="20">made beside it</text>',
    ]


def _grid(seconds: float, across: float, height: int) -> list[str]:
    tick = next((t for t in TICKS if seconds / t <= MOST_TICKS), TICKS[-1])
    lines: list[str] = []
    for at in range(0, int(seconds) + 1, tick):
        x = NAMES + at * across
        lines += [
            (
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{height - BOTTOM + 4}" '
                f'stroke="{GRID}"/>'
            ),
            f'<text x="{x:.1f}" y="{TOP - 10}" text-anchor="middle">{_clock(at)}</text>',
        ]
    return lines


def _bar(each: Timed, y: float, across: float, *, on_chain: bool, prefix: str) -> list[str]:
    x, width = NAMES + each.begins * across, max((each.ends - each.begins) * across, 1.5)
    weight = ' font-weight="bold"' if on_chain else ""
    kind = each.step.type.rpartition(":")[2]
    name = each.step.name.removeprefix(prefix)
    return [
        f'<text x="{NAMES - 8}" y="{y + 12:.0f}" text-anchor="end"{weight}>{escape(name)}</text>',
        (
            f'<rect x="{x:.1f}" y="{y + 3:.0f}" width="{width:.1f}" height="{ROW - 5}" rx="2" '
            f'fill="{CHAIN if on_chain else BESIDE}">'
            f"<title>{escape(kind)} {escape(each.step.name)}: "
            f"{each.begins:.0f} s to {each.ends:.0f} s</title></rect>"
        ),
        (
            f'<text x="{x + width + 4:.1f}" y="{y + 12:.0f}" font-size="10">'
            f"{_clock(each.ends - each.begins)}</text>"
        ),
    ]


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d} min" if minutes else f"{rest} s"


# Time a real `up` of a new stack; AWS operations with a status take scaled-down AWS time.
#
# It confirms the result of `tools.benchmarks.cold_up` for these resources: the engine, the
# providers, the program and its registration order are real, and the durations are those of the
# model. Other resources take only the time of their calls, which the computed chain counts as zero.
# The times are those at which the engine recorded each resource, so they exclude the start of the
# engine and the reads of the account.


STACKS = ("eks-g4dn", "batch-trn1")
SCALE = 0.1
"""Share of AWS's time; the engine's own time per step weighs ten times as much as on AWS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdUp:
    """Computed and measured duration of one stack."""

    path: CriticalPath
    seconds: float
    """From the start of the first resource to the end of the last, divided by the scale."""

    @property
    def ratio(self) -> float:
        """Measured duration as a multiple of the computed one."""
        return self.seconds / self.path.times.seconds

    def as_json(self) -> dict[str, Any]:
        """Return both, for programs."""
        return {
            "stack": self.path.stack,
            "scale": SCALE,
            "computed_seconds": self.path.times.seconds,
            "measured_seconds": round(self.seconds, 1),
            "ratio": round(self.ratio, 3),
        }


def measure(stacks: Iterable[str] = STACKS) -> list[ColdUp]:
    """Bring each stack up and down in the running sandbox."""
    with tempfile.TemporaryDirectory(prefix="trainyard-bench-") as directory:
        return [_measured(stack, Path(directory) / stack) for stack in stacks]


def _measured(stack: str, scratch: Path) -> ColdUp:
    scratch.mkdir()
    at_once = ("--yes", "--skip-preview", "--parallel", str(PARALLEL_OPERATIONS))
    path = of_steps(stack, [_as_in_sandbox(step) for step in stack_graph(stack)])
    started_sandbox(print, latency=SCALE)
    made = project(scratch, "program", ROOT, stack=stack)
    try:
        made.run("up", *at_once)
        seconds = taken(_resources(made), path.times.timed, scale=SCALE)
    finally:
        started_sandbox(print, latency=0)
        made.run("destroy", *at_once)
    return ColdUp(path=path, seconds=seconds)


def _as_in_sandbox(step: Step) -> Step:
    return step if takes_time_in_sandbox(step.type) else replace(step, seconds=0.0)


def _resources(made: Project) -> list[dict[str, Any]]:
    said: list[str] = []
    made.run("stack export", said=said)
    return json.loads("\n".join(said))["deployment"]["resources"]


def taken(resources: Iterable[Mapping[str, Any]], timed: Iterable[Timed], *, scale: float) -> float:
    """Return the duration of the update that created the resources of a state, in AWS's seconds.

    The engine records the end of a creation; the first one started earlier by its own duration.
    """
    seconds = {(each.step.type, each.step.name): each.step.seconds for each in timed}
    there = sorted(
        (datetime.fromisoformat(resource["created"]).timestamp(), *_of(resource))
        for resource in resources
        if "created" in resource
    )
    (first, *key), (last, *_) = there[0], there[-1]
    type_, name = key
    return (last - first) / scale + seconds.get((type_, name), 0.0)


def _of(resource: Mapping[str, Any]) -> tuple[str, str]:
    return resource["type"], resource["urn"].rpartition("::")[2]
