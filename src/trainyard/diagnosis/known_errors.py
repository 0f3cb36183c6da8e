"""Errors with an entry in `docs/troubleshooting.md`, and advice for failures of the account."""

from __future__ import annotations

import re
from dataclasses import dataclass

from trainyard.components.account.error_codes import BROKEN, EXPIRED, NOT_ALLOWED, THROTTLED
from trainyard.components.tagging import RESOURCE_TAG, resource_tag
from trainyard.engine.engine_events import EngineError
from trainyard.workspace.urns import project_of, stack_of

# Advice for failures caused by the account: names in use, quotas reached.
#
# Sources of the codes: the "Errors" of each call in the API references, such as
# https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateRole.html, and
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html.


TAKEN = re.compile(
    r"\b(?:\w*AlreadyExists(?:Exception)?|BucketAlreadyOwnedByYou|Invalid\w+\.Duplicate|"
    r"InvalidSubnet\.Conflict|Object already exists|group already exists)\b"
)
"""Error codes and messages if an object with the name exists."""
LIMIT = re.compile(
    r"\b(?!RequestLimitExceeded)\w*(?:LimitExceeded(?:Exception)?|QuotaExceeded(?:Exception)?|"
    r"TooManyBuckets)\b"
)
"""Error codes if a quota is reached."""


def taken(error: EngineError, *, region: str) -> list[str]:
    """Return advice for an object that exists in AWS but not in the state.

    This happens when the response to a create is lost: the provider repeats the request, which
    conflicts with the object that the first request created.
    """
    name = error.resource_name or "the new object"
    found = [
        (
            f"{name}: such an object already exists, but is not in the state. Either it belongs to "
            "this stack and the response to its creation was lost, or it belongs to another owner"
        )
    ]
    if error.resource_name:
        value = resource_tag(
            stack=stack_of(error.urn),
            project=project_of(error.urn),
            type_token=error.resource_type,
            name=error.resource_name,
        )
        found += [
            f"  it belongs to this stack if it has the tag {RESOURCE_TAG}={value}; to check:",
            (
                f"  aws resourcegroupstaggingapi get-resources --region {region} --tag-filters "
                f"'Key={RESOURCE_TAG},Values={value}'"
            ),
        ]
    return [
        *found,
        (
            "  if it belongs to this stack, delete it (nothing uses it yet) and continue; "
            "otherwise choose another name"
        ),
    ]


def limit(error: EngineError) -> list[str]:
    """Return advice for a quota of the account that is reached."""
    return [
        (
            f"{error.resource_name or 'the account'}: a quota of the account is reached. Request "
            "an increase at https://console.aws.amazon.com/servicequotas/, or delete unused "
            "resources, and continue"
        )
    ]


# Recognize errors of pulumi-kubernetes by their messages.
#
# Sources, in https://github.com/pulumi/pulumi-kubernetes/tree/v4.32.0/provider/pkg:
#     `provider/provider.go`, `Create`, `Read`, `Update` and `Delete`
#     `await/await.go`, `Creation`; `await/error.go`


DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
NOT_READY = re.compile(
    r"failed to fully initialize or become live: (?:Timeout|(?:'[^']+' )?timed out)|"
    r"was created but failed to initialize"
)
"""Text of the message if the object was created but did not become ready in time. The message of a
change that the API server rejects begins with the same words."""
_EXISTS = re.compile(r'"[^"]+" already exists')
UNREACHABLE = re.compile(
    r"configured Kubernetes cluster is unreachable|resource state due to unreachable cluster"
)


def not_ready(error: EngineError) -> list[str]:
    """Return an explanation if an object did not become ready in time."""
    name = error.resource_name
    if error.resource_type == DAEMON_SET:
        return [f"{name}: its pods did not become ready on every node in time"]
    return [f"{name}: it did not become ready in time"]


def is_unready_daemon_set(error: EngineError) -> bool:
    """Return whether pods of a DaemonSet did not become ready, so that they can be inspected."""
    return error.resource_type == DAEMON_SET and bool(NOT_READY.search(error.message))


def exists_already(error: EngineError) -> bool:
    """Return whether the object to be created exists in the cluster already."""
    return _is_of_kubernetes(error) and bool(_EXISTS.search(error.message))


def is_unreachable(error: EngineError) -> bool:
    """Return whether the endpoint of the cluster did not respond."""
    return _is_of_kubernetes(error) and bool(UNREACHABLE.search(error.message))


def _is_of_kubernetes(error: EngineError) -> bool:
    return error.resource_type.startswith("kubernetes:")


