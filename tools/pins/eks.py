"""Versions that require an AWS account to query: EKS, its add-ons and its AMIs."""

import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from tools.pins import EksAddon, EksAmi, EksVersions, numbers

PERMISSIONS: Mapping[type, str] = {
    EksVersions: "eks:DescribeClusterVersions",
    EksAddon: "eks:DescribeAddonVersions",
    EksAmi: "ssm:GetParameter",
}
"""The API call for each source, which is also the required permission."""


class AccountError(Exception):
    """The account did not answer; the message has the request and the reason."""


class Account:
    """Queries EKS and Systems Manager in one region."""

    def __init__(self, client: Callable[[str], Any]) -> None:
        """Take a factory for service clients: ``boto3.Session.client``."""
        self._client = cache(client)
        self._addons = cache(self._describe_addons)
        self._minors = cache(self._describe_versions)
        self._one_at_a_time = threading.Lock()  # prevents duplicate requests

    def newest(self, source: EksVersions | EksAddon | EksAmi) -> tuple[str | None, str]:
        """Return the newest version and a note.

        For an add-on this is the version that EKS installs by default, as in the catalog.

        Raises:
            AccountError: the account cannot be queried, or denies the request.
        """
        try:
            with self._one_at_a_time:
                return self._ask(source)
        except (BotoCoreError, ClientError) as error:
            raise AccountError(f"{PERMISSIONS[type(source)]} failed: {error}") from error

    def _ask(self, source: EksVersions | EksAddon | EksAmi) -> tuple[str | None, str]:
        match source:
            case EksVersions():
                return max(self._minors(), key=numbers, default=None), ""
            case EksAddon(addon=addon, minor=minor):
                return self._default(addon, minor)
            case EksAmi(minor=minor):
                return self._release(minor), ""

    def _default(self, addon: str, minor: str) -> tuple[str | None, str]:
        default, newest = self._addons(minor).get(addon, (None, None))
        newer = newest if default != newest else None
        return default, f"EKS's default; {newer} exists too" if newer else ""

    def _describe_addons(self, minor: str) -> dict[str, tuple[str | None, str | None]]:
        """Return the default and the newest version of every add-on, by name."""
        found = dict[str, tuple[str | None, str | None]]()
        pages = self._client("eks").get_paginator("describe_addon_versions")
        for page in pages.paginate(kubernetesVersion=minor):
            for addon in page["addons"]:
                offered = [each["addonVersion"] for each in addon["addonVersions"]]
                default = next(_defaults(addon), None)
                found[addon["addonName"]] = default, max(offered, key=numbers, default=None)
        return found

    def _describe_versions(self) -> list[str]:
        pages = self._client("eks").get_paginator("describe_cluster_versions")
        return [
            each["clusterVersion"] for page in pages.paginate() for each in page["clusterVersions"]
        ]

    def _release(self, minor: str) -> str:
        """Return the release version of the recommended AMI.

        https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html
        """
        name = (
            f"/aws/service/eks/optimized-ami/{minor}/amazon-linux-2023/x86_64/standard/"
            "recommended/release_version"
        )
        return self._client("ssm").get_parameter(Name=name)["Parameter"]["Value"]


def _defaults(addon: Mapping[str, Any]) -> Iterator[str]:
    for offered in addon["addonVersions"]:
        if any(fit.get("defaultVersion") for fit in offered["compatibilities"]):
            yield offered["addonVersion"]
