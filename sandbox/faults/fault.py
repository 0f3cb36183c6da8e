"""A fault: an entry of the schedule, and its kind, which defines the effect on a call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

import botocore.session
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, ValidationInfo

from trainyard.sandbox.wsgi import Answer

if TYPE_CHECKING:
    from trainyard.sandbox.aws.unimplemented import Call


SERVICES = {
    "aps": "amp",
    "autoscaling": "autoscaling",
    "batch": "batch",
    "cloudformation": "cloudformation",
    "cloudwatch": "cloudwatch",
    "dynamodb": "dynamodb",
    "ec2": "ec2",
    "ecr": "ecr",
    "eks": "eks",
    "events": "events",
    "elasticfilesystem": "efs",
    "fsx": "fsx",
    "iam": "iam",
    "kms": "kms",
    "lambda": "lambda",
    "logs": "logs",
    "ram": "ram",
    "resource-groups": "resource-groups",
    "s3": "s3",
    "scheduler": "scheduler",
    "servicequotas": "service-quotas",
    "sns": "sns",
    "ssm": "ssm",
    "sts": "sts",
}
"""botocore's name of each service, by name in a schedule (its prefix in IAM policies)."""


@cache
def model(service: str) -> Any:
    """Return botocore's model of a service of `SERVICES`."""
    return botocore.session.get_session().get_service_model(SERVICES[service])


def protocol(service: str) -> str:
    """Return the protocol of a service: ec2, query, json, rest-json or rest-xml."""
    return str(model(service).resolved_protocol)


def operations(service: str) -> list[str]:
    """Return the names of all operations of a service."""
    return list(model(service).operation_names)


DIRECTORY = "directory"
"""Key of the validation context: the directory of the schedule, from which paths start."""


@dataclass(frozen=True, slots=True)
class RecordedLog:
    """A file, as it was when the schedule was read."""

    path: Path
    lines: tuple[str, ...]


def _read(value: Any, info: ValidationInfo) -> RecordedLog:
    """Read the file of a path in a schedule.

    Raises:
        ValueError: it is no path of a readable file.
    """
    if not isinstance(value, str) or not value:
        raise ValueError("is the path of a text file, relative to the schedule")
    path = Path((info.context or {}).get(DIRECTORY) or "/") / value
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error
    return RecordedLog(path, tuple(text.splitlines()))


LogFile = Annotated[
    RecordedLog,
    BeforeValidator(_read),
    PlainSerializer(lambda log: str(log.path), return_type=str),
]
"""The path of a log in a schedule."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An AWS error."""

    code: str
    """Error code, such as `ThrottlingException`."""
    status: int
    """HTTP status code."""
    message: str


@dataclass(slots=True)
class Request:
    """One request to the account."""

    call: Call
    environ: dict[str, Any]
    body: bytes
    work: Callable[[dict[str, Any], bytes], Answer]
    """Processes the request, or a changed one."""

    def answered(self) -> Answer:
        """Process the request and return the response."""
        return self.work(self.environ, self.body)

    def drop(self) -> Answer:
        """Close the connection without a response; the client sees a reset.

        Raises:
            ConnectionResetError: always; the server's handler closes the connection.
        """
        raise ConnectionResetError("the schedule of faults says so")


class Entry:
    """One entry of the schedule in force.

    Attributes:
        fault: The parsed entry.
        kind: Its kind.
        matched: Number of calls that it has matched.
        happened: Number of times that it has happened.
        judged: Whether it hits an object for good, by the id of the object.
    """

    def __init__(self, fault: Fault, kind: Kind) -> None:
        self.fault, self.kind, self.matched, self.happened = fault, kind, 0, 0
        self.judged: dict[str, bool] = {}


class HiddenObject(Protocol):
    """An object that is not found for some calls."""

    for_calls: int

    def is_read_by(self, call: Call, environ: dict[str, Any], body: bytes) -> bool:
        """Return whether a request reads the object."""
        ...

    def not_found(self, request: Request) -> Answer:
        """Respond to a read as if the object did not exist."""
        ...


class Schedule(Protocol):
    """The part of the schedule in force that kinds of fault use."""

    def of_kind(self, name: str) -> list[Entry]:
        """Return the entries of a kind."""
        ...

    def happened(self, entry: Entry) -> None:
        """Count an occurrence of an entry from `of_kind`."""
        ...

    def hide(self, hidden: HiddenObject) -> None:
        """Hide an object for a number of reads."""
        ...

    def hit(self, matches: Callable[[Entry], bool]) -> Entry | None:
        """Count an occasion in all matching entries, and return the first that hits it."""
        ...


