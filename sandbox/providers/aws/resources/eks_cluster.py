"""EKS clusters.

Source: https://www.pulumi.com/registry/packages/aws/api-docs/eks/cluster/
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError

from sandbox.providers._protocol.servicer import ProviderError
from sandbox.providers.aws.account import Account, is_missing
from sandbox.providers.aws.resource import ResourceType, Values
from sandbox.providers.aws.retries import NOT_FOUND_CHECKS, says, until_propagated

POLL_SECONDS = 0.1
DEADLINE_SECONDS = 120
_ROLE_IS_NEW = says(
    "InvalidParameterException",
    "does not exist",
    "Error in role params",
    "could not be assumed because the trusted entity is not correct",
    "The provided role doesn't have the Amazon EKS Managed Policies associated with it",
    "IAM role's policy must include",
)
"""As `resourceClusterCreate` in `internal/service/eks/cluster.go` of the official provider."""
FAILED = frozenset({"FAILED", "CREATE_FAILED", "DELETE_FAILED"})


def wait(describe: Callable[[], dict[str, Any]], wanted: str | None) -> None:
    """Wait until an EKS object has a status, or is gone where none is wanted.

    Raises:
        ProviderError: it failed, or the deadline passed.
    """
    deadline = time.monotonic() + DEADLINE_SECONDS
    found: dict[str, Any] = {}
    polls_without = 0
    while time.monotonic() < deadline:
        try:
            found = describe()
        except ClientError as error:
            if not is_missing(error):
                raise
            if wanted is None:
                return
            polls_without += 1
            if polls_without > NOT_FOUND_CHECKS:
                raise
            time.sleep(POLL_SECONDS)
            continue
        if found["status"] == wanted:
            return
        if found["status"] in FAILED:
            raise ProviderError(f"status {found['status']}: {_issues(found)}")
        time.sleep(POLL_SECONDS)
    raise ProviderError(
        f"not {wanted or 'deleted'} after {DEADLINE_SECONDS} s; status "
        f"{found.get('status')}: {_issues(found)}"
    )


def _issues(found: dict[str, Any]) -> str:
    issues = found.get("health", {}).get("issues", [])
    return "; ".join(_issue(issue) for issue in issues) or "EKS says no more"


def _issue(issue: dict[str, Any]) -> str:
    about = ", ".join(issue.get("resourceIds") or [])
    return f"{about}{': ' if about else ''}{issue['code']}: {issue['message']}"


def _vpc_config(inputs: Values) -> dict[str, Any]:
    return dict(inputs["vpcConfig"])


def _logging(inputs: Values) -> dict[str, Any]:
    wanted = inputs.get("enabledClusterLogTypes") or []
    every = ["api", "audit", "authenticator", "controllerManager", "scheduler"]
    setups = [{"types": wanted, "enabled": True}] if wanted else []
    rest = [name for name in every if name not in wanted]
    return {"clusterLogging": [*setups, *([{"types": rest, "enabled": False}] if rest else [])]}


def _create(account: Account, inputs: Values) -> tuple[str, Values]:
    eks, name = account.client("eks"), inputs["name"]
    optional = {key: inputs[key] for key in ("version", "accessConfig", "tags") if inputs.get(key)}
    if inputs.get("encryptionConfig"):
        optional["encryptionConfig"] = [inputs["encryptionConfig"]]
    given = {
        "name": name,
        "roleArn": inputs["roleArn"],
        "resourcesVpcConfig": _vpc_config(inputs),
        "logging": _logging(inputs),
        "bootstrapSelfManagedAddons": inputs["bootstrapSelfManagedAddons"],
        **optional,
    }
    until_propagated(lambda: eks.create_cluster(**given), _ROLE_IS_NEW)
    return name, {}


def _settle(account: Account, name: str, inputs: Values) -> None:
    eks = account.client("eks")
    wait(lambda: eks.describe_cluster(name=name)["cluster"], "ACTIVE")


def _read(account: Account, name: str) -> Values:
    cluster = account.client("eks").describe_cluster(name=name)["cluster"]
    vpc, access = cluster["resourcesVpcConfig"], cluster.get("accessConfig", {})
    logs = cluster.get("logging", {}).get("clusterLogging", [])
    enabled = [t for setup in logs if setup.get("enabled") for t in setup["types"]]
    return {
        "arn": cluster["arn"],
        "name": name,
        "version": cluster["version"],
        "platformVersion": cluster.get("platformVersion"),
        "roleArn": cluster["roleArn"],
        "endpoint": cluster.get("endpoint"),
        "status": cluster["status"],
        "certificateAuthority": {"data": cluster.get("certificateAuthority", {}).get("data")},
        "certificateAuthorities": [{"data": cluster.get("certificateAuthority", {}).get("data")}],
        "identities": [{"oidcs": [{"issuer": cluster["identity"]["oidc"]["issuer"]}]}],
        "kubernetesNetworkConfig": {
            "serviceIpv4Cidr": cluster["kubernetesNetworkConfig"].get("serviceIpv4Cidr"),
            "ipFamily": cluster["kubernetesNetworkConfig"].get("ipFamily", "ipv4"),
        },
        "vpcConfig": {
            "subnetIds": vpc["subnetIds"],
            "endpointPublicAccess": vpc["endpointPublicAccess"],
            "endpointPrivateAccess": vpc["endpointPrivateAccess"],
            "publicAccessCidrs": vpc.get("publicAccessCidrs"),
            "securityGroupIds": vpc.get("securityGroupIds") or None,
            "clusterSecurityGroupId": vpc.get("clusterSecurityGroupId"),
            "vpcId": vpc.get("vpcId"),
        },
        "accessConfig": {"authenticationMode": access.get("authenticationMode", "CONFIG_MAP")},
        "enabledClusterLogTypes": enabled or None,
        "encryptionConfig": next(iter(cluster.get("encryptionConfig") or []), None),
        "createdAt": cluster["createdAt"].isoformat(),
        "tags": cluster.get("tags") or None,
    }


def _update(account: Account, name: str, olds: Values, news: Values) -> None:
    eks = account.client("eks")
    if olds.get("version") != news.get("version"):
        eks.update_cluster_version(name=name, version=news["version"])
        wait(lambda: eks.describe_cluster(name=name)["cluster"], "ACTIVE")
    if olds.get("accessConfig") != news.get("accessConfig"):
        mode = news["accessConfig"]["authenticationMode"]
        eks.update_cluster_config(name=name, accessConfig={"authenticationMode": mode})
    if olds.get("encryptionConfig") != news.get("encryptionConfig"):
        _encrypt(eks, name, olds, news)
    if olds.get("vpcConfig") != news.get("vpcConfig"):
        eks.update_cluster_config(name=name, resourcesVpcConfig=_vpc_config(news))
    if olds.get("enabledClusterLogTypes") != news.get("enabledClusterLogTypes"):
        eks.update_cluster_config(name=name, logging=_logging(news))
    retag(account, eks.describe_cluster(name=name)["cluster"]["arn"], olds, news)
    wait(lambda: eks.describe_cluster(name=name)["cluster"], "ACTIVE")


def _encrypt(eks: Any, name: str, olds: Values, news: Values) -> None:
    """Add a key, in place; the official provider replaces the cluster where one is taken away.

    Source: `ForceNewIfChange("encryption_config", …)` in `internal/service/eks/cluster.go` of
    https://github.com/hashicorp/terraform-provider-aws
    """
    if olds.get("encryptionConfig") or not news.get("encryptionConfig"):
        raise ProviderError("the key that encrypts secrets can be added, not changed or removed")
    config = [news["encryptionConfig"]]
    eks.associate_encryption_config(clusterName=name, encryptionConfig=config)


def retag(account: Account, arn: str, olds: Values, news: Values) -> None:
    """Bring the tags of an EKS object from what they were to what is wanted."""
    eks = account.client("eks")
    before, after = olds.get("tags") or {}, news.get("tags") or {}
    if before.keys() - after.keys():
        eks.untag_resource(resourceArn=arn, tagKeys=sorted(before.keys() - after.keys()))
    if after and after != before:
        eks.tag_resource(resourceArn=arn, tags=after)


def _delete(account: Account, name: str, outputs: Values) -> None:
    eks = account.client("eks")
    eks.delete_cluster(name=name)
    wait(lambda: eks.describe_cluster(name=name)["cluster"], None)


def _decrypts(olds: Values, news: Values) -> list[str]:
    """Return the encryption where it is taken away, which EKS never does to a cluster that exists.

    https://github.com/hashicorp/terraform-provider-aws, internal/service/eks/cluster.go:
    `CustomizeDiff`
    """
    gone = bool(olds.get("encryptionConfig")) and not news.get("encryptionConfig")
    return ["encryptionConfig"] if gone else []


CLUSTER = ResourceType(
    token="aws:eks/cluster:Cluster",
    inputs=frozenset(
        {
            "name",
            "roleArn",
            "version",
            "vpcConfig",
            "accessConfig",
            "enabledClusterLogTypes",
            "encryptionConfig",
            "bootstrapSelfManagedAddons",
            "tags",
        }
    ),
    required=frozenset({"roleArn", "vpcConfig"}),
    computed=frozenset(
        {
            "arn",
            "certificateAuthorities",
            "certificateAuthority",
            "createdAt",
            "endpoint",
            "identities",
            "kubernetesNetworkConfig",
            "platformVersion",
            "status",
        }
    ),
    computed_inside={"vpcConfig": frozenset({"clusterSecurityGroupId", "vpcId"})},
    replace_on=frozenset({"name", "roleArn", "bootstrapSelfManagedAddons"}),
    replace_when=_decrypts,
    name_property="name",
    name_limit=100,
    defaults={"bootstrapSelfManagedAddons": True},
    create=_create,
    settle=_settle,
    read=_read,
    update=_update,
    delete=_delete,
)


RESOURCE_TYPES = (CLUSTER,)
