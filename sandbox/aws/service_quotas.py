"""Service Quotas: applied quotas of the account and AWS defaults.

The sandbox reports the quotas but does not enforce them.

Source:
    https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_GetServiceQuota.html
    https://docs.aws.amazon.com/general/latest/gr/: the pages ec2-service, ebs-service, as, eks,
        fsxn and elasticfilesystem have names and AWS defaults
    https://docs.aws.amazon.com/batch/latest/userguide/service_limits.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/launch-template-restrictions.html
    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
The codes are in public lists of `aws service-quotas list-service-quotas`. The quotas of VPCs are
those that moto has recorded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn

from moto.core.exceptions import JsonRESTError
from moto.servicequotas.resources.default_quotas.vpc import VPC_DEFAULT_QUOTAS
from moto.servicequotas.responses import ServiceQuotasResponse

from trainyard.sandbox.account.fixture import fixture
from trainyard.sandbox.aws.environment import ACCOUNT_ID

_DEFAULT_STANDARD_VCPUS = 5
"""Default of the two quotas for Standard instances; all others have 0.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html
"""


_DEFAULTS: Mapping[str, Mapping[str, tuple[str, int]]] = {
    "ec2": {
        "L-0263D0A3": ("EC2-VPC Elastic IPs", 5),
        "L-FB451C26": ("Launch templates", 5000),
    },
    "ebs": {
        "L-7A658B76": ("Storage for General Purpose SSD (gp3) volumes, in TiB", 50),
    },
    "autoscaling": {"L-CDE20ADC": ("Auto Scaling groups per region", 500)},
    "eks": {
        "L-1194D53C": ("Clusters", 100),
        "L-6D54EA21": ("Managed node groups per cluster", 30),
        "L-BD136A63": ("Nodes per managed node group", 450),
    },
    "batch": {
        "L-144F0CA5": ("Compute environment limit", 50),
        "L-4CEA37AD": ("Job queue limit", 50),
    },
    "fsx": {
        "L-C48231E5": ("Lustre Scratch file systems", 100),
        "L-AD2FC696": ("Lustre Scratch storage capacity", 100_800),
        "L-9AFA1F09": ("Lustre Persistent_1 file systems", 100),
        "L-C8640C82": ("Lustre Persistent_1 storage capacity", 100_800),
        "L-FD6F2F22": ("Lustre Persistent_2 file systems", 100),
        "L-8F1B9C74": ("Lustre Persistent_2 storage capacity", 100_800),
        "L-59D0763F": ("OpenZFS file systems", 100),
        "L-88479C21": ("OpenZFS SSD storage capacity", 65_536),
        "L-4EDE4065": ("OpenZFS throughput capacity", 10_240),
        "L-E24B4DE4": ("OpenZFS disk IOPS", 400_000),
    },
    "elasticfilesystem": {"L-848C634D": ("File systems per account", 1000)},
    "iam": {
        "L-FE177D64": ("Roles per account", 1000),
        "L-6E65F259": ("Instance profiles per account", 1000),
    },
}
"""Name and AWS default of each quota, by service and code."""
_FIXED = frozenset({"batch"})
"""Services whose quotas cannot be raised."""
_OF_REGIONS: Mapping[str, Mapping[str, int]] = {
    "L-88479C21": dict.fromkeys(("us-east-1", "us-east-2", "us-west-2"), 262_144)
}
"""Other defaults of some regions, by code; the page fsxn."""

_SERVICE_NAMES = {
    "ec2": "Amazon Elastic Compute Cloud (Amazon EC2)",
    "vpc": "Amazon Virtual Private Cloud (Amazon VPC)",
    "eks": "Amazon Elastic Kubernetes Service (Amazon EKS)",
    "fsx": "Amazon FSx",
}


@dataclass(frozen=True)
class Quota:
    """One quota, with the value of the account."""

    service: str
    code: str
    name: str
    default: float
    applied: float | None
    """None if the account never had another value than the default."""
    adjustable: bool = True

    def answer(self, value: float, region: str) -> Mapping[str, object]:
        """Return it with a value, as Service Quotas gives it."""
        return {
            "ServiceCode": self.service,
            "ServiceName": _SERVICE_NAMES.get(self.service, self.service),
            "QuotaArn": f"arn:aws:servicequotas:{region}:{ACCOUNT_ID}:{self.service}/{self.code}",
            "Unit": "None",
            "QuotaCode": self.code,
            "QuotaName": self.name,
            "Value": float(value),
            "Adjustable": self.adjustable,
            "GlobalQuota": False,
        }


class SandboxServiceQuotasResponse(ServiceQuotasResponse):
    """The quotas of the fixture and some others of AWS; moto only has those of VPCs."""

    def get_service_quota(self) -> str:
        """GetServiceQuota: NoSuchResource if the account never had another than the default."""
        quota = self._requested()
        if quota.applied is None:
            _no_such(quota.code)
        return json.dumps({"Quota": quota.answer(quota.applied, self.region)})

    def get_aws_default_service_quota(self) -> str:
        """GetAWSDefaultServiceQuota."""
        quota = self._requested()
        return json.dumps({"Quota": quota.answer(quota.default, self.region)})

    def list_service_quotas(self) -> str:
        """ListServiceQuotas: the applied quotas of a service, in one page."""
        service = json.loads(self.body).get("ServiceCode")
        found = [each for each in quotas_in(self.region) if each.service == service]
        if not found:
            raise NotImplementedError(f"quotas of {service}")
        applied = [
            each.answer(each.applied, self.region) for each in found if each.applied is not None
        ]
        return json.dumps({"Quotas": applied})

    def _requested(self) -> Quota:
        asked = json.loads(self.body)
        service, code = asked.get("ServiceCode"), asked.get("QuotaCode", "")
        found = [each for each in quotas_in(self.region) if each.service == service]
        if not found:
            raise NotImplementedError(f"quotas of {service}")
        for quota in found:
            if quota.code == code:
                return quota
        return _no_such(code)


def quotas_in(region: str) -> Iterator[Quota]:
    """Yield the quotas of the account in a region."""
    account = fixture()
    for raw in account["vcpu_quotas"]:
        standard = _DEFAULT_STANDARD_VCPUS if "Standard" in raw["name"] else 0
        yield Quota("ec2", raw["code"], raw["name"], standard, raw.get("vcpus"))
    for each in VPC_DEFAULT_QUOTAS:
        code, applied = each["QuotaCode"], account["quotas"].get(each["QuotaCode"])
        yield Quota("vpc", code, each["QuotaName"], each["Value"], applied, each["Adjustable"])
    for service, quotas in _DEFAULTS.items():
        for code, (name, default) in quotas.items():
            value = _OF_REGIONS.get(code, {}).get(region, default)
            applied = account["quotas"].get(code)
            yield Quota(service, code, name, value, applied, service not in _FIXED)


def _no_such(code: str) -> NoReturn:
    raise JsonRESTError("NoSuchResourceException", f"The quota {code} has no value of its own.")