class Kind:
    """A kind of fault.

    Attributes:
        name: Value of `happens` in a schedule.
        summary: Its effect, in one line for `docs/faults.md`.
        needs_call: Whether it affects calls; otherwise other modules query whether it is in force.
        keys: Supported keys of the schedule in addition to `happens`, and to `call`, `nth` and
            `times` if it affects calls.
        required: The required ones of `keys`.
        happens_inside: Whether it also affects calls that a service makes for the user, such as the
            launch of a node by Auto Scaling.
    """

    name: str
    summary: str
    needs_call: bool = True
    keys: frozenset[str] = frozenset()
    required: frozenset[str] = frozenset()
    happens_inside: bool = False

    def happens_to(self, service: str, operation: str) -> bool:
        """Return whether AWS has this fault for a call."""
        return True

    def refusal(self, service: str, operation: str) -> Refusal | None:
        """Return AWS's error if the fault is one; used for launches by services of the account."""
        return None

    def happen(self, fault: Fault, request: Request, faults: Schedule) -> Answer:
        """Respond to a call that the fault hits.

        Raises:
            ConnectionResetError: the connection was closed instead.
        """
        raise NotImplementedError(f"{self.name} does not happen to calls")


# Errors of each service for a fault: code, HTTP status and message.
#
# Sources:
#     EC2: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
#     Query, JSON: the page "Common Errors" of each API reference, such as
#         https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html and
#         https://docs.aws.amazon.com/fsx/latest/APIReference/CommonErrors.html.
#     CloudWatch: its protocol keeps the codes of the query protocol,
#         https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#awsquerycompatible-trait;
#         seen: https://github.com/aws/aws-sdk-js/issues/1822 (`Throttling`),
#         https://github.com/amazon-archives/k8s-cloudwatch-adapter/issues/32 (`ExpiredToken`)
#     Other errors: those that botocore's model of the service declares for the operation; a test
#         compares the tables with the models.


_RATE = "Rate exceeded"
_EXPIRED = "The security token included in the request is expired"
_INTERNAL = "The request processing has failed because of an unknown error, exception or failure."

_THROTTLED = {
    "ec2": Refusal("RequestLimitExceeded", 503, "Request limit exceeded."),
    "s3": Refusal("SlowDown", 503, "Please reduce your request rate."),
    "batch": Refusal("TooManyRequestsException", 429, "Too Many Requests"),
    "cloudwatch": Refusal("Throttling", 400, _RATE),
    "lambda": Refusal("TooManyRequestsException", 429, _RATE),
    "resource-groups": Refusal("TooManyRequestsException", 429, _RATE),
    "servicequotas": Refusal("TooManyRequestsException", 400, _RATE),
}
_THROTTLED_BY_PROTOCOL = {
    "query": Refusal("Throttling", 400, _RATE),
    "json": Refusal("ThrottlingException", 400, _RATE),
    "rest-json": Refusal("ThrottlingException", 429, _RATE),
}
_INTERNAL_ERROR = {
    "aps": Refusal("InternalServerException", 500, "Internal server error"),
    "ec2": Refusal("InternalError", 500, "An internal error has occurred"),
    "s3": Refusal("InternalError", 500, "We encountered an internal error. Please try again."),
    "batch": Refusal("ServerException", 500, "Internal server error"),
    "cloudwatch": Refusal("InternalServiceError", 500, _INTERNAL),
    "ecr": Refusal("ServerException", 500, "Internal server error"),
    "eks": Refusal("ServerException", 500, "Internal server error"),
    "elasticfilesystem": Refusal("InternalServerError", 500, "Internal server error"),
    "events": Refusal("InternalException", 500, _INTERNAL),
    "fsx": Refusal("InternalServerError", 500, "A generic error occurred on the server."),
    "iam": Refusal("ServiceFailure", 500, _INTERNAL),
    "kms": Refusal("KMSInternalException", 500, _INTERNAL),
    "lambda": Refusal("ServiceException", 500, "Internal server error"),
    "ram": Refusal("ServerInternalException", 500, "Internal server error"),
    "resource-groups": Refusal("InternalServerErrorException", 500, "Internal server error"),
    "scheduler": Refusal("InternalServerException", 500, _INTERNAL),
    "servicequotas": Refusal("ServiceException", 500, "Internal server error"),
    "sns": Refusal("InternalError", 500, _INTERNAL),
    "ssm": Refusal("InternalServerError", 500, "An error occurred on the server side."),
}
_EXPIRED_TOKEN = {"cloudwatch": Refusal("ExpiredToken", 403, _EXPIRED)}
_EXPIRED_BY_PROTOCOL = {
    "ec2": Refusal("RequestExpired", 400, "Request has expired."),
    "query": Refusal("ExpiredToken", 403, _EXPIRED),
    "json": Refusal("ExpiredTokenException", 400, _EXPIRED),
    "rest-json": Refusal("ExpiredTokenException", 403, _EXPIRED),
    "rest-xml": Refusal("ExpiredToken", 400, "The provided token has expired."),
}