# Errors with an entry in `docs/troubleshooting.md`, by their text.
#
# An entry has the heading of its section. Messages that explain an error name the section, and
# `known_error` finds it for any text: of AWS, EKS, Slurm or NCCL.
#
# Auto Scaling has a form of its messages without the code of EC2: the sentence of EC2, then
# "Launching EC2 instance failed.". So each error of EC2 has its sentence in the pattern too. Seen
# in issues of GitHub:
#     quotas: kubernetes/kops 15778, kubernetes/autoscaler 1263,
#     aws-deepracer-community/deepracer-on-the-spot 55
#     capacity: hashicorp/terraform 8857, aws/aws-parallelcluster 618,
#     scylladb/scylla-cluster-tests 8839 (of a reservation)
#     configuration: gruntwork-io/intro-to-terraform 6, trailofbits/algo 314
#     account: eksctl-io/eksctl 7299, runs-on/runs-on 88, coiled/feedback 225 (fleet requests),
#     openshift/installer 1709, appvia/kore 585 (validation)
#
# Sources, in addition to those of the modules with the patterns:
#     https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
#     https://docs.aws.amazon.com/batch/latest/userguide/job_stuck_in_runnable.html
#     https://docs.aws.amazon.com/parallelcluster/latest/ug/slurm-short-capacity-fail-mode-v3.html
#     https://docs.aws.amazon.com/parallelcluster/latest/ug/slurm-protected-mode-v3.html
#     https://docs.aws.amazon.com/AmazonECS/latest/developerguide/resource-initialization-error.html
#     https://github.com/NVIDIA/nccl, `src/init.cc` (`ncclGetErrorString`) and `src/plugin/net.cc`
#     https://github.com/aws/aws-ofi-nccl, `src/nccl_ofi_net.cpp`
#     https://github.com/pytorch/pytorch, `torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp`


PAGE = "docs/troubleshooting.md"


@dataclass(frozen=True, slots=True)
class KnownError:
    """An error with a section on the page."""

    heading: str
    """Text of the error, and heading of its section."""
    pattern: re.Pattern[str]
    """Found in the messages of this error."""

    @property
    def place(self) -> str:
        """Path and anchor of the section."""
        anchor = re.sub(r"[^a-z0-9 _-]", "", self.heading.lower()).replace(" ", "-")
        return f"{PAGE}#{anchor}"

    @property
    def more(self) -> str:
        """The line of a message that names the section."""
        return f"more: {self.place}"


def known_error(text: str) -> KnownError | None:
    """Return the first error whose pattern a text has; None if no entry fits."""
    return next((each for each in KNOWN_ERRORS if each.pattern.search(text)), None)


def _texts(*texts: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, texts))})(?!\w)")


