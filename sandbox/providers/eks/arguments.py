"""The arguments of `eks:index:Cluster` in the recordings of the official component.

Other arguments are rejected, because the emulation could only guess their effect.
`tests/sandbox/providers/eks/test_recordings.py` compares these tables with the recordings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi.errors import InputPropertiesError, InputPropertyErrorDetails

TOKEN = "eks:index:Cluster"
ANY: tuple[object, ...] = ()
"""The component passes the value on unchanged."""
CONFLICTS: Mapping[str, Any] = {
    "resolveConflictsOnCreate": ("OVERWRITE",),
    "resolveConflictsOnUpdate": ("OVERWRITE",),
}
REQUIRED: Mapping[str, Any] = {
    "authenticationMode": ("CONFIG_MAP", "API_AND_CONFIG_MAP", "API"),
    "corednsAddonOptions": {"enabled": (False,), **CONFLICTS},
    "createInstanceRole": (False,),
    "createOidcProvider": (True,),
    "endpointPrivateAccess": (True, False),
    "endpointPublicAccess": (True, False),
    "kubeProxyAddonOptions": {"version": ANY, **CONFLICTS},
    "name": ANY,
    "skipDefaultNodeGroup": (True,),
    "skipDefaultSecurityGroups": (True,),
    "subnetIds": ANY,
    "tags": ANY,
    "version": ANY,
    "vpcCniOptions": {"addonVersion": ANY, **CONFLICTS},
    "vpcId": ANY,
}
"""By argument: the recorded values, or the same for each part of an object."""
OPTIONAL = frozenset(
    {
        "enabledClusterLogTypes",
        "encryptionConfigKeyArn",
        "providerCredentialOpts",
        "publicAccessCidrs",
    }
)
"""Arguments that are in some recordings only, and `providerCredentialOpts`, which is in none: its
effect is that of the source, `generateKubeconfig` in `nodejs/eks/cluster/cluster.ts`."""

NO_DEFAULT_VPC = (
    "the package looks up the default VPC where vpcId is not given, and an account need not have "
    "one: aws:ec2/getVpc:getVpc answers 'no matching EC2 VPC found'"
)
"""`createCore` in `nodejs/eks/cluster/cluster.ts`; the sandbox's account counts as one without it.
"""


def check_arguments(arguments: Mapping[str, Any]) -> None:
    """Reject all arguments that no recording has, in one error.

    Raises:
        InputPropertiesError: arguments are unknown or missing, or have a value that is not
            recorded.
    """
    faults = [
        InputPropertyErrorDetails(property_path=path, reason=reason)
        for path, reason in (*_faults(arguments, REQUIRED, ""), *_combination_faults(arguments))
    ]
    if faults:
        raise InputPropertiesError(f"the sandbox cannot make this {TOKEN}", faults)


def _faults(
    given: Mapping[str, Any], known: Mapping[str, Any], inside: str
) -> Iterator[tuple[str, str]]:
    of = f"{inside.rstrip('.')} of {TOKEN}" if inside else TOKEN
    for key in sorted(given.keys() - known.keys() - (OPTIONAL if not inside else frozenset())):
        yield f"{inside}{key}", f"the sandbox does not know the argument {key} of {of}"
    for key, values in known.items():
        found, path = given.get(key), f"{inside}{key}"
        if found is None:
            yield path, NO_DEFAULT_VPC if key == "vpcId" else f"the sandbox needs {path}"
        elif isinstance(values, Mapping):
            yield from _faults(found, values, f"{path}.")
        elif values and found not in values:
            only = " or ".join(str(value) for value in values)
            yield path, f"the sandbox only knows {path} as {only}"


def _combination_faults(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    public = arguments.get("endpointPublicAccess")
    if not public and not arguments.get("endpointPrivateAccess"):
        yield "endpointPrivateAccess", "EKS needs a public or a private endpoint"
    if public is not None and public is not bool(arguments.get("publicAccessCidrs")):
        yield (
            "publicAccessCidrs",
            "the sandbox only knows it with a public endpoint, and needs it there",
        )
