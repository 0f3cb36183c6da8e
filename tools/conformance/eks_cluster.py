"""The recorded calls of `eks:index:Cluster`: the arguments of the stacks, and AWS's responses.

A case is a list of variants of `BASE`. `components/eks/cluster.py` defines the arguments; the
contract test compares the arguments of every stack with the cases.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from tools.conformance.plugin import Construction
from tools.conformance.wire import output
from trainyard.sandbox.aws.server import issuer_hosts
from trainyard.sandbox.providers._protocol.values import UNKNOWN

TOKEN = "eks:index:Cluster"  # noqa: S105 - the name of a type
NAME = "c-eks"
REGION = "us-west-2"
HOST = "0123456789ABCDEF.gr7.us-west-2.eks.amazonaws.com"
ISSUER_HOST, _ = issuer_hosts(REGION)
ACCOUNT = "123456789012"
THUMBPRINT_DIGITS = 40
CONFLICTS = {"resolveConflictsOnCreate": "OVERWRITE", "resolveConflictsOnUpdate": "OVERWRITE"}
VPC_URN = "urn:pulumi:recording::trainyard::trainyard:network:Vpc$aws:ec2/vpc:Vpc::vpc"
SUBNET_URN = "urn:pulumi:recording::trainyard::trainyard:network:Vpc$aws:ec2/subnet:Subnet::subnet"

BASE: Mapping[str, Any] = {
    "name": "c",
    "version": "1.35",
    "vpcId": "vpc-1",
    "subnetIds": ["subnet-1", "subnet-2"],
    "authenticationMode": "API_AND_CONFIG_MAP",
    "endpointPublicAccess": True,
    "endpointPrivateAccess": True,
    "publicAccessCidrs": ["203.0.113.0/24"],
    "createOidcProvider": True,
    "createInstanceRole": False,
    "skipDefaultNodeGroup": True,
    "skipDefaultSecurityGroups": True,
    "vpcCniOptions": {"addonVersion": "v1-vpc-cni", **CONFLICTS},
    "kubeProxyAddonOptions": {"version": "v1-kube-proxy", **CONFLICTS},
    "corednsAddonOptions": {"enabled": False, **CONFLICTS},
    "tags": {"trainyard:cluster": "c"},
}
PREVIEW = "preview"
NEW_NETWORK = "new-vpc"
VARIANTS: tuple[Mapping[str, Mapping[str, Any]], ...] = (
    {
        "authentication-config-map": {"authenticationMode": "CONFIG_MAP"},
        "authentication-api": {"authenticationMode": "API"},
    },
    {
        "endpoint-public": {"endpointPrivateAccess": False},
        "endpoint-private": {"endpointPublicAccess": False, "publicAccessCidrs": None},
    },
    {"secrets-key": {"encryptionConfigKeyArn": f"arn:aws:kms:{REGION}:{ACCOUNT}:key/1"}},
    {"log-types": {"enabledClusterLogTypes": ["api", "audit"]}},
    {NEW_NETWORK: {}},
    {PREVIEW: {}},
)
"""Changes to `BASE`: a case has at most one variant of each group; None removes a key."""

FUNCTIONS: Mapping[str, Mapping[str, Any]] = {
    "aws:index/getPartition:getPartition": {
        "id": "aws",
        "partition": "aws",
        "dnsSuffix": "amazonaws.com",
        "reverseDnsPrefix": "com.amazonaws",
    },
    "aws:index/getRegion:getRegion": {"id": REGION, "name": REGION, "region": REGION},
}


FREE = frozenset(
    {
        *("name", "version", "vpcId", "subnetIds", "tags", "publicAccessCidrs"),
        *("encryptionConfigKeyArn", "enabledClusterLogTypes", "addonVersion"),
    }
)
"""Arguments whose value the component passes on unchanged."""


def cases() -> Iterator[tuple[str, ...]]:
    """Yield every combination of variants, beginning with `BASE` alone."""
    for chosen in itertools.product(*([None, *group] for group in VARIANTS)):
        yield tuple(variant for variant in chosen if variant)


def arguments(case: tuple[str, ...]) -> dict[str, Any]:
    """Return the arguments of a case in the engine's form."""
    given = dict(BASE)
    for group in VARIANTS:
        for variant in case:
            given.update(group.get(variant, {}))
    if NEW_NETWORK in case:
        given |= _made(unknown=PREVIEW in case)
    return {key: value for key, value in given.items() if value is not None}


def construction(case: tuple[str, ...]) -> Construction:
    """Return the Construct call of a case."""
    return Construction(
        type=TOKEN,
        name=NAME,
        inputs=arguments(case),
        preview=PREVIEW in case,
        outputs=_outputs,
        functions=FUNCTIONS,
    )


def scrubbed(recorded: dict[str, Any]) -> dict[str, Any]:
    """Return a recording without the thumbprint, which depends on the recorder's certificate."""
    for made in recorded["resources"].values():
        found = made.get("inputs", {}).get("thumbprintLists")
        if found and all(len(each) == THUMBPRINT_DIGITS for each in found):
            made["inputs"]["thumbprintLists"] = ["<thumbprint>" for _ in found]
    return recorded


def case_of(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the case that matches a stack's arguments, apart from names, versions and ids.

    The arguments do not show whether the stack creates the network, or whether it is a preview.

    Raises:
        LookupError: no case has arguments of this shape.
    """
    wanted = _shape(given)
    for case in cases():
        if not {NEW_NETWORK, PREVIEW}.intersection(case) and _shape(arguments(case)) == wanted:
            return case
    raise LookupError(f"no recording has {TOKEN} with {wanted}")


def _shape(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with `<any>` for each value that the component only passes on."""
    return {
        key: "<any>" if key in FREE else _shape(value) if isinstance(value, Mapping) else value
        for key, value in given.items()
    }


def _made(*, unknown: bool) -> dict[str, Any]:
    """Return the network arguments of a stack that creates its network."""
    vpc = UNKNOWN if unknown else "vpc-1"
    subnets = [UNKNOWN if unknown else f"subnet-{n}" for n in (1, 2)]
    urns = [f"{SUBNET_URN}-{n}" for n in (1, 2)]
    return {
        "vpcId": output(vpc, [VPC_URN]),
        "subnetIds": [output(subnet, [urn]) for subnet, urn in zip(subnets, urns, strict=True)],
    }


def _outputs(type_: str, name: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outputs that AWS adds to a resource."""
    arn = f"arn:aws:iam::{ACCOUNT}"
    match type_:
        case "aws:iam/role:Role":
            return {"arn": f"{arn}:role/{name}", "name": name, "id": name}
        case "aws:iam/openIdConnectProvider:OpenIdConnectProvider":
            return {"arn": f"{arn}:oidc-provider/{ISSUER_HOST}/id/0123456789ABCDEF"}
        case "aws:eks/addon:Addon":
            return {"arn": f"arn:aws:eks:{REGION}:{ACCOUNT}:addon/c/{inputs['addonName']}/1"}
        case "aws:eks/cluster:Cluster":
            return {
                "arn": f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/c",
                "endpoint": f"https://{HOST}",
                "certificateAuthority": {"data": "Q0VSVElGSUNBVEU="},
                "identities": [
                    {"oidcs": [{"issuer": f"https://{ISSUER_HOST}/id/0123456789ABCDEF"}]}
                ],
                "vpcConfig": {
                    **inputs["vpcConfig"],
                    "clusterSecurityGroupId": "sg-1",
                    "vpcId": "vpc-1",
                },
            }
        case _:
            return {}
