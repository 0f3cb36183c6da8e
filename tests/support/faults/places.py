"""Each type of the `aws` provider: the call that creates it, and the result of a lost answer.

The provider retries a request without an answer. If the request has a client token, AWS executes it
once. If the call is idempotent, the second one changes nothing. If the object has a unique name,
the second request is refused. Otherwise there are two objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from trainyard.sandbox.faults.kinds import KINDS

SURVIVED = (
    ("throttled", "times: 3", 3),
    ("internal-error", "times: 3", 3),
    ("connection-reset", "times: 3", 3),
    ("not-found-yet", "for_calls: 2", 1),
)
"""Transient kinds, their settings, and how often each happens."""
FATAL = ("quota-exceeded", "credentials-expired")
"""Kinds that are not retried."""
LEFT_OUT = frozenset(
    {
        "aws:cloudformation/stack:Stack",
        "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation",
        "aws:ram/resourceShareAccepter:ResourceShareAccepter",
    }
)
"""CloudFormation stacks need another emulator. The emulator accepts an additional block of a VPC
twice, and AWS does not. An accepted share is not created."""


class LostAnswer(Enum):
    """The result of a creation whose first answer is lost."""

    ONCE = "created once: the request has a token"
    SAME = "created once: the request is idempotent"
    REFUSED = "refused: it already exists"
    TWICE = "created twice"


@dataclass(frozen=True)
class Place:
    """One type of resource."""

    token: str
    call: str
    """The call that creates it."""
    lost_answer: LostAnswer
    code: str = ""
    """AWS's error code if the second request is refused."""
    looked_for_again: bool = True
    """Whether the provider retries reading a new object that is not found. Otherwise it ends with
    an error that keeps the id, and the next `up` reads the object."""

    def has(self, kind: str) -> bool:
        """Return whether the call can fail with this kind of fault."""
        return KINDS[kind].happens_to(*self.call.split(":"))


_O, _S, _R, _T = LostAnswer.ONCE, LostAnswer.SAME, LostAnswer.REFUSED, LostAnswer.TWICE

