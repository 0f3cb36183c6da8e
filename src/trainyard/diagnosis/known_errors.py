"""Errors with an entry in `docs/troubleshooting.md`, and advice for failures of the account."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

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
    # gRPC and kubectl have the same word: `rpc error: code = AlreadyExists`, `(AlreadyExists)`.
    r"(?<!code = )(?<!server \()\b(?!(?:File|Node|Path|Topic)AlreadyExists)"
    r"(?:\w*AlreadyExists(?:Exception)?|BucketAlreadyOwnedByYou|Invalid\w+\.Duplicate|"
    r"InvalidSubnet\.Conflict|Object already exists|group already exists)\b"
)
"""Error codes and messages if an object with the name exists."""
LIMIT = re.compile(
    r"\b(?!RequestLimitExceeded)"
    r"(?!\w*(?:Backoff|Depth|Memory|Rate|Recursion|Size|Time|Token|Tokens)LimitExceeded)"
    r"\w*(?:LimitExceeded(?:Exception)?|QuotaExceeded(?:Exception)?|TooManyBuckets)\b"
)
"""Error codes if a quota is reached. Other programs have words of the same form: a Kubernetes Job
whose pods have failed too often ends with `BackoffLimitExceeded`.
https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-backoff-failure-policy"""


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
#     https://docs.nvidia.com/deploy/xid-errors/ (which Xid is one of the GPU, which of a program)
#     https://github.com/kubernetes/kubernetes, `pkg/kubelet/events/event.go` (names of events)
#     https://github.com/NVIDIA/pyxis, `pyxis_slurmstepd.c`; https://github.com/NVIDIA/enroot
#     https://github.com/SchedMD/slurm, `src/common/slurm_errno.c` and `src/slurmd/slurmstepd`
#     https://awsdocs-neuron.readthedocs-hosted.com/en/latest/neuron-runtime/nrt-troubleshoot.html
#     threads of users: `tests/trainyard/diagnosis/public_errors.yaml`


PAGE = "docs/troubleshooting.md"


Source = Literal["aws", "batch", "kubernetes", "log", "slurm"]
"""Who says a text: AWS, one of the schedulers, or a program in its log."""
ACCOUNT: frozenset[Source] = frozenset({"aws", "batch", "slurm"})
"""AWS, and what passes its words on: Batch, and ParallelCluster in the reasons of Slurm."""
CLUSTER: frozenset[Source] = frozenset({"kubernetes"})
JOB: frozenset[Source] = frozenset({"batch", "kubernetes", "log", "slurm"})
"""A program, and what schedulers say about its end."""
PROGRAM: frozenset[Source] = frozenset({"log"})


@dataclass(frozen=True, slots=True)
class KnownError:
    """An error with a section on the page."""

    heading: str
    """Text of the error, and heading of its section."""
    pattern: re.Pattern[str]
    """Found in the messages of this error."""
    sources: frozenset[Source] = ACCOUNT
    """Who says it: the same words of somebody else are another error."""

    @property
    def place(self) -> str:
        """Path and anchor of the section."""
        anchor = re.sub(r"[^a-z0-9 _-]", "", self.heading.lower()).replace(" ", "-")
        return f"{PAGE}#{anchor}"

    @property
    def more(self) -> str:
        """The line of a message that names the section."""
        return f"more: {self.place}"

    @property
    def in_log(self) -> str:
        """What is told of a log with this error."""
        return f"the log has: {self.heading}\n  {self.more}"


_CODE_OF_AWS = re.compile(
    r"An error occurred \(([\w.]+)\) when calling|\bapi error ([\w.]+):|"
    r"\b([A-Z][\w.]+): [^\n]*\n?\s*status code: \d+, request id"
)
"""The forms in which the SDKs for Python and Go print an error of AWS."""


def known_error(text: str, source: Source | None = None) -> KnownError | None:
    """Return the first error whose pattern a text has; None if no entry fits.

    Args:
        text: The text.
        source: Who says it; None if that is unknown. A program and Kubernetes can print the words
            of any service. Their text has an error of AWS only in the form of an SDK.
    """
    for each in KNOWN_ERRORS:
        if (source is None or source in each.sources) and each.pattern.search(text):
            return each
    if source in ("kubernetes", "log"):
        for codes in _CODE_OF_AWS.findall(text):
            if found := known_error("".join(codes), "aws"):
                return found
    return None


def _texts(*texts: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, texts))})(?!\w)")


CREDENTIALS = KnownError("ExpiredToken", _texts(*sorted(EXPIRED), "the SSO session has expired"))
ROLE = KnownError(
    "Cannot assume IAM Role",
    re.compile(
        r"Cannot assume IAM Role|IAM Role (?:\([^)\n]*\) )?cannot be assumed|"
        r"[Nn]ot authorized to perform:? sts:AssumeRole(?!\w)|when calling the AssumeRole operation"
    ),
    frozenset({"aws"}),  # a job and a service assume other roles
)
"""https://github.com/hashicorp/aws-sdk-go-base/blob/v2.0.0-beta.72/errors.go"""
PERMISSION = KnownError(
    "UnauthorizedOperation", _texts(*sorted(each for each in NOT_ALLOWED if not each.isdigit()))
)
GONE = KnownError(
    "Missing Resource Identity After Read", _texts("Missing Resource Identity After Read")
)
UNREADY = KnownError("was created but failed to initialize", NOT_READY, CLUSTER)
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
    "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
    _texts("CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"),
    frozenset({"batch"}),
)
SLURM_CAPACITY = KnownError(
    "Failure when resuming nodes",
    _texts(
        "Failure when resuming nodes", "Temporarily disabling node due to insufficient capacity"
    ),
    frozenset({"aws", "slurm"}),
)
CAPACITY = KnownError(
    "InsufficientInstanceCapacity",
    re.compile(
        r"\b(?:InsufficientInstanceCapacity|InsufficientReservedInstanceCapacity|"
        r"ReservationCapacityExceeded|InvalidCapacityReservationState|"
        r"InvalidCapacityReservationId\.NotFound|"
        # EC2 names the instance type in between.
        r"We currently do not have sufficient [\w. -]{0,80}capacity|Insufficient capacity|"
        r"There is no Spot capacity available that matches|"
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
NODE_LOST = KnownError(
    "Kubelet stopped posting node status",
    _texts(
        "Kubelet stopped posting node status",
        "Unable to register node with API server",
        "the cluster refuses the kubelets",
    ),
    CLUSTER,
)
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
    "StaticNodeBootstrapFailure",
    _texts("StaticNodeBootstrapFailure", "PROTECTED mode"),
    frozenset({"aws", "slurm"}),
)
CLUSTER_UNREACHABLE = KnownError(
    "configured Kubernetes cluster is unreachable", UNREACHABLE, CLUSTER
)
UNSCHEDULABLE = KnownError(
    "FailedScheduling",
    re.compile(r"\bFailedScheduling\b|\bUnschedulable\b|\b0/\d+ nodes are available: "),
    CLUSTER,
)
NO_SECRET = KnownError(
    "CreateContainerConfigError",
    re.compile(r"CreateContainerConfigError|couldn't find key \S+ in Secret"),
    CLUSTER,
)
SECRET_OF_BATCH = KnownError(
    "Fetching secret data from",
    re.compile(r"(?i:fetching secret data from)|unable to pull secrets or registry auth"),
    frozenset({"batch"}),
)
NO_IMAGE = KnownError(
    "ImagePullBackOff",
    re.compile(
        r"ImagePullBackOff|ErrImagePull|InvalidImageName|CannotPull\w*|CannotPullContainerError|"
        r"[Ff]ailed to pull (?:and unpack )?image|no basic auth credentials|pull access denied|"
        r"toomanyrequests: |Back-off pulling image|manifest unknown|ErrImageNeverPull"
    ),
    JOB,
)
LOST_DEVICE = KnownError(
    "UnexpectedAdmissionError",
    # A program that the image does not have is a StartError too.
    re.compile(
        r"\bUnexpectedAdmissionError\b|Allocate failed due to |"
        r"\bStartError\b(?![^\n]*not found in \$PATH)"
    ),
    CLUSTER,
)
NO_RESPONSE = KnownError(
    "Not responding",
    re.compile(r"\bNot responding\b|DUE TO NODE FAILURE|\bNODE_FAIL\b|error: Node failure on "),
    frozenset({"slurm", "log"}),
)
BATCH_MAXIMUM = KnownError(
    "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE",
    _texts("MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE"),
    frozenset({"batch"}),
)
BATCH_RESOURCES = KnownError(
    "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT",
    _texts("MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT"),
    frozenset({"batch"}),
)
BATCH_ROLE = KnownError(
    "MISCONFIGURATION:SERVICE_ROLE_PERMISSIONS",
    _texts("MISCONFIGURATION:SERVICE_ROLE_PERMISSIONS"),
    frozenset({"batch"}),
)
BATCH_TEMPLATE = KnownError(
    "MISCONFIGURATION:EC2_INSTANCE_CONFIGURATION_UNSUPPORTED",
    _texts("MISCONFIGURATION:EC2_INSTANCE_CONFIGURATION_UNSUPPORTED"),
    frozenset({"batch"}),
)
NO_PLUGIN = KnownError(
    "Error: network Libfabric not found",
    re.compile(r"Error: network (?:AWS )?Libfabric not found|Failed to initialize any NET plugin"),
    PROGRAM,
)
NO_EFA = KnownError(
    "NET/OFI No eligible providers were found",
    re.compile(
        r"No eligible providers were found|NET/OFI .*fi_getinfo\(\) call failed|"
        r"fi_getinfo: provider efa output empty list|Couldn't find any optimal provider|"
        r"Only EFA provider is supported"
    ),
    PROGRAM,
)
EFA = KnownError(
    "NET/OFI Request completed with error",
    re.compile(
        r"NET/OFI [^\n]*(?:completed with error|\bRC: ?-?\d+|[Ff]ailed\b|[Ff]ailing|Couldn't|"
        r"Could not|Unable to)|libfabric:[^\n]*:efa:[^\n]*<(?:warn|error)> ?[^\n]*"
        r"(?:\berr: \d+|[Uu]nresponsive|[Uu]nreachable|[Ff]ailed)"
    ),
    PROGRAM,
)
LOST_PEER = KnownError(
    "remote process exited or there was a network error",
    re.compile(
        r"remote process exited or there was a network error|ncclRemoteError|"
        r"(?:NCCL|Net :|[Gg]loo|c10d|SocketImpl|socketProgress)[^\n]*"
        r"(?:Connection (?:reset by|closed by(?: remote)?) peer|Broken pipe|remote closed)"
    ),
    PROGRAM,
)
HANG = KnownError(
    "Watchdog caught collective operation timeout",
    re.compile(
        r"Watchdog caught collective operation timeout|Timeout at NCCL work|"
        r"[Ss]ome NCCL operations have failed or timed out|"
        r"\(either an error or timeout\) detected by watchdog|"
        r"Timed out waiting \d+ms for (?:recv|send) operation|timeout caused pair closure"
    ),
    PROGRAM,
)

# Errors that stand in the logs of jobs, or are reasons of their end.


GPU_MEMORY = KnownError(
    "CUDA out of memory",
    re.compile(
        r"CUDA(?: error:)? out of memory|torch\.(?:cuda\.)?OutOfMemoryError|Cuda failure[^\n]{0,6}"
        r"'out of memory'|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|"
        r"CUBLAS_STATUS_ALLOC_FAILED|RESOURCE_EXHAUSTED: Out of memory"
    ),
    PROGRAM,
)
# Xid 45 ends the channels of a process after another one, which its message can name.
_XID_OF_GPU = r"(?:46|48|54|6[1-4]|74|79|8[0-2]|88|9[2-5]|110|119|12[01]|13[6-9]|1[45]\d)\b"
GPU_FAULT = KnownError(
    "uncorrectable ECC error encountered",
    re.compile(
        r"uncorrectable ECC error|ECC_?UNCORRECTABLE|ECCUncorrectable|fallen off the bus|"
        r"[Uu]ncorrectable NVLink error|hardware stack error|\bGPU is lost\b|"
        rf"SXid \([^)\n]*\): \d+, Fatal|(?:Xid \([^)\n]*\): |previous Xid ){_XID_OF_GPU}"
    ),
    JOB,
)
NO_KERNEL = KnownError(
    "no kernel image is available for execution on the device",
    re.compile(
        r"no kernel image is available|NoKernelImageForDevice|CUDA_ERROR_NO_BINARY_FOR_GPU|"
        r"is not compatible with the current PyTorch installation|named symbol not found"
    ),
    PROGRAM,
)
OLD_DRIVER = KnownError(
    "CUDA driver version is insufficient for CUDA runtime version",
    re.compile(
        r"CUDA driver version is insufficient|cudaErrorInsufficientDriver|"
        r"NVIDIA driver on your system is too old|forward compatibility was attempted|"
        r"compiled with an unsupported toolchain|unsatisfied condition: cuda"
    ),
    JOB,
)
NO_FABRIC = KnownError(
    "system not yet initialized",
    re.compile(r"system not yet initialized|SystemNotReady|CUDA_ERROR_SYSTEM_NOT_READY"),
    PROGRAM,
)
NO_GPU = KnownError(
    "no CUDA-capable device is detected",
    re.compile(
        r"no CUDA-capable device|Found no NVIDIA driver|invalid device ordinal|"
        r"CUDA-capable device(?:\(s\)|s)? (?:is/)?are busy or unavailable|CUDA_ERROR_NO_DEVICE|"
        r"cudaErrorNoDevice|No CUDA GPUs are available"
    ),
    PROGRAM,
)
BAD_ACCESS = KnownError(
    "an illegal memory access was encountered",
    re.compile(
        r"an illegal memory access was encountered|IllegalAddress|CUDA_ERROR_ILLEGAL_ADDRESS|"
        r"device-side assert triggered|unspecified launch failure|misaligned address|"
        r"an illegal instruction was encountered|Xid \([^)\n]*\): (?:13|31|32|43)\b"
    ),
    JOB,
)
NO_INTERFACE = KnownError(
    "no socket interface found",
    re.compile(
        r"[Nn]o socket interface found|neither AF_INET\(2\) nor AF_INET6|"
        r"Unable to find address for: |Unable to find interface for"
    ),
    PROGRAM,
)
GLOO = KnownError(
    "Gloo connectFullMesh failed",
    re.compile(
        r"connectFullMesh failed|Unable to resolve hostname to a \(local\) address|"
        r"gloo/transport/tcp/\w+\.cc:\d+\][^\n]*timed? ?out"
    ),
    PROGRAM,
)
SHARED_MEMORY = KnownError(
    "Error while creating shared memory segment",
    re.compile(
        r"(?:creating|attaching to) shared memory segment|failed to extend /dev/shm|"
        r"Call to posix_fallocate failed|insufficient shared memory|out of shared memory|"
        r"DataLoader worker \(pid[^\n]*Bus error|/dev/shm[^\n]*No space left on device"
    ),
    PROGRAM,
)
PORT = KnownError(
    "address already in use", re.compile(r"[Aa]ddress already in use|EADDRINUSE"), PROGRAM
)
RENDEZVOUS = KnownError(
    "RendezvousConnectionError",
    re.compile(
        r"RuntimeError: Socket Timeout|via c10d key-value store|"
        r"Rendezvous(?:Connection|Timeout|Closed)Error|connection to the C10d store has failed|"
        r"client socket has (?:timed out|failed)|connect\(\) timed out\. Original timeout|"
        r"network addresses? of [^\n]* cannot be retrieved|"
        r"Timed out after \d+ seconds waiting for clients"
    ),
    PROGRAM,
)
SAME_GPU = KnownError("Duplicate GPU detected", _texts("Duplicate GPU detected"), PROGRAM)
HOST_MEMORY = KnownError(
    "OOMKilled",
    re.compile(
        r"OOMKilled|oom[-_]kill\b|OOM Killed|\bOut Of Memory\b|\bOUT_OF_MEMORY\b|"
        r"(?:exitcode\s*:|return code =) -9\b|SIGKILL: 9\b|Signal 9 \(SIGKILL\)|"
        r"exited on signal 9\b|"
        r"[Mm]emory cgroup out of memory|Out of memory: Killed process|"
        r"System OOM encountered|OOMKilling|Exceeded (?:job|step) memory limit|"
        r"neuronx-cc was forcibly killed|"
        r"Container killed due to memory usage|can't allocate memory: you tried to allocate"
    ),
    JOB,
)
NCCL_SYSTEM = KnownError(
    "ncclSystemError",
    re.compile(
        r"ncclSystemError|unhandled system error|\bCall to connect (?:failed|returned)|"
        r"NCCL WARN [^\n]*Connect to \S+ failed"
    ),
    PROGRAM,
)
NCCL_CUDA = KnownError(
    "ncclUnhandledCudaError",
    re.compile(r"ncclUnhandledCudaError|unhandled cuda error|NCCL WARN Cuda failure"),
    PROGRAM,
)
NO_SPACE = KnownError(
    "No space left on device",
    re.compile(r"[Nn]o space left on device|Disk quota exceeded"),
    JOB,
)
PYXIS = KnownError(
    "pyxis: couldn't start container",
    re.compile(
        r"error: pyxis: |error: spank: required plugin spank_pyxis\.so|pyxis: could(?:n't| not) |"
        r"unrecognized option '--container-|"
        r"\benroot(?:-\w+)?: [^\n]*(?:failed|[Nn]o such|denied|not permitted)"
    ),
    PROGRAM,
)
CONTAINER_DRIVER = KnownError(
    "nvidia-container-cli: initialization error",
    re.compile(
        r"nvidia-container-cli: |98-nvidia\.sh exited|Driver/library version mismatch|"
        r"Failed to initialize NVML"
    ),
    JOB,
)
TIME_LIMIT = KnownError(
    "DUE TO TIME LIMIT",
    re.compile(
        r"DUE TO TIME LIMIT|Job attempt duration exceeded timeout|"
        r"(?:Job|Pod) was active (?:on the node )?longer than"
    ),
    JOB,
)
NO_CONTROLLER = KnownError(
    "Socket timed out on send/recv operation",
    re.compile(
        r"Socket timed out on send/recv operation|Unable to contact slurm controller|"
        r"Communication connection failure|Unable to establish control machine address|"
        r"[Cc]an't find (?:an )?address(?: for host|, check slurm\.conf)|"
        r"Zero Bytes were transmitted or received"
    ),
    frozenset({"log", "slurm"}),
)
MPI_DAEMON = KnownError(
    "ORTE was unable to reliably start one or more daemons",
    re.compile(
        r"(?:ORTE|PRTE) (?:was unable|has lost communication)|"
        r"An? (?:ORTE|PRTE) daemon has unexpectedly failed|mpirun was unable to (?:launch|start)"
    ),
    PROGRAM,
)
MPI_SLOTS = KnownError(
    "There are not enough slots available in the system",
    _texts("There are not enough slots available in the system"),
    PROGRAM,
)
NO_NEURON = KnownError(
    "No neuron device available",
    re.compile(
        r"[Nn]o neuron devices?\b|Neuron runtime cannot be initialized|"
        r"Neuron Runtime could not be initialized|Neuron DKMS Driver is not running|"
        r"ERROR\s+(?:NRT:nrt_init|TDRV:tdrv_init\w*)\s|"
        r"(?:Unable to (?:determine|read compatible)|compatible) (?:Neuron )?Driver version|"
        r"Could not open the (?:nd\d|device)|\"?/dev/neuron\d+\"?: no such file|"
        r"Logical Neuron Core\(s\) not available"
    ),
    JOB,
)
NEURON = KnownError(
    "nrt_execute status",
    re.compile(
        r"\bnrt_\w+:? status\b|\bNrt::\w+ failed|\bNRT_(?!STATE|SUCCESS)[A-Z]+(?:_[A-Z]+)*\b"
    ),
    PROGRAM,
)
NO_MOUNT = KnownError(
    "FailedMount",
    re.compile(
        r"FailedMount|FailedAttachVolume|(?:Mount|Attach)Volume\.\w+ failed|"
        r"Unable to (?:attach or )?mount volumes|in the list of registered CSI drivers|"
        r"waiting for volumes to attach|Multi-Attach error|Mounting command: mount|"
        r"Could not mount \"|mount\.(?:lustre|nfs\d?)(?:: | failed)|Is the MGS running|"
        r"LustreError: |"
        r"Cannot send after transport endpoint shutdown|[Ss]tale (?:NFS )?file handle"
    ),
    JOB,
)
NO_ADDRESS = KnownError(
    "FailedCreatePodSandBox",
    re.compile(
        r"FailedCreatePodSandBox|[Ff]ailed (?:to )?create pod sandbox|"
        r"failed to assign an IP address to container|NetworkPluginNotReady|"
        r"failed to set ?up (?:network for sandbox|sandbox container)|NetworkPlugin cni failed"
    ),
    CLUSTER,
)
EVICTED = KnownError(
    "Evicted",
    re.compile(
        r"\bEvicted\b|node was low on resource: |node had condition: \[|"
        r"ephemeral[- ](?:local )?storage usage exceeds"
    ),
    CLUSTER,
)
LOST_HOST = KnownError(
    "Host EC2 terminated",
    re.compile(r"Host EC2 (?:\(instance [^)\n]*\) )?[Tt]erminated"),
    frozenset({"batch"}),
)
_CODES_OF_BUSY = sorted((THROTTLED | BROKEN) - {"Unavailable"})
BUSY = KnownError(
    "RequestLimitExceeded",
    # `Unavailable` alone may also come from a provider: it is a gRPC status code. Modules of Python
    # have classes of these names, and `Client.InternalError` is one of a key.
    re.compile(rf"(?<![\w.])(?:Server\.)?(?:{'|'.join(_CODES_OF_BUSY)})(?!\w)"),
)

KNOWN_ERRORS = (
    CREDENTIALS,
    SECRET_OF_BATCH,  # has the texts of a missing permission
    NO_SECRET,
    ROLE,  # with the code of a missing permission
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
    NODE_LOST,
    EXISTS,
    QUOTA,
    NEW_ROLE,
    UNSCHEDULABLE,
    NO_IMAGE,
    NO_MOUNT,
    NO_ADDRESS,
    EVICTED,
    LOST_DEVICE,
    LOST_HOST,
    # Of a job, first the hardware, then what the program and its container lack, then its memory.
    GPU_FAULT,
    NO_FABRIC,
    CONTAINER_DRIVER,
    OLD_DRIVER,
    NO_GPU,
    NO_NEURON,
    NO_KERNEL,
    SAME_GPU,
    GPU_MEMORY,
    SHARED_MEMORY,
    BAD_ACCESS,
    NEURON,
    NO_PLUGIN,
    NO_EFA,
    NO_INTERFACE,
    EFA,
    GLOO,
    PORT,
    PYXIS,
    MPI_SLOTS,
    HOST_MEMORY,
    NO_SPACE,
    # What follows is often a consequence: another process ends first.
    NCCL_CUDA,
    RENDEZVOUS,
    NCCL_SYSTEM,
    MPI_DAEMON,
    TIME_LIMIT,
    NO_RESPONSE,
    NO_CONTROLLER,
    LOST_PEER,
    HANG,
    BUSY,
)
"""The first match counts: an error of EKS or Slurm often has the code of EC2 in it, and that of a
process is followed by those of all others."""
