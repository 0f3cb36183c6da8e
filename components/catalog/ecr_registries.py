"""Hosts of private ECR registries, which have an account, a region and the suffix of a partition.

Sources:
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html
    (`ACCOUNT.dkr.ecr.REGION.amazonaws.com`)
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/ecr-requests.html (dual-stack:
    `ACCOUNT.dkr-ecr.REGION.on.aws`)
    https://docs.aws.amazon.com/general/latest/gr/ecr.html (`ecr-fips`)
    https://docs.aws.amazon.com/accounts/latest/reference/manage-acct-identifiers.html: an account
    id has 12 digits
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html: endpoints serve the
    registries of their own region only
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/replication.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from trainyard.components.catalog.regions import can_be_region, nearest_region
from trainyard.components.naming import dns_suffix, partition

_HOST = re.compile(
    r"(?:(?P<account>[^.]*)\.)?dkr(?P<separator>[.-])ecr(?P<fips>-fips)?"
    r"\.(?P<region>[A-Za-z0-9_-]+)\.(?P<suffix>[A-Za-z0-9.-]+?)(?::\d+)?",
    re.IGNORECASE,
)
_DUAL_STACK = {"aws-cn": "on.amazonwebservices.com.cn"}
EXAMPLE_ACCOUNTS = frozenset(
    {"111122223333", "123456789012", "444455556666", "777788889999", "999988887777"}
)
"""Account ids of AWS's documentation, which are copied from there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EcrRegistry:
    """The parts of the host of a private registry, as they are written."""

    account: str
    region: str
    suffix: str
    separator: str
    """`.`, or `-` of a dual-stack host."""
    fips: str = ""

    @property
    def right_suffix(self) -> str:
        """The DNS suffix of the hosts of its region."""
        if self.separator == "-":
            return _DUAL_STACK.get(partition(self.region), "on.aws")
        return dns_suffix(self.region)

    def host(self, *, account: str = "", region: str = "") -> str:
        """Return the host with its right suffix, and with another account or region."""
        place = region or self.region
        there = EcrRegistry(
            account=account or self.account, region=place, suffix="", separator=self.separator
        )
        endpoint = f"dkr{self.separator}ecr{self.fips}"
        return f"{there.account}.{endpoint}.{place}.{there.right_suffix}"


def ecr_registry(host: str) -> EcrRegistry | None:
    """Return the parts of the host of a private registry; None for any other host."""
    found = _HOST.fullmatch(host)
    if found is None:
        return None
    return EcrRegistry(
        account=found["account"] or "",
        region=found["region"],
        suffix=found["suffix"],
        separator=found["separator"],
        fips=found["fips"] or "",
    )


def ecr_fault(host: str) -> tuple[str, str] | None:
    """Return why no registry of ECR has a host, and the host that is meant or empty; else None."""
    found = ecr_registry(host)
    if found is None:
        return None
    if not can_be_region(found.region):
        near = nearest_region(found.region)
        meant = found.host(region=near) if near and _is_account(found.account) else ""
        return f"names the region {found.region!r} of ECR, which does not exist", meant
    if not _is_account(found.account):
        said = found.account or "nothing"
        return f"names the account {said!r} of ECR, and account ids are 12 digits", ""
    if found.suffix.lower() != found.right_suffix:
        return (
            f"has the domain {found.suffix}, and ECR in {found.region} is at {found.right_suffix}",
            found.host(),
        )
    return None


def _is_account(text: str) -> bool:
    """Return whether a text can be an account id; no account has an id of one digit only."""
    return re.fullmatch(r"\d{12}", text, re.ASCII) is not None and len(set(text)) > 1