CREDENTIALS = KnownError("ExpiredToken", _texts(*sorted(EXPIRED), "the SSO session has expired"))
PERMISSION = KnownError(
    "UnauthorizedOperation", _texts(*sorted(each for each in NOT_ALLOWED if not each.isdigit()))
)
GONE = KnownError(
    "Missing Resource Identity After Read", _texts("Missing Resource Identity After Read")
)
UNREADY = KnownError("was created but failed to initialize", NOT_READY)
VCPU_QUOTA = KnownError(
    "VcpuLimitExceeded",
    _texts(
        "VcpuLimitExceeded",
        "InstanceLimitExceeded",
        "MaxSpotInstanceCountExceeded",
        "You have requested more vCPU capacity than your current vCPU limit",
        "You have requested more instances",
        "Max spot instance count exceeded",
    ),
)
FLEET_QUOTA = KnownError(
    "MaxFleetCountExceeded",
    _texts(
        "MaxFleetCountExceeded",
        "You've reached your quota for maximum Fleet Requests",
        "You've reached your quota for maximum Spot Fleet Requests",
    ),
)
VALIDATION = KnownError(
    "PendingVerification",
    _texts(
        "PendingVerification",
        "Your request for accessing resources in this region is being validated",
        "Your account is currently being verified",
    ),
)
UNSUPPORTED = KnownError(
    "The requested configuration is currently not supported",
    _texts(
        "The requested configuration is currently not supported",
        "is not supported in your requested Availability Zone",
    ),
)
BLOCK_QUOTA = KnownError(
    "CapacityBlockDescribeLimitExceeded", _texts("CapacityBlockDescribeLimitExceeded")
)
BATCH_CAPACITY = KnownError(
    "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", _texts("CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY")
)
SLURM_CAPACITY = KnownError(
    "Failure when resuming nodes",
    _texts(
        "Failure when resuming nodes", "Temporarily disabling node due to insufficient capacity"
    ),
)
CAPACITY = KnownError(
    "InsufficientInstanceCapacity",
    re.compile(
        r"\b(?:InsufficientInstanceCapacity|InsufficientReservedInstanceCapacity|"
        r"ReservationCapacityExceeded|InvalidCapacityReservationState|"
        r"InvalidCapacityReservationId\.NotFound|"
        # EC2 names the instance type in between.
        r"We currently do not have sufficient [\w. -]{0,80}capacity|Insufficient capacity|"
        r"The requested reservation does not have sufficient)(?!\w)"
    ),
)
ADDRESSES = KnownError(
    "InsufficientFreeAddresses",
    _texts(
        "InsufficientFreeAddresses",
        "InsufficientFreeAddressesInSubnet",
        "There are not enough free addresses in subnet",
    ),
)
NOT_JOINED = KnownError("NodeCreationFailure", _texts("NodeCreationFailure"))
EXISTS = KnownError("AlreadyExists", TAKEN)
QUOTA = KnownError("LimitExceeded", LIMIT)
NEW_ROLE = KnownError(
    "Invalid IAM Instance Profile",
    re.compile(
        r"Invalid IAM Instance Profile|InvalidIamInstanceProfile|cannot be assumed by|"
        r"role .{1,200} (?:does not exist|cannot be found)|IamNodeRoleNotFound|"
        r"IamInstanceProfileNotFound",
        re.IGNORECASE,
    ),
)
NOT_REGISTERED = KnownError(
    "StaticNodeBootstrapFailure", _texts("StaticNodeBootstrapFailure", "PROTECTED mode")
)
CLUSTER_UNREACHABLE = KnownError("configured Kubernetes cluster is unreachable", UNREACHABLE)
UNSCHEDULABLE = KnownError("FailedScheduling", _texts("FailedScheduling", "Unschedulable"))
NO_SECRET = KnownError(
    "CreateContainerConfigError",
    re.compile(r"CreateContainerConfigError|couldn't find key \S+ in Secret"),
)
SECRET_OF_BATCH = KnownError(
    "Fetching secret data from",
    re.compile(r"(?i:fetching secret data from)|unable to pull secrets or registry auth"),
)
NO_IMAGE = KnownError("ImagePullBackOff", _texts("ImagePullBackOff", "ErrImagePull"))
LOST_DEVICE = KnownError(
    "UnexpectedAdmissionError", _texts("UnexpectedAdmissionError", "StartError")
)
NO_RESPONSE = KnownError("Not responding", _texts("Not responding"))
BATCH_MAXIMUM = KnownError(
    "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE",
    _texts("MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE"),
)
BATCH_RESOURCES = KnownError(
    "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT",
    _texts("MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT"),
)
BATCH_ROLE = KnownError(
    "MISCONFIGURATION:SERVICE_ROLE_PERMISSIONS",
    _texts("MISCONFIGURATION:SERVICE_ROLE_PERMISSIONS"),
)
BATCH_TEMPLATE = KnownError(
    "MISCONFIGURATION:EC2_INSTANCE_CONFIGURATION_UNSUPPORTED",
    _texts("MISCONFIGURATION:EC2_INSTANCE_CONFIGURATION_UNSUPPORTED"),
)
NO_PLUGIN = KnownError(
    "Error: network Libfabric not found",
    re.compile(r"Error: network (?:AWS )?Libfabric not found|Failed to initialize any NET plugin"),
)
NO_EFA = KnownError(
    "NET/OFI No eligible providers were found", _texts("No eligible providers were found")
)
LOST_PEER = KnownError(
    "remote process exited or there was a network error",
    _texts("remote process exited or there was a network error", "ncclRemoteError"),
)
HANG = KnownError(
    "Watchdog caught collective operation timeout",
    _texts("Watchdog caught collective operation timeout"),
)
BUSY = KnownError(
    "RequestLimitExceeded",
    # `Unavailable` alone may also come from a provider: it is a gRPC status code.
    _texts(*sorted((THROTTLED | BROKEN) - {"Unavailable"})),
)

KNOWN_ERRORS = (
    CREDENTIALS,
    SECRET_OF_BATCH,  # has the texts of a missing permission
    NO_SECRET,
    PERMISSION,
    GONE,
    UNREADY,
    CLUSTER_UNREACHABLE,
    VCPU_QUOTA,
    FLEET_QUOTA,
    VALIDATION,
    BLOCK_QUOTA,
    BATCH_CAPACITY,
    BATCH_MAXIMUM,
    BATCH_RESOURCES,
    BATCH_ROLE,
    BATCH_TEMPLATE,
    SLURM_CAPACITY,
    NOT_REGISTERED,
    CAPACITY,
    UNSUPPORTED,
    ADDRESSES,
    NOT_JOINED,
    EXISTS,
    QUOTA,
    NEW_ROLE,
    UNSCHEDULABLE,
    NO_IMAGE,
    LOST_DEVICE,
    NO_PLUGIN,
    NO_EFA,
    LOST_PEER,
    HANG,
    NO_RESPONSE,
    BUSY,
)
"""The first match counts: an error of EKS or Slurm often has the code of EC2 in it."""
