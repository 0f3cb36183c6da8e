"""Universal targets of EventBridge Scheduler: calls of AWS APIs with the role of the schedule.

https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from typing import Any

from moto.core.exceptions import ServiceException
from moto.core.utils import get_service_model
from moto.scheduler.exceptions import ValidationException
from moto.utilities.utils import get_partition

from trainyard.sandbox.aws.batch.responses import SandboxBatchResponse
from trainyard.sandbox.aws.environment import ACCOUNT_ID
from trainyard.sandbox.aws.iam import may

LOG = logging.getLogger("sandbox.scheduler")

_ARN = re.compile(r"arn:(aws[a-z-]*):scheduler:::aws-sdk:(\w+):(\w+)")
_UPDATE = ("batch", "updateComputeEnvironment")


def is_universal(arn: str) -> bool:
    """Return whether a target is a call of an API."""
    return ":scheduler:::aws-sdk:" in arn


def check_target(target: Mapping[str, Any]) -> None:
    """Reject a call that the sandbox does not make, and an input without required fields.

    Keys of the input are those of the API in PascalCase: AWS answers a `submitJob` with `jobName`
    with the message below.

    Raises:
        NotImplementedError: The call, or an optional field of its input, is not emulated.
        ValidationException: A required field is missing.
    """
    found = _ARN.fullmatch(target["Arn"])
    if found is None or (found[2], found[3]) != _UPDATE:
        raise NotImplementedError(f"schedules for {target['Arn']}")
    given = json.loads(target["Input"])
    shape: Any = get_service_model("batch").operation_model("UpdateComputeEnvironment").input_shape
    required = (name[0].upper() + name[1:] for name in shape.required_members)
    missing = [name for name in required if name not in given]
    if missing:
        raise ValidationException(
            "Invalid RequestJson provided. Reason Request payload is missing the following "
            f"field(s): {', '.join(missing)}."
        )
    unknown = given.keys() - {"ComputeEnvironment", "State"}
    if unknown:
        raise NotImplementedError(f"{', '.join(sorted(unknown))} in {target['Arn']}")


def call_target(target: Mapping[str, Any], region: str) -> None:
    """Make the call; a refusal is only logged: AWS reports it only to a dead-letter queue."""
    given = json.loads(target["Input"])
    environment = given["ComputeEnvironment"]
    if not may(target["RoleArn"], "batch:UpdateComputeEnvironment", environment):
        LOG.error("%s may not update %s", target["RoleArn"], environment)
        return
    batch = SandboxBatchResponse()
    batch.region, batch.current_account = region, ACCOUNT_ID
    batch.partition = get_partition(region)
    batch.params = {name[0].lower() + name[1:]: value for name, value in given.items()}
    try:
        batch.update_compute_environment()
    except ServiceException as error:
        LOG.error("%s could not be updated: %s", environment, error)  # noqa: TRY400 - a refusal
