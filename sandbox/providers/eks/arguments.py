"""The arguments of `eks:index:Cluster` that the sandbox knows, and the check of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi.errors import InputPropertiesError, InputPropertyErrorDetails

TOKEN = "eks:index:Cluster"
CONFLICTS = {"resolveConflictsOnCreate", "resolveConflictsOnUpdate"}
ARGUMENTS = frozenset(
    {
        "authenticationMode",
        "corednsAddonOptions",
        "createInstanceRole",
        "createOidcProvider",
        "enabledClusterLogTypes",
        "encryptionConfigKeyArn",
        "endpointPrivateAccess",
        "endpointPublicAccess",
        "kubeProxyAddonOptions",
        "name",
        "publicAccessCidrs",
        "skipDefaultNodeGroup",
        "skipDefaultSecurityGroups",
        "subnetIds",
        "tags",
        "version",
        "vpcCniOptions",
        "vpcId",
    }
)
OPTIONS: Mapping[str, frozenset[str]] = {
    "corednsAddonOptions": frozenset({"enabled", *CONFLICTS}),
    "kubeProxyAddonOptions": frozenset({"version", *CONFLICTS}),
    "vpcCniOptions": frozenset({"addonVersion", *CONFLICTS}),
}
"""Keys of the arguments that are objects."""
ONLY: Mapping[str, object] = {
    "createInstanceRole": False,
    "skipDefaultNodeGroup": True,
    "skipDefaultSecurityGroups": True,
}
"""Arguments of which the sandbox plays one value: it has no nodes of the package's own."""
REQUIRED = ("kubeProxyAddonOptions", "name", "subnetIds", "version", "vpcCniOptions")
"""Where the package asks AWS for what is left out, this stand-in wants to be told."""

NO_DEFAULT_VPC = (
    "the package looks up the default VPC where vpcId is not given, and an account need not have "
    "one: aws:ec2/getVpc:getVpc answers 'no matching EC2 VPC found'"
)
"""`createCore` in `nodejs/eks/cluster/cluster.ts`; the sandbox's account counts as one without."""


def check_arguments(arguments: Mapping[str, Any]) -> None:
    """Refuse, all at once, whatever the stand-in would ignore.

    Raises:
        InputPropertiesError: arguments that are unknown, missing or of a value not played here.
    """
    faults = [
        InputPropertyErrorDetails(property_path=path, reason=reason)
        for path, reason in _faults(arguments)
    ]
    if faults:
        raise InputPropertiesError(f"the sandbox cannot make this {TOKEN}", faults)


def _faults(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in sorted(arguments.keys() - ARGUMENTS):
        yield key, f"the sandbox does not know the argument {key} of {TOKEN}"
    for key in REQUIRED:
        if key not in arguments:
            yield key, f"the sandbox needs {key}"
    if not arguments.get("vpcId"):
        yield "vpcId", NO_DEFAULT_VPC
    for key, value in ONLY.items():
        if arguments.get(key) is not value:
            yield key, f"the sandbox only knows {TOKEN} with {key} {str(value).lower()}"
    yield from _option_faults(arguments)


def _option_faults(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, known in OPTIONS.items():
        for option in sorted((arguments.get(key) or {}).keys() - known):
            yield f"{key}.{option}", f"the sandbox does not know {option} of {key}"
    if (arguments.get("corednsAddonOptions") or {}).get("enabled") is not False:
        yield "corednsAddonOptions.enabled", "the sandbox only knows it as false"
