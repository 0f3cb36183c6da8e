"""The Auto Scaling response class: the sandbox's calls, then moto's."""

from __future__ import annotations

from trainyard.sandbox.aws.autoscaling.calls import InstanceCalls


class SandboxAutoScalingResponse(InstanceCalls):
    """Handles Auto Scaling's calls."""
