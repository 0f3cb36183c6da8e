"""All kinds of fault, by name in a schedule. Add new kinds here."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote

from trainyard.sandbox.faults import fault
from trainyard.sandbox.faults.fault import Entry, Kind, Refusal, Request, Schedule
from trainyard.sandbox.faults.names import NEVER_JOINS, is_named
from trainyard.sandbox.wsgi import Answer

if TYPE_CHECKING:
    from trainyard.sandbox.aws.unimplemented import Call
    from trainyard.sandbox.faults.fault import Fault, Request


class NoAnswer(Kind):
    """A call whose connection is closed before the response.

    Attributes:
        work_is_done: Whether the account has processed the request by then.
    """

    work_is_done: bool = False

    def happen(self, fault: Fault, request: Request, faults: Schedule) -> Answer:
        """Process the request if `work_is_done`, apply further effects, close the connection."""
        if self.work_is_done:
            request.answered()
        self.happen_besides(fault, request)
        return request.drop()

    def happen_besides(self, fault: Fault, request: Request) -> None:
        """Apply effects in addition to the lost response; none by default."""


class ConnectionReset(NoAnswer):
    """The request is lost."""

    name = "connection-reset"
    summary = "the connection is reset, and nothing is done"


class DoneWithoutAnswer(NoAnswer):
    """The response is lost."""

    name = "done-without-answer"
    summary = "the work is done, and the connection is closed before the answer"
    work_is_done = True


# The kind of fault in which a new object is not found for a while.
#
# EC2 and IAM document this behavior:
# https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html
# https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html#troubleshoot_general_eventual-consistency
#
# The response is that for an object that does not exist: the request is changed to another name of
# the same length, and the name in the response is changed back, so that code and message are the
# service's own.


_READS = ("Describe", "Get", "List")
_PATHS = ("PATH_INFO", "QUERY_STRING", "RAW_URI", "REQUEST_URI")

_IN_REQUEST = {
    ("autoscaling", "CreateAutoScalingGroup"): "AutoScalingGroupName",
    ("batch", "CreateComputeEnvironment"): "computeEnvironmentName",
    ("batch", "CreateJobQueue"): "jobQueueName",
    ("batch", "RegisterJobDefinition"): "jobDefinitionName",
    ("cloudformation", "CreateStack"): "StackName",
    ("cloudwatch", "PutDashboard"): "DashboardName",
    ("cloudwatch", "PutMetricAlarm"): "AlarmName",
    ("ec2", "CreateKeyPair"): "KeyName",
    ("ec2", "CreatePlacementGroup"): "GroupName",
    ("ec2", "ImportKeyPair"): "KeyName",
    ("ecr", "CreateRepository"): "repositoryName",
    ("eks", "CreateAddon"): "addonName",
    ("eks", "CreateCluster"): "name",
    ("eks", "CreateNodegroup"): "nodegroupName",
    ("events", "PutRule"): "Name",
    ("iam", "CreateInstanceProfile"): "InstanceProfileName",
    ("iam", "CreatePolicy"): "PolicyName",
    ("iam", "CreateRole"): "RoleName",
    ("logs", "CreateLogGroup"): "logGroupName",
    ("resource-groups", "CreateGroup"): "Name",
    ("sns", "CreateTopic"): "Name",
    ("ssm", "PutParameter"): "Name",
}
"""Where the request of a call has the name of the object that it creates."""
_IN_ANSWER = {
    ("aps", "CreateScraper"): "scraperId",
    ("ec2", "AllocateAddress"): "allocationId",
    ("ec2", "CreateCapacityReservation"): "capacityReservationId",
    ("ec2", "CreateInternetGateway"): "internetGatewayId",
    ("ec2", "CreateLaunchTemplate"): "launchTemplateId",
    ("ec2", "CreateNatGateway"): "natGatewayId",
    ("ec2", "CreateRouteTable"): "routeTableId",
    ("ec2", "CreateSecurityGroup"): "groupId",
    ("ec2", "CreateSubnet"): "subnetId",
    ("ec2", "CreateVpc"): "vpcId",
    ("ec2", "CreateVpcEndpoint"): "vpcEndpointId",
    ("ec2", "RunInstances"): "instanceId",
    ("eks", "CreatePodIdentityAssociation"): "associationId",
    ("fsx", "CreateFileSystem"): "FileSystemId",
    ("fsx", "CreateVolume"): "VolumeId",
    ("sns", "Subscribe"): "SubscriptionArn",
    ("ssm", "CreateAssociation"): "AssociationId",
}
"""Where the response of a call has the id of the object that it created."""


class NotFoundYet(Kind):
    """A created object that reads do not find at first."""

    name = "not-found-yet"
    summary = "what this call makes is not found by the next `for_calls` reads of it"
    keys = frozenset({"for_calls"})
    required = keys

    def happens_to(self, service: str, operation: str) -> bool:
        """Return whether the call creates an object with a name or an id."""
        return (service, operation) in _IN_REQUEST or (service, operation) in _IN_ANSWER

    def happen(self, fault: Fault, request: Request, faults: Schedule) -> Answer:
        """Process the request; hide the created object."""
        answer = request.answered()
        identifier = _identifier(request, answer)
        if identifier and answer[0].startswith("2"):
            faults.hide(Hidden(request.call.service, identifier, fault.for_calls or 1))
        return answer


@dataclass(slots=True)
class Hidden:
    """An object that is not found yet."""

    service: str
    identifier: str
    for_calls: int
    """Number of reads that will not find it."""

    def is_read_by(self, call: Call, environ: dict[str, Any], body: bytes) -> bool:
        """Return whether a request reads this object."""
        if call.service != self.service or not call.operation.startswith(_READS):
            return False
        texts = [body, *(str(environ.get(name, "")).encode() for name in _PATHS)]
        return any(self._pattern.search(text) for text in texts)

    def not_found(self, request: Request) -> Answer:
        """Respond to a read as if the object did not exist."""
        other = _other(self.identifier)
        environ = dict(request.environ)
        for name in _PATHS:
            if name in environ:
                environ[name] = self._replaced(str(environ[name]).encode(), other).decode()
        status, headers, content = request.work(environ, self._replaced(request.body, other))
        return status, headers, content.replace(other.encode(), self.identifier.encode())

    @property
    def _pattern(self) -> re.Pattern[bytes]:
        names = {self.identifier, quote(self.identifier, safe="")}
        either = b"|".join(re.escape(name.encode()) for name in sorted(names))
        return re.compile(rb"(?<![\w-])(?:" + either + rb")(?![\w-])")

    def _replaced(self, text: bytes, other: str) -> bytes:
        return self._pattern.sub(quote(other, safe="").encode(), text)


def _other(identifier: str) -> str:
    """Return an unused name with the same form and length."""
    prefix, dash, digits = identifier.rpartition("-")
    if dash and re.fullmatch(r"[0-9a-f]{8,}", digits):
        return prefix + dash + "f" * len(digits)
    return "z" * len(identifier)


def _identifier(request: Request, answer: Answer) -> str:
    key = (request.call.service, request.call.operation)
    if key in _IN_REQUEST:
        return _given(_IN_REQUEST[key], request.body)
    name = _IN_ANSWER[key]
    text = answer[2].decode("utf-8", "replace")
    found = re.search(rf'<{name}>([^<]+)</{name}>|"{name}"\s*:\s*"([^"]+)"', text)
    return (found[1] or found[2]) if found else ""


def _given(name: str, body: bytes) -> str:
    text = body.decode("utf-8", "replace")
    if text.lstrip().startswith("{"):
        return str(json.loads(text).get(name, ""))
    return parse_qs(text).get(name, [""])[0]


# Kinds of fault that kill the process that makes a call, with `kill -9`.
#
# Without `pid` this is the engine: the nearest ancestor named `pulumi` of the process at the other
# end of the connection. The plugin that made the call is killed with it. A real plugin continues
# for up to five minutes without its engine (`pulumi/pulumi`,
# sdk/go/common/util/rpcutil/healthcheck.go) and would retry a call without a response, so the
# number of processed requests would be unpredictable.


ENGINE = "pulumi"


class EngineKilled(NoAnswer):
    """The engine is killed before the request is processed."""

    name = "engine-killed"
    summary = "kill -9 of the engine that drives the call, before the work"
    keys = frozenset({"pid"})

    def happen_besides(self, fault: Fault, request: Request) -> None:
        """Kill the engine."""
        kill(fault, request.environ)


class EngineKilledAfter(EngineKilled):
    """The engine is killed after the request is processed."""

    name = "engine-killed-after"
    summary = "kill -9 of the engine that drives the call, after the work, before the answer"
    work_is_done = True


def kill(fault: Fault, environ: dict[str, Any]) -> None:
    """Kill the process in the schedule, or the client of a request and its engine."""
    if fault.pid is not None:
        _kill(fault.pid)
        return
    caller = caller_of(environ)
    engine = engine_of(caller)
    # The engine first, so that it does not see its plugin end.
    for pid in (engine, caller if engine is not None else None):
        if pid is not None:
            _kill(pid)


def caller_of(environ: dict[str, Any]) -> int | None:
    """Return the process at the other end of a request's connection (`/proc`, Linux)."""
    inode = _inode(int(environ.get("REMOTE_PORT") or 0), int(environ.get("SERVER_PORT") or 0))
    if inode is None:
        return None
    wanted = f"socket:[{inode}]"
    for directory in Path("/proc").glob("[0-9]*/fd"):
        with contextlib.suppress(OSError):
            if any(str(entry.readlink()) == wanted for entry in directory.iterdir()):
                return int(directory.parent.name)
    return None