_EC2_QUOTAS = {
    "AllocateAddress": "AddressLimitExceeded",
    "AuthorizeSecurityGroupEgress": "RulesPerSecurityGroupLimitExceeded",
    "AuthorizeSecurityGroupIngress": "RulesPerSecurityGroupLimitExceeded",
    "CreateCapacityReservation": "InstanceLimitExceeded",
    "CreateInternetGateway": "InternetGatewayLimitExceeded",
    "CreateNatGateway": "NatGatewayLimitExceeded",
    "CreateRoute": "RouteLimitExceeded",
    "CreateRouteTable": "RouteTableLimitExceeded",
    "CreateSecurityGroup": "SecurityGroupLimitExceeded",
    "CreateSubnet": "SubnetLimitExceeded",
    "CreateVolume": "VolumeLimitExceeded",
    "CreateVpc": "VpcLimitExceeded",
    "CreateVpcEndpoint": "VpcEndpointLimitExceeded",
    "RunInstances": "VcpuLimitExceeded",
    "StartInstances": "VcpuLimitExceeded",
}
_EC2_QUOTA_MESSAGES = {
    "AddressLimitExceeded": "The maximum number of addresses has been reached.",
    "InternetGatewayLimitExceeded": ("The maximum number of internet gateways has been reached."),
    "NatGatewayLimitExceeded": (
        "Performing this operation would exceed the limit of 5 NAT gateways"
    ),
    "VcpuLimitExceeded": (
        "You have requested more vCPU capacity than your current vCPU limit allows for the "
        "instance bucket that the specified instance type belongs to. Please visit "
        "http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit."
    ),
    "VpcLimitExceeded": "The maximum number of VPCs has been reached.",
}
_S3_QUOTAS = {
    "CreateBucket": Refusal(
        "TooManyBuckets", 400, "You have attempted to create more buckets than allowed"
    )
}
_QUOTA_NAMES = ("LimitExceeded", "QuotaExceeded")
_CAPACITY = Refusal(
    "InsufficientInstanceCapacity",
    500,
    "We currently do not have sufficient capacity of the requested instance type in the "
    "Availability Zone you requested. Our system will be working on provisioning additional "
    "capacity.",
)
_INSUFFICIENT_CAPACITY = {
    ("ec2", "CreateCapacityReservation"): _CAPACITY,
    ("ec2", "RunInstances"): _CAPACITY,
    ("ec2", "StartInstances"): _CAPACITY,
    ("eks", "CreateCluster"): Refusal(
        "UnsupportedAvailabilityZoneException",
        400,
        "Cannot create cluster because one of the targeted availability zones does not currently "
        "have sufficient capacity to support the cluster. Retry and choose from other zones.",
    ),
}
_PROFILE = (
    "Value (the new one) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance "
    "Profile name"
)
_ROLE_NOT_USABLE_YET = {
    ("ec2", "RunInstances"): Refusal("InvalidParameterValue", 400, _PROFILE),
    ("autoscaling", "CreateAutoScalingGroup"): Refusal(
        "ValidationError",
        400,
        f"You must use a valid fully-formed launch template. {_PROFILE}",
    ),
    ("eks", "CreateCluster"): Refusal(
        "InvalidParameterException",
        400,
        "The role could not be assumed because it does not exist or the trusted entity is not "
        "correct",
    ),
}


def throttled(service: str, operation: str) -> Refusal | None:
    """Return the throttling error of a service."""
    return _THROTTLED.get(service) or _THROTTLED_BY_PROTOCOL.get(protocol(service))


def internal_error(service: str, operation: str) -> Refusal | None:
    """Return the internal error of a service."""
    return _INTERNAL_ERROR.get(service) or Refusal("InternalFailure", 500, _INTERNAL)


