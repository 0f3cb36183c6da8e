"""Objects that were made and never became what they should: AWS was still at it, or it failed.

The provider gave up waiting, because AWS said that it failed or because it was not let ask any
more. The engine keeps the object with its `initErrors` and what the provider knew then, which may
be no more than the inputs; the next update compares with that and never looks.
https://github.com/pulumi/pulumi/blob/v3.259.0/sdk/go/common/apitype/core.go, `ResourceV3`
"""

from __future__ import annotations

import copy
from collections.abc import Collection
from typing import Any

from tools.workspace.exported_state import Deployment, resources_of
from tools.workspace.recovery.operations import PendingCreate


def half_made(deployment: Deployment) -> list[PendingCreate]:
    """Return what was made and is unfinished, as creates whose object is in the state."""
    return [
        PendingCreate(each["urn"], each.get("inputs") or {})
        for each in resources_of(deployment)
        if _is_half_made(each)
    ]


def read_anew(deployment: Deployment, failed: Collection[str]) -> Deployment:
    """Return the exported state in which what is half-made is read before it is compared.

    Args:
        deployment: The exported state.
        failed: URNs of those that AWS has given up, which the next `up` makes anew.
    """
    edited = copy.deepcopy(deployment)
    for each in resources_of(edited):
        if _is_half_made(each):
            each["refreshBeforeUpdate"] = True
            if each["urn"] in failed:
                each["taint"] = True
                # Or the engine would leave it in the account once another is in its place. It stays
                # protected: whether another may take its place is for the user to say.
                each["retainOnDelete"] = False
    return edited


def _is_half_made(resource: dict[str, Any]) -> bool:
    return bool(resource.get("initErrors") and resource.get("custom") and resource.get("id"))
