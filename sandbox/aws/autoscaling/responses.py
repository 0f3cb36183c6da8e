"""The Auto Scaling response class: moto's with the sandbox's calls before it."""

from __future__ import annotations

from sandbox.aws.autoscaling.hook_calls import HookCalls


class SandboxAutoScalingResponse(HookCalls):
    """Answers Auto Scaling's calls."""