def credentials_expired(service: str, operation: str) -> Refusal | None:
    """Return the error for a signature of an expired session."""
    return _EXPIRED_TOKEN.get(service) or _EXPIRED_BY_PROTOCOL.get(protocol(service))


def insufficient_capacity(service: str, operation: str) -> Refusal | None:
    """Return the insufficient-capacity error of an operation; None for most operations."""
    return _INSUFFICIENT_CAPACITY.get((service, operation))


def role_not_usable_yet(service: str, operation: str) -> Refusal | None:
    """Return the error of a service to which a new role has not propagated yet."""
    return _ROLE_NOT_USABLE_YET.get((service, operation))


def quota_exceeded(service: str, operation: str) -> Refusal | None:
    """Return the quota error of an operation, as the service's model declares it."""
    if service == "ec2":
        code = _EC2_QUOTAS.get(operation)
        message = _EC2_QUOTA_MESSAGES.get(code or "", "The limit of the account has been reached.")
        return Refusal(code, 400, message) if code else None
    return _S3_QUOTAS.get(operation) if service == "s3" else _declared_quota(service, operation)


def _said(service: str, error: Any) -> str:
    """Return the message of a quota error; empty if the SDKs have no field for one."""
    if service == "logs":
        return "Resource limit exceeded."
    has_text = any(name.lower() == "message" for name in error.members)
    return "A limit has been exceeded." if has_text else ""


@cache
def _declared_quota(service: str, operation: str) -> Refusal | None:
    described = model(service)
    if operation not in described.operation_names:
        return None
    for shape in described.operation_model(operation).error_shapes:
        if any(name in shape.name for name in _QUOTA_NAMES):
            error = shape.metadata.get("error") or {}
            code = error.get("code", shape.name)
            return Refusal(code, error.get("httpStatusCode", 400), _said(service, shape))
    return None


# One entry of a schedule of faults.
#
# Apart from the kinds: those also run in ParallelCluster's Python environment, which has no
# pydantic.


DeviceResource = Literal[
    "nvidia.com/gpu",
    "vpc.amazonaws.com/efa",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
]
"""The extended resources of the sandbox's nodes."""


class Fault(BaseModel):
    """One entry of a schedule."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    happens: str
    """Name of a kind."""
    call: str = ""
    """`service:Operation`, with globs; empty for a kind that does not happen to calls."""
    nth: int = Field(default=1, ge=1)
    """The first matching call that is hit."""
    times: Annotated[int, Field(ge=1)] | Literal["always"] = 1
    """How many matching calls in a row are hit."""
    for_calls: int | None = Field(default=None, ge=1)
    """`not-found-yet`: reads that do not find the object."""
    pid: int | None = Field(default=None, ge=2)
    """`engine-killed`: the process to kill; None: the engine behind the call."""
    node_group: str | None = None
    """`node-never-joins`, `device-lost`: the node group."""
    plugin: str | None = None
    """`device-plugin-never-ready`: the plugin."""
    reservation: Annotated[str, Field(pattern="^cr-[0-9a-f]{17}$")] | None = None
    """`reservation-expires`: the capacity reservation, `cr-` and 17 hexadecimal digits."""

    job: str | None = None
    """Kinds of containers: name of the job, with globs; of a Batch job also without its suffix."""
    index: int | None = Field(default=None, ge=0)
    """Completion index of the pod, or index of the node of a Batch job; None: any."""
    labels: dict[str, str] | None = None
    """Labels of the pod, or tags of the Batch job; None: any."""
    exit_code: int | None = Field(default=None, ge=1, le=255)
    """`container-fails`: exit code of the program; None: 1."""
    after_seconds: float = Field(default=0, ge=0)
    """Time between the start of the container and what happens, by the clock of the sandbox."""
    log: LogFile | None = None
    """What the program prints at its start."""
    stop_log: LogFile | None = None
    """What the program prints when it gets SIGTERM."""
    stop_seconds: float = Field(default=0, ge=0)
    """Time between SIGTERM and the end of the program."""
    resource: DeviceResource | None = None
    """`device-lost`: the extended resource."""
    devices: int = Field(default=1, ge=1)
    """`device-lost`: how many devices of a node."""

    def hits(self, count: int) -> bool:
        """Return whether the `count`th matching call is hit; the first is 1."""
        return count >= self.nth and (self.times == "always" or count < self.nth + self.times)
