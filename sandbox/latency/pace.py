"""Makes the emulated Kubernetes provider take as long as a cluster on AWS, scaled down.

`$TRAINYARD_SANDBOX_LATENCY` is the scale, which `sandbox start --latency` sets. Without it there
are no waits. The sandbox's own time for a resource counts towards the duration. The durations of
AWS services are emulated in the account: `trainyard.sandbox.aws.transitions`.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.sandbox.latency.model import Operation, latency_model

VARIABLE = "TRAINYARD_SANDBOX_LATENCY"


@contextlib.contextmanager
def as_long_as_aws(type_: str, inputs: Mapping[str, Any], operation: Operation) -> Iterator[None]:
    """Run the block, and make it take as long as AWS would, scaled.

    A block that fails ends at once, like a rejected call.

    Raises:
        ValueError: the scale is not a number.
    """
    scale = float(os.environ.get(VARIABLE) or 0)
    began = time.monotonic()
    yield
    if scale > 0:
        seconds = latency_model().seconds(type_, inputs, operation) * scale
        time.sleep(max(0.0, began + seconds - time.monotonic()))