def engine_of(pid: int | None) -> int | None:
    """Return the nearest engine among a process and its ancestors."""
    while pid is not None and pid > 1:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        except OSError:
            return None
        # proc(5): the name in parentheses may contain parentheses; state and parent follow.
        name, _, rest = stat.partition("(")[2].rpartition(")")
        if name == ENGINE:
            return pid
        pid = int(rest.split()[1])
    return None


def _inode(client_port: int, server_port: int) -> str | None:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(table).read_text(encoding="utf-8").splitlines()[1:]:
                fields = line.split()
                ports = [int(fields[index].rpartition(":")[2], 16) for index in (1, 2)]
                if ports == [client_port, server_port]:
                    return fields[9]
    return None


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


Lookup = Callable[[str, str], Refusal | None]


class RefusedCall(Kind):
    """A call that returns an error.

    Args:
        name: Name in the schedule.
        summary: One line of text.
        error: Returns the error of a service's operation; None if it has no such error.
        happens_inside: See `Kind`.
    """

    def __init__(
        self, name: str, summary: str, error: Lookup, *, happens_inside: bool = True
    ) -> None:
        self.name, self.summary, self._error = name, summary, error
        self.happens_inside = happens_inside

    def happens_to(self, service: str, operation: str) -> bool:
        """Return whether the operation has this error."""
        return self._error(service, operation) is not None

    def refusal(self, service: str, operation: str) -> Refusal | None:
        """Return the error."""
        return self._error(service, operation)

    def happen(self, fault: Fault, request: Request, faults: Schedule) -> Answer:
        """Respond with the error, in the protocol of the call."""
        from trainyard.sandbox.aws.unimplemented import error_response

        error = self._error(request.call.service, request.call.operation)
        if error is None:
            return request.answered()
        status = f"{error.status} {HTTPStatus(error.status).phrase.upper()}"
        return error_response(request.call, error.code, error.message, status)


