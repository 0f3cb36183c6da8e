"""The Auto Scaling response class: the sandbox's calls, then moto's."""

from __future__ import annotations

from sandbox.aws.autoscaling.hook_calls import HookCalls


class SandboxAutoScalingResponse(HookCalls):
    """Handles Auto Scaling's calls."""
