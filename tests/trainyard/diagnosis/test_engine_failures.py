"""The meaning of the engine's errors: the pool, the reservation, the quota, and the fix."""

from __future__ import annotations

from dataclasses import replace

import pytest
from botocore.exceptions import ClientError

from tests.support.stacks import stack_config
from trainyard.components.account.call_failures import says_nothing_of_the_request
from trainyard.components.account.error_codes import BROKEN, EXPIRED, THROTTLED
from trainyard.components.config.load import load_stack_config
from trainyard.diagnosis.engine_failures import FailedStack, advice
from trainyard.diagnosis.failed_pool import FailedPool, ReservationUse, pool_of
from trainyard.engine.engine_events import EngineError
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import target_of

ASG = EngineError(
    "urn:pulumi:s::trainyard::trainyard:eks:SelfManagedNodeGroup$aws:autoscaling/group:Group::"
    "p5-cb-p5-nodes",
    "waiting for 2 instances in service, 0 are: Scaling activity (0c5d): Failed: Could not launch "
    "On-Demand Instances. ReservationCapacityExceeded - The requested reservation does not have "
    "sufficient compatible and available capacity for this request. Launching EC2 instance failed.",
)
FULL = ReservationUse("cr-0", "active", "p5.48xlarge", 2, 0, holders={"batch-p5": ("i-1", "i-2")})
P5 = FailedPool(
    described="node group p5",
    key="architecture.node_groups.p5",
    launch_key="architecture.node_groups.p5",
    instance_type="p5.48xlarge",
    purchase_option="block",
    nodes=2,
    reservations=(FULL,),
)
STACK = FailedStack(
    cluster="p5-cb",
    target=target_of(find_stack_file("p5-cb"), sandbox=False),
    pool_of=lambda _: P5,
)
EKS_ISSUE = (
    "waiting for EKS Node Group (p5-cb:p5) create: unexpected state 'CREATE_FAILED', wanted target "
    "'ACTIVE'. last error: {}"
)


def said(message: str, stack: FailedStack = STACK) -> str:
    return "\n".join(advice([replace(ASG, message=message)], stack))


def of(pool: FailedPool | None) -> FailedStack:
    return replace(STACK, pool_of=lambda _: pool)


def test_a_full_reservation_names_pool_reservation_holder_and_what_helps() -> None:
    found = "\n".join(advice([ASG], STACK))
    assert (
        "node group p5: reservation block: cr-0 (2 x p5.48xlarge) is full: 2 used by batch-p5"
        in (found)
    )
    assert "reduce the nodes of architecture.node_groups.p5" in found
    assert "use another one in reservations.block" in found


@pytest.mark.parametrize(
    ("use", "words"),
    [
        pytest.param(
            replace(FULL, state="expired"), "use another one in reservations.block", id="over"
        ),
        pytest.param(replace(FULL, state="scheduled"), "launch automatically", id="to-come"),
        pytest.param(replace(FULL, available=2), "in a placement group other than", id="room"),
    ],
)
def test_what_helps_follows_from_the_reservations_state(use: ReservationUse, words: str) -> None:
    assert words in said(ASG.message, of(replace(P5, reservations=(use,))))


def test_without_a_reservation_another_zone_or_one_helps() -> None:
    message = (
        "Could not launch On-Demand Instances. InsufficientInstanceCapacity - We currently do not "
        "have sufficient g4dn.8xlarge capacity in the Availability Zone you requested (us-west-2b)."
    )
    pool = replace(P5, instance_type="g4dn.8xlarge", purchase_option="on-demand", reservations=())
    found = said(EKS_ISSUE.format(f"eks-p5: AsgInstanceLaunchFailures: {message}"), of(pool))
    assert "AWS currently has no g4dn.8xlarge (on-demand) available in this zone" in found
    assert "availability_zone of architecture.node_groups.p5" in found


@pytest.mark.parametrize(
    ("option", "code"),
    [("on-demand", "L-417A185B"), ("spot", "L-C4BD4855"), ("block", "L-417A185B")],
)
def test_a_quota_is_named_with_the_command_that_raises_it(option: str, code: str) -> None:
    message = (
        "api error VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU "
        "limit of 0 allows for the instance bucket that the specified instance type belongs to."
    )
    found = said(message, of(replace(P5, purchase_option=option)))
    assert "2 nodes, 384 vCPUs" in found
    assert f"--quota-code {code} --desired-value 384" in found


def test_nodes_that_never_joined_come_with_causes_and_commands() -> None:
    issue = "i-089cae66b828ac922: NodeCreationFailure: Instances failed to join the cluster"
    found = said(EKS_ISSUE.format(issue))
    for words in ("1. access", "2. route", "3. security group", "get-console-output"):
        assert words in found
    assert "--instance-id i-089cae66b828ac922" in found
    in_sandbox = said(
        EKS_ISSUE.format(issue),
        replace(STACK, target=target_of(find_stack_file("p5-cb"), sandbox=True)),
    )
    assert "aws ec2" not in in_sandbox
    assert "./trainyard sandbox status" in in_sandbox


