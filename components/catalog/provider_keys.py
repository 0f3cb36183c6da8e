"""Settings of the providers in a stack file, and whether trainyard honours them.

Pulumi passes every key of the namespaces `aws`, `eks` and `kubernetes` to the default provider of
that name. What trainyard reads by itself, in the program and in its commands, has to use the same
account, region and endpoint as that provider. A setting for which this does not hold is refused.

Sources:
    `pulumi_aws/config/vars.py` of pulumi-aws 7.51.1: the keys of `aws`
    https://registry.terraform.io/providers/hashicorp/aws/latest/docs#argument-reference: what they
        do, and the environment variables that do the same
    https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html: which of these
        variables boto3, the AWS CLI and the SDK for Go read
    https://github.com/pulumi/pulumi-eks/blob/v4.3.0/provider/cmd/pulumi-resource-eks/schema.json:
        `config` of the package is empty
    `pulumi_kubernetes/provider.py` of pulumi-kubernetes 4.34.2: the arguments of the provider,
        which are the keys of `kubernetes`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

from trainyard.components.package_data import data_text


class Support(Enum):
    """What trainyard does with a key."""

    HONOURED = "honoured"
    """Every call of the program and of the commands uses it, as the engine does."""
    ENGINE = "engine"
    """It changes how often or how the engine repeats its own calls, and not where they go."""
    REFUSED = "refused"
    """The commands could not use it, or the stack would differ from what its file says."""


@dataclass(frozen=True, slots=True)
class ProviderKey:
    """A key of a provider, and what trainyard does with it."""

    support: Support
    meaning: str
    """What it does; for a refused key, why it is refused."""
    instead: str = ""
    """What to do instead of a refused key, as a sentence without its point."""
    unless: object = None
    """A value with which a refused key is accepted, because it changes nothing."""


def _honoured(meaning: str) -> ProviderKey:
    return ProviderKey(Support.HONOURED, meaning)


def _engine(meaning: str) -> ProviderKey:
    return ProviderKey(Support.ENGINE, meaning)


def _refused(why: str, instead: str, *, unless: object = None) -> ProviderKey:
    return ProviderKey(Support.REFUSED, why, instead, unless)


_IN_FILE = "a stack file is committed and shared, and the commands use the credentials of a profile"
_PROFILE = (
    "keep the keys out of the file: set AWS_PROFILE or `aws:profile`, or the variables "
    "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN"
)
_ONLY_ENGINE = "only the engine would use it, and the commands would connect in another way"
_ONLY_ENGINE_READS = "only the engine would read it, and the commands would use other credentials"


def _variable(names: str, why: str = _ONLY_ENGINE) -> ProviderKey:
    """Return a refused key for which an environment variable exists that all programs read."""
    return _refused(why, f"set the environment variable {names}, which all of them read")


AWS_KEYS: Mapping[str, ProviderKey] = {
    "accessKey": _refused(f"is a part of a key pair: {_IN_FILE}", _PROFILE),
    "allowedAccountIds": _honoured("Accounts that the stack may be deployed to."),
    "assumeRoleWithWebIdentity": _variable(
        "AWS_ROLE_ARN, with AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_SESSION_NAME",
        _ONLY_ENGINE_READS,
    ),
    "assumeRoles": _honoured(
        "Roles to assume, one after the other; the last one deploys the stack."
    ),
    "customCaBundle": _variable("AWS_CA_BUNDLE"),
    "defaultTags": _refused(
        "would miss what AWS creates itself: instances and volumes of Auto Scaling groups, and "
        "everything of a ParallelCluster",
        "set the tags in `trainyard:cluster.tags`, which are on all resources",
    ),
    "ec2MetadataServiceEndpoint": _variable("AWS_EC2_METADATA_SERVICE_ENDPOINT"),
    "ec2MetadataServiceEndpointMode": _variable("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"),
    "endpoints": _honoured("Addresses of services, such as those of VPC endpoints."),
    "forbiddenAccountIds": _honoured("Accounts that the stack must not be deployed to."),
    "httpProxy": _variable("HTTP_PROXY"),
    "httpsProxy": _variable("HTTPS_PROXY"),
    "ignoreTags": _refused(
        "would hide tags of the stack's own resources, by which commands find them again after an "
        "interrupted update",
        "remove it; let those who add tags to these resources use `trainyard:cluster.tags`",
    ),
    "insecure": _refused(
        "would send credentials to a server whose certificate is not verified",
        "remove it, and set the environment variable AWS_CA_BUNDLE to the certificate of the "
        "authority",
        unless=False,
    ),
    "maxRetries": _engine("How often the engine repeats a call."),
    "noProxy": _variable("NO_PROXY"),
    "profile": _honoured("Profile of ~/.aws/config whose credentials and roles are used."),
    "region": _honoured("Region of the stack, such as `us-west-2`."),
    "retryMode": _engine("How the engine waits between repeated calls."),
    "s3UsEast1RegionalEndpoint": _variable("AWS_S3_US_EAST_1_REGIONAL_ENDPOINT"),
    "s3UsePathStyle": _honoured("Whether the name of a bucket is in the path of the address."),
    "secretKey": _refused(f"is a secret: {_IN_FILE}", _PROFILE),
    "sharedConfigFiles": _variable("AWS_CONFIG_FILE", _ONLY_ENGINE_READS),
    "sharedCredentialsFiles": _variable("AWS_SHARED_CREDENTIALS_FILE", _ONLY_ENGINE_READS),
    "skipCredentialsValidation": _engine("Whether the engine skips its check of credentials."),
    "skipMetadataApiCheck": _refused(
        "would keep only the engine from using the credentials of an instance",
        "set the environment variable AWS_EC2_METADATA_DISABLED to true, which all of them read",
        unless=False,
    ),
    "skipRegionValidation": _engine("Whether the engine accepts regions that it does not know."),
    "skipRequestingAccountId": _refused(
        "would leave the account id out of ARNs, and skip the check of `aws:allowedAccountIds`",
        "remove it",
        unless=False,
    ),
    "stsRegion": _honoured("Region of the calls of STS, for roles and the account id."),
    "tagPolicyCompliance": _engine("Whether the engine enforces tag policies."),
    "token": _refused(f"is a secret: {_IN_FILE}", _PROFILE),
    "tokenBucketRateLimiterCapacity": _engine("How many calls the engine repeats at once."),
    "useDualstackEndpoint": _honoured("Whether endpoints with IPv6 are used."),
    "useFipsEndpoint": _honoured("Whether endpoints with FIPS 140 are used."),
    "userAgents": _engine("What the engine adds to the user agent of its calls."),
}
"""The keys of `aws`, without the namespace."""

EKS_KEYS: Mapping[str, ProviderKey] = {}
"""The keys of `eks`: pulumi-eks has none."""

_OTHER_CLUSTER = (
    "is not read: Kubernetes objects of the stack go to its own cluster, with the kubeconfig that "
    "the cluster has when it is created"
)
_OTHER_PROVIDER = (
    "is not read: it sets the default provider of Kubernetes, and the program makes one for the "
    "cluster of the stack"
)
_KUBECONFIG = "remove it; `./trainyard kubeconfig STACK` prints the kubeconfig of the cluster"


def _other(instead: str = "remove it") -> ProviderKey:
    return _refused(_OTHER_PROVIDER, instead)


KUBERNETES_KEYS: Mapping[str, ProviderKey] = {
    "alwaysRender": _other(),
    "cluster": _refused(_OTHER_CLUSTER, _KUBECONFIG),
    "clusterIdentifier": _refused(_OTHER_CLUSTER, _KUBECONFIG),
    "context": _refused(_OTHER_CLUSTER, _KUBECONFIG),
    "deleteUnreachable": _other(
        "if the cluster no longer exists, run the command with the environment variable "
        "PULUMI_K8S_DELETE_UNREACHABLE=true"
    ),
    "enableConfigMapMutable": _other(),
    "enablePatchForce": _other(),
    "enableSecretMutable": _other(),
    "enableServerSideApply": _other(),
    "helmReleaseSettings": _other(),
    "kubeClientSettings": _other(),
    "kubeconfig": _refused(_OTHER_CLUSTER, _KUBECONFIG),
    "namespace": _other(),
    "renderYamlToDirectory": _other(),
    "skipUpdateUnreachable": _other(),
    "suppressDeprecationWarnings": _other(),
    "suppressHelmHookWarnings": _other(),
    "upsertExistingObjects": _other(),
}
"""The keys of `kubernetes`, without the namespace."""

PROVIDER_KEYS: Mapping[str, Mapping[str, ProviderKey]] = {
    "aws": AWS_KEYS,
    "eks": EKS_KEYS,
    "kubernetes": KUBERNETES_KEYS,
}
"""The keys of each provider of the program, by namespace."""

ENDPOINTS_OF: Mapping[str, tuple[str, ...]] = {
    "amp": ("amp", "prometheus", "prometheusservice"),
    "autoscaling": ("autoscaling",),
    "batch": ("batch",),
    "cloudformation": ("cloudformation",),
    "cloudwatch": ("cloudwatch",),
    "dynamodb": ("dynamodb",),
    "ec2": ("ec2",),
    "ecr": ("ecr",),
    "efs": ("efs",),
    "eks": ("eks",),
    "events": ("events", "eventbridge", "cloudwatchevents"),
    "fsx": ("fsx",),
    "iam": ("iam",),
    "kms": ("kms",),
    "lambda": ("lambda",),
    "logs": ("logs", "cloudwatchlog", "cloudwatchlogs"),
    "pricing": ("pricing",),
    "ram": ("ram",),
    "resource-groups": ("resourcegroups",),
    "resourcegroupstaggingapi": ("resourcegroupstaggingapi", "resourcegroupstagging"),
    "s3": ("s3", "s3api"),
    "scheduler": ("scheduler",),
    "secretsmanager": ("secretsmanager",),
    "service-quotas": ("servicequotas",),
    "sns": ("sns",),
    "ssm": ("ssm",),
    "sts": ("sts",),
}
"""Keys of `aws:endpoints` by the boto3 name of a service, for the services that trainyard calls.

A service can have several keys, of which the provider accepts one: `aliases` in
https://github.com/hashicorp/terraform-provider-aws/blob/main/names/data/names_data.hcl
"""


@cache
def endpoint_keys() -> tuple[str, ...]:
    """Return all keys of an entry of `aws:endpoints`, sorted.

    `ProviderEndpointArgs` in `pulumi_aws/_inputs.py` of pulumi-aws 7.51.1.
    """
    path = Path(__file__).with_name("data") / "provider_endpoints.txt"
    return tuple(data_text(path).split())
