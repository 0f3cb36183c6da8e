"""Service Quotas for EC2 vCPUs: applied quotas of the account and AWS defaults.

The sandbox reports the quotas but does not enforce them.

Source: https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_GetServiceQuota.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from moto.core.exceptions import JsonRESTError
from moto.servicequotas.responses import ServiceQuotasResponse

from sandbox.account.fixture import fixture

_DEFAULT_STANDARD_VCPUS = 5
"""Default of the two quotas for Standard instances; all others have 0.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html
"""
_SERVICE = "ec2"


class SandboxServiceQuotasResponse(ServiceQuotasResponse):
    """The quotas of the fixture; moto only has those of VPCs."""

    def get_service_quota(self) -> str:
        """GetServiceQuota: NoSuchResource if the account never had another than the default."""
        quota = self._asked()
        if "vcpus" not in quota:
            _no_such(quota["code"])
        return _answer(quota, quota["vcpus"])

    def get_aws_default_service_quota(self) -> str:
        """GetAWSDefaultServiceQuota."""
        quota = self._asked()
        return _answer(quota, _DEFAULT_STANDARD_VCPUS if "Standard" in quota["name"] else 0)

    def _asked(self) -> Mapping[str, Any]:
        asked = json.loads(self.body)
        code = asked.get("QuotaCode", "")
        if asked.get("ServiceCode") != _SERVICE:
            raise NotImplementedError(f"quotas of {asked.get('ServiceCode')}")
        for quota in fixture()["vcpu_quotas"]:
            if quota["code"] == code:
                return quota
        return _no_such(code)


def _no_such(code: str) -> NoReturn:
    raise JsonRESTError("NoSuchResourceException", f"The quota {code} has no value of its own.")


def _answer(quota: Mapping[str, Any], vcpus: float) -> str:
    return json.dumps(
        {
            "Quota": {
                "ServiceCode": _SERVICE,
                "QuotaCode": quota["code"],
                "QuotaName": quota["name"],
                "Value": float(vcpus),
                "Adjustable": True,
            }
        }
    )
