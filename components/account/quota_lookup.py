"""Read the quotas that a stack can exceed, and what others use of them.

Sources:
    https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_ListServiceQuotas.html
    (a quota without an applied value is not listed)
    https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_GetAWSDefaultServiceQuota.html
    https://docs.aws.amazon.com/IAM/latest/APIReference/API_GetAccountSummary.html
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from trainyard.components.account.lookup import AccountReader
from trainyard.components.account.quota_use import use_of_others
from trainyard.components.account.readings import Reading
from trainyard.components.catalog.quotas import QUOTAS, REGION

LIST_QUOTAS = "servicequotas:ListServiceQuotas"
DEFAULT_QUOTA = "servicequotas:GetAWSDefaultServiceQuota"
_IAM_VALUES = {"iam-roles": "RolesQuota", "iam-instance-profiles": "InstanceProfilesQuota"}
"""Keys of the quotas in GetAccountSummary."""


def quota_readings(reader: AccountReader, names: Collection[str], stack: str) -> Iterator[Reading]:
    """Yield the readings of quotas, by name in the catalog, and of their use."""
    quotas = {name: QUOTAS[name] for name in names}
    services = sorted({each.service for each in quotas.values() if each.code} - {"iam"})
    for service in services:
        codes = {each.code: name for name, each in quotas.items() if each.service == service}
        codes.pop("", None)
        yield lambda service=service, codes=codes: {"quota_values": _values(reader, service, codes)}
    if "iam" in {each.service for each in quotas.values()}:
        yield lambda: {"quota_values": _iam_values(reader)}
    without_code = {name: float(each.default) for name, each in quotas.items() if not each.code}
    if without_code:
        yield lambda: {"quota_values": without_code}
    for call in sorted({each.call for each in quotas.values() if each.call}):
        yield lambda call=call: {"quota_use": use_of_others(reader, call, stack)}
    within = {name: {REGION: 0.0} for name, each in quotas.items() if each.call is None}
    yield lambda: {"quota_use": within}


def _values(reader: AccountReader, service: str, codes: Mapping[str, str]) -> dict[str, float]:
    client = reader.client("service-quotas")
    pages = client.get_paginator("list_service_quotas").paginate(ServiceCode=service)
    answer = reader.ask_or_none(LIST_QUOTAS, pages.build_full_result)
    if answer is None:
        return {}
    applied = {each["QuotaCode"]: each["Value"] for each in answer.get("Quotas", [])}
    found: dict[str, float] = {}
    for code, name in codes.items():
        value = applied[code] if code in applied else _default(reader, client, service, code)
        if value is not None:
            found[name] = value
    return found


def _default(reader: AccountReader, client: Any, service: str, code: str) -> float | None:
    answer = reader.ask_or_none(
        DEFAULT_QUOTA,
        client.get_aws_default_service_quota,
        ServiceCode=service,
        QuotaCode=code,
    )
    return answer["Quota"]["Value"] if answer else None


def _iam_values(reader: AccountReader) -> dict[str, float]:
    call = "iam:GetAccountSummary"
    answer = reader.ask_or_none(call, reader.client("iam").get_account_summary)
    summary = (answer or {}).get("SummaryMap", {})
    return {name: summary[key] for name, key in _IAM_VALUES.items() if key in summary}
