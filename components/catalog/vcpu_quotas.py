"""EC2 vCPU quotas, by instance family and market type.

Read in November 2026. Families and units of the quotas:
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-on-demand-instances.html#ec2-on-demand-instances-limits
and https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html, whose links to the
Service Quotas console contain the codes; names and codes of all quotas are also in
https://docs.aws.amazon.com/general/latest/gr/ec2-service.html#limits_ec2.
A reservation counts from its creation, used or not, so its nodes are not counted again:
InstanceLimitExceeded in
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class VcpuQuota:
    """One EC2 quota."""

    code: str
    name: str
    """Name in Service Quotas."""


_LETTERS = re.compile(r"[a-z]+")
_G_AND_VT = VcpuQuota("L-DB2E81BA", "Running On-Demand G and VT instances")
_ON_DEMAND = {
    "p": VcpuQuota("L-417A185B", "Running On-Demand P instances"),
    "g": _G_AND_VT,
    "gr": _G_AND_VT,
    "vt": _G_AND_VT,
    "dl": VcpuQuota("L-6E869C2A", "Running On-Demand DL instances"),
    "f": VcpuQuota("L-74FC7D96", "Running On-Demand F instances"),
    "hpc": VcpuQuota("L-F7808C92", "Running On-Demand HPC instances"),
    "u": VcpuQuota("L-43DA4232", "Running On-Demand High Memory instances"),
    "x": VcpuQuota("L-7295265B", "Running On-Demand X instances"),
    "trn": VcpuQuota("L-2C3B7624", "Running On-Demand Trn instances"),
    "inf": VcpuQuota("L-1945791B", "Running On-Demand Inf instances"),
}
_STANDARD = VcpuQuota(
    "L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances"
)
_SPOT_G_AND_VT = VcpuQuota("L-3819A6DF", "All G and VT Spot Instance Requests")
_SPOT = {
    "g": _SPOT_G_AND_VT,
    "gr": _SPOT_G_AND_VT,
    "vt": _SPOT_G_AND_VT,
    "dl": VcpuQuota("L-85EED4F7", "All DL Spot Instance Requests"),
    "f": VcpuQuota("L-88CF9481", "All F Spot Instance Requests"),
    "x": VcpuQuota("L-E3A00192", "All X Spot Instance Requests"),
    "trn": VcpuQuota("L-6B0D517C", "All Trn Spot Instance Requests"),
    "inf": VcpuQuota("L-B5D1601B", "All Inf Spot Instance Requests"),
}
_SPOT_P = {
    **dict.fromkeys(
        ("p2", "p3", "p4"), VcpuQuota("L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests")
    ),
    "p5": VcpuQuota("L-C4BD4855", "All P5 Spot Instance Requests"),
}
_SPOT_STANDARD = VcpuQuota(
    "L-34B43A08", "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests"
)
_STANDARD_LETTERS = frozenset(("a", "c", "d", "h", "i", "im", "is", "m", "r", "t", "z"))


def vcpu_quota(family: str, market: Literal["on-demand", "spot"]) -> VcpuQuota | None:
    """Return the quota of an instance family (`p5en`), or None if it is not documented."""
    found = _LETTERS.match(family)
    letters = found.group() if found else ""
    if market == "spot" and letters == "p":
        return _SPOT_P.get(family[:2])
    named = _ON_DEMAND if market == "on-demand" else _SPOT
    if letters in named:
        return named[letters]
    if letters in _STANDARD_LETTERS:
        return _STANDARD if market == "on-demand" else _SPOT_STANDARD
    return None
