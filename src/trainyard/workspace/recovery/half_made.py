"""Objects whose creation was incomplete or failed in AWS.

The provider stopped waiting because AWS reported a failure or rejected further requests. The engine
keeps the object with `initErrors` and the outputs known at that time, which may be only the inputs.
The next update compares with those outputs and does not read the object.
https://github.com/pulumi/pulumi/blob/v3.260.0/sdk/go/common/apitype/core.go, `ResourceV3`
"""

from __future__ import annotations

import copy
from collections.abc import Collection
from typing import Any

from trainyard.workspace.exported_state import Deployment, resources_of
from trainyard.workspace.recovery.operations import PendingCreate


def half_made(deployment: Deployment) -> list[PendingCreate]:
    """Return the incomplete objects, as creates whose object is in the state."""
    return [
        PendingCreate(each["urn"], each.get("inputs") or {})
        for each in resources_of(deployment)
        if _is_half_made(each)
    ]


def read_anew(deployment: Deployment, failed: Collection[str]) -> Deployment:
    """Return the exported state in which incomplete objects are read before they are compared.

    Args:
        deployment: The exported state.
        failed: URNs of objects that failed in AWS, which the next `up` replaces.
    """
    edited = copy.deepcopy(deployment)
    for each in resources_of(edited):
        if _is_half_made(each):
            each["refreshBeforeUpdate"] = True
            if each["urn"] in failed:
                each["taint"] = True
                # Otherwise the engine would leave the object in the account after its replacement.
                # Protection stays on: the user decides whether it may be replaced.
                each["retainOnDelete"] = False
    return edited


def _is_half_made(resource: dict[str, Any]) -> bool:
    return bool(resource.get("initErrors") and resource.get("custom") and resource.get("id"))