REFUSALS = (
    RefusedCall("throttled", "too many requests: the service's throttling error", fault.throttled),
    RefusedCall("internal-error", "the service's internal error, HTTP 500", fault.internal_error),
    RefusedCall(
        "insufficient-capacity",
        "AWS has no machines of the type in the zone",
        fault.insufficient_capacity,
    ),
    RefusedCall("quota-exceeded", "a quota of the account is used up", fault.quota_exceeded),
    RefusedCall(
        "credentials-expired",
        "the session's credentials have expired",
        fault.credentials_expired,
        happens_inside=False,
    ),
    RefusedCall(
        "role-not-usable-yet",
        "a service does not see a new role or profile of IAM yet",
        fault.role_not_usable_yet,
    ),
)


# Kinds of fault of workloads: what the containers of a job do, and what happens to their nodes.
#
# The sandbox executes no program. Without an entry, the containers of a job succeed and print
# nothing. The simulated kubelets and AWS Batch ask for the entry of each container that they start,
# and the head nodes of Slurm for that of each job.


SIGTERM_EXIT_CODE = 143
SIGKILL_EXIT_CODE = 137
"""128 and the number of the signal: https://man7.org/linux/man-pages/man1/bash.1.html"""

_SUFFIX = re.compile(r"-[0-9a-f]{8}$")
"""`run` and `job` append it to the names of Batch jobs, which are unique."""
_CHOICE = frozenset({"job", "index", "labels", "nth", "times"})
_LOGS = frozenset({"log", "stop_log", "stop_seconds"})


