"""Inputs in the form in which the API server stores them, so that equal inputs compare as equal.

The official provider converts inputs to the types of `k8s.io/api` and back: `normalizeInputs` of
https://github.com/pulumi/pulumi-kubernetes/blob/v4.32.0/provider/pkg/provider/provider.go
"""

from __future__ import annotations

import base64
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import Any

READ_ONLY = frozenset(
    {
        *("creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation"),
        *("managedFields", "resourceVersion", "uid"),
    }
)
"""Fields of `metadata` that the API server writes; values from the program are dropped."""
QUANTITIES = frozenset({"allocatable", "capacity", "hard", "limits", "requests"})
"""Fields that map resource names to quantities."""
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E")
_UNIT = _DECIMAL.index("")


def normal(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs of an object with quantities and Secret data in stored form."""
    found: dict[str, Any] = _with_quantities(inputs)
    metadata = found.get("metadata")
    if isinstance(metadata, dict):
        found["metadata"] = {k: v for k, v in metadata.items() if k not in READ_ONLY}
    kind = found.get("kind")
    if kind == "Secret" and found.get("stringData"):
        text = found.pop("stringData")
        found["data"] = {**found.get("data", {}), **{k: _base64(v) for k, v in text.items()}}
    spec = found.get("spec")
    # In the Go type, an empty string is the zero value, which is omitted.
    if kind == "PersistentVolume" and isinstance(spec, dict) and spec.get("storageClassName") == "":
        found["spec"] = {k: v for k, v in spec.items() if k != "storageClassName"}
    return found


def quantity(value: str | float) -> str:
    """Return a quantity in its canonical form: `1024Mi` is `1Gi`, `0.5` is `500m`.

    Other values are returned unchanged; the API server rejects them.
    Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
    """
    text = str(value)
    for power, suffix in enumerate(_BINARY):
        if suffix and text.endswith(suffix):
            amount = _number(text.removesuffix(suffix))
            return text if amount is None else _binary(amount * 1024**power)
    for power, suffix in enumerate(_DECIMAL):
        if suffix and text.endswith(suffix):
            amount = _number(text.removesuffix(suffix))
            return text if amount is None else _decimal(amount.scaleb(3 * (power - _UNIT)))
    amount = _number(text)
    return text if amount is None else _decimal(amount)


def _with_quantities(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        if key in QUANTITIES and all(isinstance(v, str | int | float) for v in value.values()):
            return {name: quantity(amount) for name, amount in value.items()}
        return {name: _with_quantities(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_quantities(item) for item in value]
    return value


def _number(text: str) -> Decimal | None:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        return None
    return amount if amount.is_finite() else None


def _binary(amount: Decimal) -> str:
    if amount != amount.to_integral_value() or abs(amount) < 1024:
        return _decimal(amount)
    power, whole = 0, int(amount)
    while power + 1 < len(_BINARY) and whole % 1024 == 0:
        power, whole = power + 1, whole // 1024
    return f"{whole}{_BINARY[power]}"


def _decimal(amount: Decimal) -> str:
    nano = int(amount.scaleb(9).to_integral_value(ROUND_CEILING))
    power = 0
    while nano and power + 1 < len(_DECIMAL) and nano % 1000 == 0:
        power, nano = power + 1, nano // 1000
    return f"{nano}{_DECIMAL[power]}" if nano else "0"


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