PLACES = (
    Place("aws:amp/ruleGroupNamespace:RuleGroupNamespace", "aps:CreateRuleGroupsNamespace", _O),
    Place("aws:amp/scraper:Scraper", "aps:CreateScraper", _O),
    Place(
        "aws:autoscaling/group:Group",
        "autoscaling:CreateAutoScalingGroup",
        _R,
        "AlreadyExists",
        looked_for_again=False,
    ),
    Place("aws:autoscaling/lifecycleHook:LifecycleHook", "autoscaling:PutLifecycleHook", _S),
    Place("aws:autoscaling/schedule:Schedule", "autoscaling:PutScheduledUpdateGroupAction", _S),
    Place(
        "aws:batch/computeEnvironment:ComputeEnvironment",
        "batch:CreateComputeEnvironment",
        _R,
        "ClientException",
    ),
    Place(
        "aws:batch/jobDefinition:JobDefinition",
        "batch:RegisterJobDefinition",
        _T,
        looked_for_again=False,
    ),
    Place("aws:batch/jobQueue:JobQueue", "batch:CreateJobQueue", _R, "ClientException"),
    Place(
        "aws:cloudwatch/dashboard:Dashboard", "cloudwatch:PutDashboard", _S, looked_for_again=False
    ),
    Place("aws:cloudwatch/eventRule:EventRule", "events:PutRule", _S),
    Place("aws:cloudwatch/eventTarget:EventTarget", "events:PutTargets", _S),
    Place(
        "aws:cloudwatch/logGroup:LogGroup",
        "logs:CreateLogGroup",
        _R,
        "ResourceAlreadyExistsException",
        looked_for_again=False,
    ),
    Place("aws:cloudwatch/logMetricFilter:LogMetricFilter", "logs:PutMetricFilter", _S),
    Place(
        "aws:cloudwatch/metricAlarm:MetricAlarm",
        "cloudwatch:PutMetricAlarm",
        _S,
        looked_for_again=False,
    ),
    Place("aws:ec2/eip:Eip", "ec2:AllocateAddress", _T),
    Place("aws:ec2/flowLog:FlowLog", "ec2:CreateFlowLogs", _O),
    Place("aws:ec2/internetGateway:InternetGateway", "ec2:CreateInternetGateway", _T),
    Place(
        "aws:ec2/keyPair:KeyPair",
        "ec2:ImportKeyPair",
        _R,
        "InvalidKeyPair.Duplicate",
        looked_for_again=False,
    ),
    Place(
        "aws:ec2/launchTemplate:LaunchTemplate",
        "ec2:CreateLaunchTemplate",
        _O,
        looked_for_again=False,
    ),
    Place("aws:ec2/natGateway:NatGateway", "ec2:CreateNatGateway", _O),
    Place(
        "aws:ec2/placementGroup:PlacementGroup",
        "ec2:CreatePlacementGroup",
        _R,
        "InvalidPlacementGroup.Duplicate",
    ),
    Place("aws:ec2/route:Route", "ec2:CreateRoute", _R, "RouteAlreadyExists"),
    Place("aws:ec2/routeTable:RouteTable", "ec2:CreateRouteTable", _O),
    Place("aws:ec2/routeTableAssociation:RouteTableAssociation", "ec2:AssociateRouteTable", _S),
    Place(
        "aws:ec2/securityGroup:SecurityGroup",
        "ec2:CreateSecurityGroup",
        _R,
        "InvalidGroup.Duplicate",
    ),
    Place("aws:ec2/subnet:Subnet", "ec2:CreateSubnet", _R, "InvalidSubnet.Conflict"),
    Place("aws:ec2/vpc:Vpc", "ec2:CreateVpc", _T),
    Place("aws:ec2/vpcEndpoint:VpcEndpoint", "ec2:CreateVpcEndpoint", _O),
    Place("aws:ecr/lifecyclePolicy:LifecyclePolicy", "ecr:PutLifecyclePolicy", _S),
    Place(
        "aws:ecr/repository:Repository",
        "ecr:CreateRepository",
        _R,
        "RepositoryAlreadyExistsException",
    ),
    Place("aws:ecr/repositoryPolicy:RepositoryPolicy", "ecr:SetRepositoryPolicy", _S),
    Place("aws:eks/accessEntry:AccessEntry", "eks:CreateAccessEntry", _O),
    Place("aws:eks/addon:Addon", "eks:CreateAddon", _O),
    Place("aws:eks/cluster:Cluster", "eks:CreateCluster", _O),
    Place("aws:eks/nodeGroup:NodeGroup", "eks:CreateNodegroup", _O),
    Place(
        "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation",
        "fsx:CreateDataRepositoryAssociation",
        _O,
    ),
    Place("aws:fsx/lustreFileSystem:LustreFileSystem", "fsx:CreateFileSystem", _O),
    Place("aws:fsx/openZfsFileSystem:OpenZfsFileSystem", "fsx:CreateFileSystem", _O),
    Place(
        "aws:iam/instanceProfile:InstanceProfile",
        "iam:CreateInstanceProfile",
        _R,
        "EntityAlreadyExists",
    ),
    Place(
        "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
        "iam:CreateOpenIDConnectProvider",
        _R,
        "EntityAlreadyExists",
    ),
    Place("aws:iam/role:Role", "iam:CreateRole", _R, "EntityAlreadyExists"),
    Place("aws:iam/rolePolicy:RolePolicy", "iam:PutRolePolicy", _S),
    Place("aws:iam/rolePolicyAttachment:RolePolicyAttachment", "iam:AttachRolePolicy", _S),
    Place(
        "aws:resourcegroups/group:Group",
        "resource-groups:CreateGroup",
        _R,
        "BadRequestException",
    ),
    Place("aws:resourcegroups/resource:Resource", "resource-groups:GroupResources", _S),
    Place("aws:s3/bucket:Bucket", "s3:CreateBucket", _R, "BucketAlreadyOwnedByYou"),
    Place("aws:s3/bucketObjectv2:BucketObjectv2", "s3:PutObject", _S),
    Place(
        "aws:s3/bucketOwnershipControls:BucketOwnershipControls",
        "s3:PutBucketOwnershipControls",
        _S,
    ),
    Place("aws:s3/bucketPolicy:BucketPolicy", "s3:PutBucketPolicy", _S),
    Place("aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock", "s3:PutPublicAccessBlock", _S),
    Place(
        "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
        "s3:PutBucketEncryption",
        _S,
    ),
    Place("aws:scheduler/schedule:Schedule", "scheduler:CreateSchedule", _O),
    Place("aws:sns/topic:Topic", "sns:CreateTopic", _S),
    Place("aws:sns/topicPolicy:TopicPolicy", "sns:SetTopicAttributes", _S),
    Place("aws:sns/topicSubscription:TopicSubscription", "sns:Subscribe", _S),
    Place(
        "aws:ssm/association:Association",
        "ssm:CreateAssociation",
        _T,
        looked_for_again=False,
    ),
    Place(
        "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
        "ec2:AuthorizeSecurityGroupEgress",
        _R,
        "InvalidPermission.Duplicate",
    ),
    Place(
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        "ec2:AuthorizeSecurityGroupIngress",
        _R,
        "InvalidPermission.Duplicate",
    ),
)


def tables() -> dict[str, str]:
    """Return each table by its name on the page."""
    return {"kinds": _kinds(), "places": _places()}


def _kinds() -> str:
    rows = [
        (f"`{name}`", kind.summary, ", ".join(f"`{key}`" for key in sorted(kind.keys)))
        for name, kind in KINDS.items()
    ]
    return _table(("`happens`", "What happens", "Keys of its own"), rows)


def _places() -> str:
    tried = [name for name, *_ in SURVIVED] + list(FATAL)
    rows = [
        (
            f"`{place.token.partition(':')[2].rpartition(':')[0]}`",
            f"`{place.call}`",
            ", ".join(kind for kind in tried if place.has(kind) and _survived(kind, place)),
            ", ".join(kind for kind in tried if place.has(kind) and not _survived(kind, place)),
            place.lost_answer.value + (f" (`{place.code}`)" if place.code else ""),
        )
        for place in PLACES
    ]
    head = ("Type", "Call", "Survived", "Ends with AWS's error", "A lost answer")
    return _table(head, rows)


def _survived(kind: str, place: Place) -> bool:
    return kind not in FATAL and (kind != "not-found-yet" or place.looked_for_again)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