@pytest.mark.parametrize(
    "message",
    [
        "api error ExpiredToken: The security token included in the request is expired",
        "CreateCluster: ExpiredTokenException: The security token in the request is expired",
        "RequestExpired: Request has expired.",
        *(f"api error {code}: over" for code in sorted(EXPIRED)),
    ],
)
def test_expired_credentials_are_to_be_renewed_and_said_once(message: str) -> None:
    errors = [ASG, *(replace(ASG, urn=f"{n}", message=message) for n in range(9))]
    found = advice(errors[1:], STACK)
    assert "credentials expired" in found[0]
    assert "aws sso login" in found[1]
    assert found[2:] == ["more: docs/troubleshooting.md#expiredtoken"]


def test_an_object_that_cannot_be_read_because_it_is_gone_is_forgotten_and_made_anew() -> None:
    error = EngineError(
        "urn:pulumi:s::trainyard::trainyard:network:EfaSecurityGroup$"
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule::p5-cb-efa-ingress-self",
        "Missing Resource Identity After Read: The Terraform Provider unexpectedly returned no "
        "resource identity data after having no errors in the resource read.",
    )
    what, forget, anew, more = advice([error], STACK)
    assert "p5-cb-efa-ingress-self no longer exists" in what
    assert forget.endswith("  ./trainyard refresh p5-cb")
    assert anew.endswith("  ./trainyard up p5-cb")
    assert more.endswith("#missing-resource-identity-after-read")


@pytest.mark.parametrize("code", sorted(THROTTLED | BROKEN - {"Unavailable"}))
def test_what_passes_is_said_of_the_engines_calls_as_of_our_own(code: str) -> None:
    assert "the stack is not the cause" in said(f"operation error EC2: {code}: wait")
    refused = ClientError({"Error": {"Code": code}}, "DescribeVpcs")
    assert says_nothing_of_the_request(refused)


def test_a_provider_that_is_unavailable_is_no_word_of_aws() -> None:
    assert said("rpc error: code = Unavailable desc = connection refused") == ""


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("Invalid IAM Instance Profile name", "run the command again"),
        ("InsufficientFreeAddresses: subnet", "too few free addresses"),
        (
            (
                "Cluster has been set to PROTECTED mode due to failures detected in static node "
                "provisioning. (StaticNodeBootstrapFailure)"
            ),
            "/aws/parallelcluster/p5-cb",
        ),
        ("api error RequestLimitExceeded: Request limit exceeded.", "stack is not the cause"),
        ("api error InternalError: An internal error has occurred", "stack is not the cause"),
    ],
)
def test_other_codes_are_explained(message: str, words: str) -> None:
    assert words in said(message)


def test_what_is_not_known_is_not_explained() -> None:
    assert advice([replace(ASG, message="the sky fell")], STACK) == []


def pool_name(stack: str, error: EngineError) -> str | None:
    config = load_stack_config(stack_config(stack)["trainyard:cluster"], stack_file=stack)
    pool = pool_of(error, config.pools(), cluster=config.name)
    return pool.name if pool else None


@pytest.mark.parametrize(
    ("stack", "name", "message", "pool"),
    [
        ("p5-cb", "p5-cb-p5-nodes", "", "p5"),
        ("p5-cb", "p5-cb-system-node-group", "", None),
        ("p5-cb", "p5-cb", "no", None),
        ("batch-p5", "batch-p5-p5-environment", "", "p5"),
        (
            "pc-gpu",
            "pc-gpu-cluster",
            (
                "queue compute-gpu, compute resource distributed-ml: We currently do not have "
                "sufficient capacity (StaticNodeBootstrapFailure, RunInstances: "
                "InsufficientInstanceCapacity)"
            ),
            "compute-gpu/distributed-ml",
        ),
        ("pc-gpu", "pc-gpu-cluster", "not enough p4de.24xlarge", "compute-gpu/distributed-ml"),
    ],
)
def test_the_pool_of_an_error_is_found(
    stack: str, name: str, message: str, pool: str | None
) -> None:
    assert pool_name(stack, EngineError(f"urn:pulumi:s::trainyard::t::{name}", message)) == pool


def test_words_of_kubernetes_are_no_quota_of_aws() -> None:
    """`BackoffLimitExceeded`: a Job whose pods have failed too often.

    https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-backoff-failure-policy
    """
    urn = "urn:pulumi:s::trainyard::kubernetes:batch/v1:Job::check"
    message = "Job has failed: BackoffLimitExceeded: Job has reached the specified backoff limit"
    assert advice([EngineError(urn, message)], STACK) == []
    assert advice([EngineError(ASG.urn, f"VcpuLimitExceeded: {message}")], STACK) != []