class OfContainer(Kind):
    """What a container of a job does; the first entry that hits it decides.

    Args:
        name: Name in the schedule.
        summary: One line of text.
        keys: Keys in addition to those that choose the container and its logs.
    """

    needs_call = False
    required = frozenset({"job"})

    def __init__(self, name: str, summary: str, *keys: str) -> None:
        self.name, self.summary = name, summary
        self.keys = _CHOICE | _LOGS | frozenset(keys)


CONTAINER_FAILS = OfContainer(
    "container-fails",
    "a container of the job prints `log`, and exits with `exit_code` (1) after `after_seconds`",
    "exit_code",
    "after_seconds",
)
CONTAINER_SUCCEEDS = OfContainer(
    "container-succeeds",
    "a container of the job prints `log`, and exits with 0 after `after_seconds`",
    "after_seconds",
)
CONTAINER_HANGS = OfContainer(
    "container-hangs", "a container of the job prints `log`, and runs until it is stopped"
)
NODE_LOST = OfContainer(
    "node-lost",
    "the node of a container of the job fails `after_seconds` after its start, and is terminated",
    "after_seconds",
)


KINDS_OF_CONTAINERS = (
    CONTAINER_FAILS,
    CONTAINER_SUCCEEDS,
    CONTAINER_HANGS,
    NODE_LOST,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedContainer:
    """A container that starts."""

    job: str
    """Name of the Kubernetes Job, the Batch job or the Slurm job."""
    index: int
    """Completion index of its pod, or index of its node in a Batch job."""
    labels: Mapping[str, str]
    """Labels of its pod, or tags of its Batch job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What a container does from its start to its end."""

    lines: tuple[str, ...] = ()
    """What it prints at its start."""
    ends_after: timedelta | None = timedelta()
    """Time from its start to its own end; None if it has to be stopped."""
    exit_code: int = 0
    """Exit code at that end."""
    node_lost_after: timedelta | None = None
    """Time from its start to the loss of its node; None if the node stays."""
    stop_lines: tuple[str, ...] = ()
    """What it prints when it gets SIGTERM."""
    stops_after: timedelta = timedelta()
    """Time from SIGTERM to its end."""


def course_of(
    faults: Schedule,
    container: StartedContainer,
    kinds: Collection[OfContainer] = KINDS_OF_CONTAINERS,
) -> Course | None:
    """Return what a container does that starts now; None if no entry of the schedule hits it.

    All entries of `kinds` that match the container count its start.
    """
    names = {kind.name for kind in kinds}
    hit = faults.hit(lambda each: each.kind.name in names and _is_meant(each.fault, container))
    return _course(hit) if hit else None


def matches_job(pattern: str, job: str) -> bool:
    """Return whether the pattern of an entry matches the name of a job."""
    names = {job, _SUFFIX.sub("", job)}
    return any(fnmatchcase(name, pattern) for name in names)


def _is_meant(fault: Fault, container: StartedContainer) -> bool:
    labels = fault.labels or {}
    return (
        matches_job(fault.job or "", container.job)
        and fault.index in (None, container.index)
        and labels.items() <= container.labels.items()
    )


def _course(hit: Entry) -> Course:
    fault, kind = hit.fault, hit.kind
    after = timedelta(seconds=fault.after_seconds)
    ends = kind in (CONTAINER_FAILS, CONTAINER_SUCCEEDS)
    return Course(
        lines=fault.log.lines if fault.log else (),
        ends_after=after if ends else None,
        exit_code=(fault.exit_code or 1) if kind is CONTAINER_FAILS else 0,
        node_lost_after=after if kind is NODE_LOST else None,
        stop_lines=fault.stop_log.lines if fault.stop_log else (),
        stops_after=timedelta(seconds=fault.stop_seconds),
    )


# Kinds of fault of clusters: no call fails, but a created resource never becomes ready.
#
# The sandbox's emulations of nodes, plugins and reservations query these.


class Condition(Kind):
    """A condition that holds while it is in force; it affects no call, so no calls are counted.

    Args:
        name: Name in the schedule.
        summary: One line of text.
        key: Key of the schedule for the affected object.
    """

    needs_call = False

    def __init__(self, name: str, summary: str, key: str) -> None:
        self.name, self.summary = name, summary
        self.keys = self.required = frozenset({key})


NODE_NEVER_JOINS = Condition(
    NEVER_JOINS, "instances of the node group run, and never become nodes", "node_group"
)
"""Instances run but never register with Kubernetes, Slurm or ECS."""
DEVICE_PLUGIN_NEVER_READY = Condition(
    "device-plugin-never-ready",
    "pods of the plugin (the value of their label `name`) crash, and it offers no device",
    "plugin",
)
"""Pods of a device plugin restart repeatedly on every node."""


class ReservationExpires(Kind):
    """A capacity reservation ends just before a call is processed."""

    name = "reservation-expires"
    summary = "the Capacity Block ends, or the reservation is cancelled, before the call's work"
    keys = frozenset({"reservation"})
    required = frozenset({"reservation"})

    def happen(self, fault: Fault, request: Request, faults: Schedule) -> Answer:
        """End the reservation, then process the call; reject it if there is no such reservation."""
        # Import here, because the account is still being initialized when this module is imported.
        from trainyard.sandbox.aws.ec2.capacity_blocks import end_reservation
        from trainyard.sandbox.aws.unimplemented import FAILURE_CODE, error_response

        if end_reservation(fault.reservation or ""):
            return request.answered()
        message = (
            f"the schedule of faults ends {fault.reservation}, and the account has no such "
            "reservation; `./trainyard sandbox inventory` lists those that it has"
        )
        return error_response(request.call, FAILURE_CODE, message)


class DeviceLost(Kind):
    """Devices of a node are unhealthy: they stay in its capacity, and leave what is allocatable.

    https://github.com/kubernetes/kubernetes/blob/v1.36.4/pkg/kubelet/cm/devicemanager/manager.go,
    `GetCapacity`
    """

    name = "device-lost"
    summary = "`devices` (1) of `resource` on a node of the group are unhealthy"
    needs_call = False
    keys = frozenset({"node_group", "resource", "devices", "nth", "times"})
    required = frozenset({"node_group", "resource"})


def never_joins(faults: Schedule, *names: str) -> bool:
    """Return whether instances of a group do not join, and count the fault.

    Args:
        faults: The schedule in force.
        names: Names of the group: in AWS, which contain the stack's name for it between hyphens, or
            in the stack.
    """
    for entry in faults.of_kind(NODE_NEVER_JOINS.name):
        if is_named(entry.fault.node_group or "", *names):
            faults.happened(entry)
            return True
    return False


def unhealthy_devices(
    faults: Schedule, node: str, groups: Sequence[str], devices: Mapping[str, int]
) -> dict[str, int]:
    """Return the number of unhealthy devices of a node by resource, and count the nodes hit.

    A replaced node is another one: it has its own turn.

    Args:
        faults: The schedule in force.
        node: Id of the node.
        groups: Names of its group, as for `never_joins`.
        devices: Number of its devices by resource.
    """
    found: dict[str, int] = {}
    for entry in faults.of_kind(DeviceLost.name):
        fault = entry.fault
        resource = fault.resource or ""
        if not devices.get(resource) or not is_named(fault.node_group or "", *groups):
            continue
        if node not in entry.judged:
            entry.matched += 1
            entry.judged[node] = fault.hits(entry.matched)
            entry.happened += entry.judged[node]
        if entry.judged[node]:
            found[resource] = found.get(resource, 0) + fault.devices
    return found


def broken_plugins(faults: Schedule) -> Collection[str]:
    """Return the `name` label values of the pods that never become ready."""
    return {entry.fault.plugin or "" for entry in faults.of_kind(DEVICE_PLUGIN_NEVER_READY.name)}


def count_crash(faults: Schedule, plugin: str) -> None:
    """Count a crash of a plugin's pod, by the value of its `name` label."""
    for entry in faults.of_kind(DEVICE_PLUGIN_NEVER_READY.name):
        if entry.fault.plugin == plugin:
            faults.happened(entry)


KINDS_OF_CLUSTERS = (
    NODE_NEVER_JOINS,
    DEVICE_PLUGIN_NEVER_READY,
    ReservationExpires(),
    DeviceLost(),
)


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            *REFUSALS,
            ConnectionReset(),
            DoneWithoutAnswer(),
            NotFoundYet(),
            EngineKilled(),
            EngineKilledAfter(),
            *KINDS_OF_CLUSTERS,
            *KINDS_OF_CONTAINERS,
        )
    }
)
"""The kinds of fault, by name."""
