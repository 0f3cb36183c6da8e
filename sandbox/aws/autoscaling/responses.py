"""The Auto Scaling response class: moto's with the sandbox's calls before it."""

from __future__ import annotations

from sandbox.aws.autoscaling.schedule_calls import ScheduleCalls


class SandboxAutoScalingResponse(ScheduleCalls):
    """Answers Auto Scaling's calls."""
