"""Service Quotas: applied quotas of the account and AWS defaults.

The sandbox reports the quotas but does not enforce them.

Source: https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_GetServiceQuota.html
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn

from moto.core.exceptions import JsonRESTError
from moto.servicequotas.responses import ServiceQuotasResponse

from trainyard.components.catalog.quotas import QUOTAS
from trainyard.sandbox.account.fixture import fixture
from trainyard.sandbox.aws.environment import ACCOUNT_ID

_DEFAULT_STANDARD_VCPUS = 5
"""Default of the two quotas for Standard instances; all others have 0.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html
"""


_SERVICE_NAMES = {
    "ec2": "Amazon Elastic Compute Cloud (Amazon EC2)",
    "vpc": "Amazon Virtual Private Cloud (Amazon VPC)",
    "eks": "Amazon Elastic Kubernetes Service (Amazon EKS)",
    "fsx": "Amazon FSx",
}


@dataclass(frozen=True)
class _Quota:
    service: str
    code: str
    name: str
    default: float
    applied: float | None
    """None if the account never had another value than the default."""
    adjustable: bool = True

    def answer(self, value: float, region: str) -> Mapping[str, object]:
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
    """The quotas of the fixture and of the catalog; moto only has those of VPCs."""

    def get_service_quota(self) -> str:
        """GetServiceQuota: NoSuchResource if the account never had another than the default."""
        quota = self._asked()
        if quota.applied is None:
            _no_such(quota.code)
        return json.dumps({"Quota": quota.answer(quota.applied, self.region)})

    def get_aws_default_service_quota(self) -> str:
        """GetAWSDefaultServiceQuota."""
        quota = self._asked()
        return json.dumps({"Quota": quota.answer(quota.default, self.region)})

    def list_service_quotas(self) -> str:
        """ListServiceQuotas: the applied quotas of a service, in one page."""
        service = json.loads(self.body).get("ServiceCode")
        found = [each for each in _quotas() if each.service == service]
        if not found:
            raise NotImplementedError(f"quotas of {service}")
        applied = [
            each.answer(each.applied, self.region) for each in found if each.applied is not None
        ]
        return json.dumps({"Quotas": applied})

    def _asked(self) -> _Quota:
        asked = json.loads(self.body)
        service, code = asked.get("ServiceCode"), asked.get("QuotaCode", "")
        found = [each for each in _quotas() if each.service == service]
        if not found:
            raise NotImplementedError(f"quotas of {service}")
        for quota in found:
            if quota.code == code:
                return quota
        return _no_such(code)


def _quotas() -> Iterator[_Quota]:
    account = fixture()
    for raw in account["vcpu_quotas"]:
        standard = _DEFAULT_STANDARD_VCPUS if "Standard" in raw["name"] else 0
        yield _Quota("ec2", raw["code"], raw["name"], standard, raw.get("vcpus"))
    for quota in QUOTAS.values():
        if quota.code:
            applied = account["quotas"].get(quota.code)
            yield _Quota(
                quota.service, quota.code, quota.title, quota.default, applied, quota.adjustable
            )


def _no_such(code: str) -> NoReturn:
    raise JsonRESTError("NoSuchResourceException", f"The quota {code} has no value of its own.")
